import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readGoldenRuns } from '../../test/support/golden-model.ts'
import { scoreTokens } from './token-scores.ts'

interface Vectors {
  /** log_softmax of the last row of a run's logits, by PyTorch (make_score_vectors.py). */
  row: { model: string; run: string; logprobs: number[] }
}

const { row } = JSON.parse(
  readFileSync(new URL('../../test/golden/generation/scores.json', import.meta.url), 'utf8'),
) as Vectors

/** Seven digits were recorded, and the reference computes with 24 bits. */
const TOLERANCE = 5e-6

function lastRow(): Float32Array {
  const run = readGoldenRuns(row.model).find(({ name }) => name === row.run)!
  const { data } = run.stages.get('logits')!
  return Float32Array.from(data.slice(-row.logprobs.length))
}

describe('the logarithm of the softmax', () => {
  it('is that of PyTorch, element by element', () => {
    const scoreOf = scoreTokens(lastRow(), 0)
    for (const [id, expected] of row.logprobs.entries()) {
      expect(Math.abs(scoreOf(id).logprob - expected), `token ${id}`).toBeLessThan(TOLERANCE)
    }
  })

  it('takes logits that no exponential could', () => {
    const scoreOf = scoreTokens(Float32Array.of(3e38, 3e38, -3e38), 2)
    expect(scoreOf(0).logprob).toBeCloseTo(-Math.LN2, 12)
    expect(scoreOf(2).logprob / -6e38).toBeCloseTo(1, 6)
  })

  it('is kept when the logits change', () => {
    const logits = lastRow()
    const scoreOf = scoreTokens(logits, 3)
    const before = scoreOf(7)
    logits.fill(0)
    expect(scoreOf(7)).toEqual(before)
  })
})

describe('the likeliest tokens', () => {
  it.each([1, 5, 20])('are the %d largest, falling', (count) => {
    const order = row.logprobs.map((value, id) => ({ value, id })).sort((a, b) => b.value - a.value)
    const { top } = scoreTokens(lastRow(), count)(0)
    expect(top.map(({ id }) => id)).toEqual(order.slice(0, count).map(({ id }) => id))
  })

  it('are the first of equal ones, and never more than there are', () => {
    const { top } = scoreTokens(Float32Array.of(1, 2, 2, 1, 2), 4)(0)
    expect(top.map(({ id }) => id)).toEqual([1, 2, 4, 0])
    expect(scoreTokens(Float32Array.of(1, 2), 20)(0).top).toHaveLength(2)
  })
})
