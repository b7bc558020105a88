import { describe, expect, it } from 'vitest'
import { applyTokenRules, logSumExp } from './token-rules.ts'
import type { WhisperTokens } from './whisper-tokens.ts'

/** Text 0 to 9, end 10, control 11 to 15, timestamps from 16 on. */
const TOKENS: WhisperTokens = {
  endOfText: 10,
  startOfTranscript: 11,
  languages: new Map(),
  transcribe: undefined,
  startOfPrevious: 13,
  noSpeech: 14,
  noTimestamps: 15,
  firstTimestamp: 16,
  suppressed: [2, 11, 12, 13, 14],
  suppressedAtStart: [0, 10],
}
const SIZE = 16 + 101

/** Ids that may follow, where all logits are equal save those given. */
function allowed(
  ids: readonly number[],
  withTimestamps: boolean,
  logits: Record<number, number> = {},
): number[] {
  const values = new Float32Array(SIZE)
  for (const [id, logit] of Object.entries(logits)) values[Number(id)] = logit
  applyTokenRules(values, ids, TOKENS, withTimestamps)
  return [...values.keys()].filter((id) => values[id] !== Number.NEGATIVE_INFINITY)
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)
/** So likely that timestamps are not forced. */
const TEXT = { 5: 20 }

describe('applyTokenRules', () => {
  it('without timestamps: text and the end, at the start no space and no end', () => {
    expect(allowed([], false)).toEqual([1, 3, 4, 5, 6, 7, 8, 9])
    expect(allowed([4], false)).toEqual([0, 1, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('begins with a timestamp of the first second', () => {
    expect(allowed([], true, TEXT)).toEqual(range(16, 66))
  })

  it('after the opening timestamp comes text', () => {
    expect(allowed([20], true, TEXT)).toEqual([0, 1, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('after text comes text, or a later timestamp', () => {
    expect(allowed([20, 5], true, TEXT)).toEqual([0, 1, 3, 4, 5, 6, 7, 8, 9, 10, ...range(21, SIZE - 1)])
  })

  it('after a closing timestamp comes the next opening one, which may be the same, or the end', () => {
    expect(allowed([20, 5, 30], true, { 10: 20 })).toEqual([10, ...range(30, SIZE - 1)])
  })

  it('after a pair comes text', () => {
    expect(allowed([20, 5, 30, 30], true, TEXT)).toEqual([0, 1, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('forces a timestamp when all of them together are likelier than any text', () => {
    expect(allowed([20, 5], true, { 5: 4 })).toEqual(range(21, SIZE - 1)) // e^4 < 96
    expect(allowed([20, 5], true, { 5: 5 })).toContain(5) // e^5 > 96
  })
})

describe('logSumExp', () => {
  it('sums from an id on, whatever the size of the logits', () => {
    expect(logSumExp(Float32Array.of(1, 2, 3))).toBeCloseTo(Math.log(Math.E + Math.E ** 2 + Math.E ** 3), 6)
    expect(logSumExp(Float32Array.of(50, 1000, 1000), 1)).toBeCloseTo(1000 + Math.log(2), 4)
    expect(logSumExp(Float32Array.of(1, Number.NEGATIVE_INFINITY), 1)).toBe(Number.NEGATIVE_INFINITY)
  })
})
