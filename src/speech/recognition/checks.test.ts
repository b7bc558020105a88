import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { goldenPath } from '../../../test/support/golden-model.ts'
import { SeededRandom } from '../../../test/support/seeded-random.ts'
import { WavDecoder } from '../../audio/wav-decoder.ts'
import { compressionRatio, isDoubtful, isSilence, repeatsItself } from './checks.ts'
import type { Decoded } from './decode.ts'
import { measureSpeech } from './measure-speech.ts'
import { cutLoop } from './recognize-window.ts'

const SURE: Decoded = { ids: [1], end: 'end', averageLogprob: -0.1, noSpeechProbability: 0.1 }

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
  const never = (): Promise<number> => Promise.reject(new Error('not to be asked'))

  it('needs the model to say so', async () => {
    expect(await isSilence(SURE, never)).toBe(false)
    expect(await isSilence({ ...SURE, noSpeechProbability: 0.6, averageLogprob: -3 }, never)).toBe(false)
  })

  it('needs a gate that found hardly any speech', async () => {
    expect(await isSilence(unsure, async () => 0)).toBe(true)
    expect(await isSilence(unsure, async () => 0.14)).toBe(true)
    expect(await isSilence(unsure, async () => 0.2)).toBe(false)
  })

  it('or text that was guessed', async () => {
    expect(await isSilence({ ...unsure, averageLogprob: -1.5 }, never)).toBe(true)
  })
})

describe('repeatsItself', () => {
  it('sees a whole that is one stretch over and over', () => {
    expect(repeatsItself('Turn left. Turn left!')).toBe(true)
    expect(repeatsItself('手机快没电了。手机快没电了。手机快没电了')).toBe(true)
    expect(repeatsItself('Turn left. Turn left now.')).toBe(false)
    expect(repeatsItself('No, no.')).toBe(false)
    expect(repeatsItself('')).toBe(false)
  })
})

describe('measureSpeech', () => {
  it('finds the speech of a clip, and none in silence and in noise', async () => {
    const clip = new WavDecoder('ke1').push(readFileSync(goldenPath('speech/ke1.wav')))
    expect(await measureSpeech(clip)).toBeGreaterThan(1.5)
    expect(await measureSpeech(new Float32Array(48_000))).toBe(0)
    const random = new SeededRandom(1)
    expect(await measureSpeech(Float32Array.from({ length: 48_000 }, () => 0.05 * random.normal()))).toBe(0)
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
