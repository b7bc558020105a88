import { describe, expect, it } from 'vitest'
import { compressionRatio, isDoubtful, isSilence } from './checks.ts'
import type { Decoded } from './decode.ts'
import { cutLoop } from './recognize-window.ts'

const SURE: Decoded = { ids: [1], end: 'end', averageLogprob: -0.1, noSpeechProbability: 0.1 }
const tone = (level: number): Float32Array =>
  Float32Array.from({ length: 16_000 }, (_, n) => level * Math.SQRT2 * Math.sin(n / 5))

describe('compressionRatio', () => {
  it.each([
    // len(s.encode()), len(zlib.compress(s.encode())) of Python; browsers and Node compress a few bytes differently.
    ['Please describe what you see in front of me.', 44, 52],
    ['so '.repeat(60), 180, 14],
    ['今天天气很好'.repeat(8), 144, 29],
  ])('of %j is about what Python computes with zlib', async (text, bytes, compressed) => {
    const ratio = await compressionRatio(text)
    expect(bytes / ratio).toBeGreaterThan(compressed - 4)
    expect(bytes / ratio).toBeLessThan(compressed + 4)
  })

  it('of nothing is 0', async () => {
    expect(await compressionRatio('')).toBe(0)
  })
})

describe('isDoubtful', () => {
  it('doubts loops, guesses and repetitions', async () => {
    expect(await isDoubtful(SURE, 'Hello there.')).toBe(false)
    expect(await isDoubtful({ ...SURE, end: 'loop' }, 'Hello there.')).toBe(true)
    expect(await isDoubtful({ ...SURE, end: 'length' }, 'Hello there.')).toBe(true)
    expect(await isDoubtful({ ...SURE, averageLogprob: -1.01 }, 'Hello there.')).toBe(true)
    expect(await isDoubtful(SURE, 'Hello there. '.repeat(8))).toBe(true)
  })
})

describe('isSilence', () => {
  const unsure = { ...SURE, noSpeechProbability: 0.95, averageLogprob: -0.37 } // "you", as models hear in silence

  it('needs the model to say so', () => {
    expect(isSilence(SURE, tone(0), 0)).toBe(false)
    expect(isSilence({ ...SURE, noSpeechProbability: 0.6, averageLogprob: -3 }, tone(0), 0)).toBe(false)
  })

  it('goes by the gate where it looked, else by the level', () => {
    expect(isSilence(unsure, tone(0.1), 0)).toBe(true)
    expect(isSilence(unsure, tone(0.1), 0.14)).toBe(true)
    expect(isSilence(unsure, tone(0), 2)).toBe(false)
    expect(isSilence(unsure, tone(0.002), undefined)).toBe(true)
    expect(isSilence(unsure, tone(0.1), undefined)).toBe(false)
  })

  it('takes guesses for silence whatever was found', () => {
    expect(isSilence({ ...unsure, averageLogprob: -1.5 }, tone(0.1), 5)).toBe(true)
  })
})

describe('cutLoop', () => {
  it('leaves one of the stretches that the end repeats', () => {
    expect(cutLoop([1, 2, 3, 2, 3, 2, 3, 2, 3])).toEqual([1, 2, 3])
    expect(cutLoop([7, 7, 7, 7])).toEqual([7])
    expect(cutLoop([1, 2, 3, 4, 5, 3, 4, 5, 3])).toEqual([1, 2, 3, 4, 5])
    expect(cutLoop([1, 2, 3])).toEqual([1, 2, 3])
  })
})
