import { describe, expect, it } from 'vitest'
import { uprightLayout } from './orientation.ts'

/** What a person sees of a stored picture of 3 x 2 pixels, "abc" over "def". */
const UPRIGHT: readonly [orientation: number, rows: readonly string[]][] = [
  [1, ['abc', 'def']],
  [2, ['cba', 'fed']],
  [3, ['fed', 'cba']],
  [4, ['def', 'abc']],
  [5, ['ad', 'be', 'cf']],
  [6, ['da', 'eb', 'fc']],
  [7, ['fc', 'eb', 'da']],
  [8, ['cf', 'be', 'ad']],
]

describe('every stored pixel has its place', () => {
  it.each(UPRIGHT)('orientation %d', (orientation, rows) => {
    const { width, height, start, stepX, stepY } = uprightLayout(3, 2, orientation)
    expect([width, height]).toEqual([rows[0]!.length, rows.length])
    const pixels = Array.from({ length: 6 }, () => '')
    for (const [index, letter] of [...'abcdef'].entries())
      pixels[start + (index % 3) * stepX + Math.floor(index / 3) * stepY] = letter
    expect(pixels.join('')).toBe(rows.join(''))
  })
})
