import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { measureAlignment, measureDirections } from './alignment.ts'
import type { MatrixSample } from './matrix-sample.ts'

/** Rows that prefer the first `preferred` columns, each with a sign of its own. */
function rows(count: number, columns: number, seed: number, preferred = 0): MatrixSample {
  const random = new SeededRandom(seed)
  const values = Float32Array.from({ length: count * columns }, (_, index) => {
    return random.normal() * (index % columns < preferred ? 3 : 1)
  })
  return { rows: count, totalRows: count, columns, values }
}

const align = (a: MatrixSample, b: MatrixSample): number =>
  measureAlignment(measureDirections(a), measureDirections(b))

describe('measureAlignment', () => {
  it('stays near chance for independent rows', () => {
    for (let seed = 0; seed < 20; seed++)
      expect(Math.abs(align(rows(64, 96, seed), rows(80, 96, seed + 50)))).toBeLessThan(5)
  })

  it('stays near chance when only one side has preferences', () => {
    for (let seed = 0; seed < 10; seed++)
      expect(Math.abs(align(rows(64, 96, seed, 10), rows(80, 96, seed + 50)))).toBeLessThan(5)
  })

  it('sees preferences that both share', () => {
    expect(align(rows(64, 96, 1, 10), rows(80, 96, 2, 10))).toBeGreaterThan(8)
  })

  it('sees them in long rows too', () => {
    expect(align(rows(64, 2048, 3, 200), rows(40, 2048, 4, 200))).toBeGreaterThan(8)
  })

  it('compares nothing of different lengths or without rows', () => {
    expect(align(rows(64, 96, 1), rows(64, 97, 1))).toBe(0)
    const zeros = rows(64, 96, 1)
    zeros.values.fill(0)
    expect(align(zeros, rows(64, 96, 1))).toBe(0)
  })
})
