import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { argmax, createSampler, type SamplingOptions } from './sampler.ts'

interface Case {
  options: Partial<SamplingOptions>
  seen: number[]
  /** What Transformers' processors leave (make_sampling_vectors.py). */
  probabilities: number[]
}

const { logits, cases } = JSON.parse(
  readFileSync(new URL('../../test/golden/generation/sampling.json', import.meta.url), 'utf8'),
) as { logits: number[]; cases: Case[] }

const PLAIN: SamplingOptions = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  seed: 3,
}

const DRAWS = 20_000
/** Of a binomial count; over some 400 counts one of the seeded draws may well reach 3.5. */
const DEVIATIONS = 4

function draws(options: SamplingOptions, seen: readonly number[] = [], count = DRAWS): number[] {
  const sampler = createSampler(options)
  const ids = new Set(seen)
  return Array.from({ length: count }, () => sampler.next(Float32Array.from(logits), ids))
}

describe('draws as often as the reference’s probabilities say', () => {
  it.each(cases.map((one) => [JSON.stringify(one.options), one] as const))('%s', (_, one) => {
    const counts = new Array<number>(logits.length).fill(0)
    for (const id of draws({ ...PLAIN, ...one.options }, one.seen)) counts[id]!++
    for (const [id, probability] of one.probabilities.entries()) {
      const expected = DRAWS * probability
      const deviation = Math.sqrt(DRAWS * probability * (1 - probability))
      if (probability === 0) expect(counts[id], `token ${id}`).toBe(0)
      else expect(Math.abs(counts[id]! - expected), `token ${id}`).toBeLessThanOrEqual(DEVIATIONS * deviation)
    }
  })
})

describe('the likeliest token', () => {
  it('is taken at temperature 0, after the penalty', () => {
    const sampler = createSampler({ ...PLAIN, temperature: 0, repetitionPenalty: 2 })
    expect(sampler.next(Float32Array.of(1, 4, 3, -1), new Set())).toBe(1)
    expect(sampler.next(Float32Array.of(1, 4, 3, -1), new Set([1]))).toBe(2)
    expect(sampler.next(Float32Array.of(-4, -1, -1.5), new Set([1]))).toBe(2)
  })

  it('is the first of equals', () => {
    expect(argmax(Float32Array.of(-1, 2, 0, 2))).toBe(1)
    expect(argmax(Float32Array.of(-5))).toBe(0)
  })

  it('is left alone by ids beyond the vocabulary', () => {
    const sampler = createSampler({ ...PLAIN, temperature: 0, repetitionPenalty: 2 })
    expect(sampler.next(Float32Array.of(1, 4), new Set([9]))).toBe(1)
  })
})

describe('the seed', () => {
  it('decides everything', () => {
    expect(draws({ ...PLAIN, seed: 8 }, [], 50)).toEqual(draws({ ...PLAIN, seed: 8 }, [], 50))
    expect(draws({ ...PLAIN, seed: 8 }, [], 50)).not.toEqual(draws({ ...PLAIN, seed: 9 }, [], 50))
  })

  it('draws the same for ever: sequences do not change between versions', () => {
    expect(draws({ ...PLAIN, seed: 0 }, [], 12)).toEqual([16, 0, 12, 4, 16, 16, 16, 16, 16, 16, 16, 4])
  })
})

it('takes the k first of equal logits', () => {
  const sampler = createSampler({ ...PLAIN, topK: 2 })
  const ids = new Set(
    Array.from({ length: 200 }, () => sampler.next(Float32Array.of(1, 5, 5, 5, 0), new Set())),
  )
  expect([...ids].sort()).toEqual([1, 2])
})
