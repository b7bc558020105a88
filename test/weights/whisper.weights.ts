/** Whisper tiny.en and base on clips that three synthesisers spoke (test/golden/speech): the same tokens as the reference. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WavDecoder } from '../../src/audio/wav-decoder.ts'
import type { Backend } from '../../src/backend/backend.ts'
import { createWasmBackend } from '../../src/backend/wasm/wasm-backend.ts'
import { loadRecognizer } from '../../src/entry/speech.node.ts'
import { createNodeWorkerHost } from '../../src/host/node/worker-host.ts'
import { decodeUtterance, detectLanguage } from '../../src/speech/recognition/decode.ts'
import type { WhisperParts } from '../../src/speech/recognition/recognize-window.ts'
import { findSymbols } from '../../src/speech/recognition/whisper-tokens.ts'
import type { Recognizer, TranscribeOptions, TranscriptFinished } from '../../src/speech/types.ts'
import { goldenPath } from '../support/golden-model.ts'
import { loadParts } from '../support/whisper-parts.ts'
import { prepareBase, prepareTinyEnglish } from './whisper-models.ts'

const TEXT = 'Please describe what you see in front of me.'
const POSITIONS = 1500

const tinyEnglish = await prepareTinyEnglish()
const base = await prepareBase()

function readClip(name: string): Float32Array {
  return new WavDecoder(name).push(readFileSync(goldenPath(`speech/${name}.wav`)))
}

async function transcribe(
  recognizer: Recognizer,
  samples: Float32Array,
  options: TranscribeOptions = {},
): Promise<TranscriptFinished> {
  for await (const event of recognizer.transcribe({ samples, sampleRate: 16_000 }, options))
    if (event.type === 'transcript-finished') return event
  throw new Error('the transcript did not finish')
}

/** White noise of -26 dB, the same every time. */
function noise(seconds: number): Float32Array {
  let state = 1
  return Float32Array.from({ length: seconds * 16_000 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state / 2 ** 31 - 1) * 0.05 * Math.sqrt(3)
  })
}

describe.each([
  {
    name: 'tiny.en',
    folder: tinyEnglish,
    clips: ['en1', 'ke1', 'pj1'],
    ids: [4222, 6901, 644, 345, 766, 287, 2166, 286, 502, 13],
  },
  {
    name: 'base',
    folder: base,
    clips: ['en1', 'ke1'],
    ids: [2555, 6786, 437, 291, 536, 294, 1868, 295, 385, 13],
  },
])('Whisper $name in float32, whole window', ({ folder, clips, ids }) => {
  let backend: Backend
  let parts: WhisperParts
  beforeAll(async () => {
    if (folder === undefined) return
    backend = await createWasmBackend(createNodeWorkerHost())
    parts = await loadParts(backend, folder, 'f32')
  })
  afterAll(() => backend?.dispose())

  it.skipIf(folder === undefined).each(clips)('%s gives the tokens of the reference', async (clip) => {
    const { model, tokens, spectrograms, tokenizer } = parts
    await model.encode(spectrograms.make(readClip(clip), POSITIONS))
    const language = tokens.languages.size > 0 ? await detectLanguage(model, tokens, undefined) : undefined
    if (clip === 'ke1' && language) {
      expect(language.code).toBe('en')
      expect(language.probability).toBeCloseTo(0.989, 2)
    }
    const decoded = await decodeUtterance({
      model,
      tokens,
      language: language?.code,
      context: [],
      withTimestamps: false,
      temperature: 0,
      maxTokens: 224,
      signal: undefined,
    })
    expect(decoded.ids).toEqual(ids)
    expect(tokenizer.decode(decoded.ids)).toBe(` ${TEXT}`)
    expect(decoded.end).toBe('end')
  })

  it.skipIf(folder === undefined)('finds the symbols that the published configuration lists', () => {
    const { suppress_tokens: listed } = JSON.parse(
      readFileSync(`${folder}/generation_config.json`, 'utf8'),
    ) as { suppress_tokens: number[] }
    const symbols = findSymbols(parts.tokenizer)
    expect(listed.filter((id) => id < parts.tokens.endOfText)).toEqual(symbols)
    expect([...parts.tokens.suppressed].sort((a, b) => a - b)).toEqual(listed)
  })
})

describe.skipIf(tinyEnglish === undefined)('Whisper tiny.en in int8, as users run it', () => {
  let recognizer: Recognizer
  beforeAll(async () => {
    recognizer = await loadRecognizer(tinyEnglish as string)
  })
  afterAll(() => recognizer.dispose())

  it.each(['en1', 'ke1', 'pj1'])('hears %s', async (clip) => {
    expect((await transcribe(recognizer, readClip(clip))).text).toBe(TEXT)
  })

  it('hears nothing in silence and in noise', async () => {
    expect((await transcribe(recognizer, new Float32Array(48_000))).text).toBe('')
    expect((await transcribe(recognizer, noise(3))).text).toBe('')
  })

  it('knows no Chinese', () => {
    expect(() => recognizer.listen({ language: 'zh' })).toThrow('hears English only')
  })
})

describe.skipIf(base === undefined)('Whisper base in int8, as users run it', () => {
  let recognizer: Recognizer
  beforeAll(async () => {
    recognizer = await loadRecognizer(base as string)
  })
  afterAll(() => recognizer.dispose())

  it.each(['en1', 'ke1'])('hears %s', async (clip) => {
    expect(await transcribe(recognizer, readClip(clip))).toMatchObject({ text: TEXT, language: 'en' })
  })

  it.each([
    ['kz2', 'auto', 'zh', '今天天氣很好,我們去公園散步吧。'],
    ['kz2', 'zh-Hans', 'zh-Hans', '今天天气很好,我们去公园散步吧。'],
    ['kz3', 'auto', 'zh', '桌子上有一杯水和两本书。'],
    ['kz3', 'zh-Hant', 'zh-Hant', '桌子上有一杯水和兩本書。'],
  ])('hears %s, asked for %s', async (clip, language, found, text) => {
    expect(await transcribe(recognizer, readClip(clip), { language })).toMatchObject({
      text,
      language: found,
    })
  })

  it('hears nothing in silence and in noise', async () => {
    expect((await transcribe(recognizer, new Float32Array(48_000))).text).toBe('')
    expect((await transcribe(recognizer, noise(3))).text).toBe('')
  })

  it('goes through a long recording in windows, with times that rise', async () => {
    const clip = readClip('ke1')
    // Two in a window: a text that says the same more often is taken for a loop.
    const period = 15 * 16_000
    const long = new Float32Array(6 * period)
    for (let index = 0; index < 6; index++) long.set(clip, index * period)
    const { text, segments, duration } = await transcribe(recognizer, long, { timestamps: true })
    expect(duration).toBe(90)
    expect(text.match(/in front of me/g)?.length).toBe(6)
    for (const [index, { start, end }] of segments.entries()) {
      expect(end).toBeGreaterThan(start)
      expect(start).toBeGreaterThanOrEqual(segments[index - 1]?.end ?? 0)
    }
  })

  it('guesses while somebody speaks, and ends with the same words', async () => {
    const clip = readClip('ke1')
    const session = recognizer.listen()
    const guesses: string[] = []
    for (let first = 0; first < clip.length; first += 16_000) {
      session.push(clip.subarray(first, first + 16_000))
      guesses.push(await session.partial())
    }
    expect(guesses.at(-1)).toBe(TEXT)
    expect((await session.finish()).text).toBe(TEXT)
  })
})
