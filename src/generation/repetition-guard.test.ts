import { describe, expect, it } from 'vitest'
import { createRepetitionGuard } from './repetition-guard.ts'

/** How many of the ids the guard takes before it sees a loop; undefined when it sees none. */
function seenAfter(ids: readonly number[]): number | undefined {
  const guard = createRepetitionGuard()
  const index = ids.findIndex((id) => guard.push(id))
  return index < 0 ? undefined : index + 1
}

function repeat(stretch: readonly number[], count: number): number[] {
  return Array.from({ length: count }, () => stretch).flat()
}

const stretch = (length: number): number[] => Array.from({ length }, (_, index) => 1000 + index)

describe('sees a loop', () => {
  it.each([
    [1, 96],
    [2, 96],
    [7, 96],
    [24, 96],
    [25, 100],
    [48, 192],
  ])('of %d tokens after %d', (period, expected) => {
    expect(seenAfter(repeat(stretch(period), 400))).toBe(expected)
  })

  it('that begins in the middle of an answer and of the stretch', () => {
    const start = Array.from({ length: 50 }, (_, index) => index)
    expect(seenAfter([...start, 1004, 1005, 1006, ...repeat(stretch(7), 100)])).toBe(50 + 96)
  })
})

describe('leaves alone', () => {
  it('what repeats less than 96 tokens long', () => {
    expect(seenAfter([...repeat([5], 95), 6, ...repeat([5], 95)])).toBeUndefined()
    expect(seenAfter([...repeat(stretch(24), 3), ...stretch(23), 1])).toBeUndefined()
  })

  it('a long stretch that came three times', () => {
    expect(seenAfter([...repeat(stretch(48), 3), ...stretch(47), 1])).toBeUndefined()
  })

  it('stretches longer than a sentence', () => {
    expect(seenAfter(repeat(stretch(49), 40))).toBeUndefined()
  })

  it('a list whose lines differ in one token', () => {
    expect(
      seenAfter(Array.from({ length: 100 }, (_, line) => [1, 2, 3, 100 + line, 4]).flat()),
    ).toBeUndefined()
  })
})
