/** How recognisers behave, on a small random model whose window is two seconds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goldenPath } from '../../../test/support/golden-model.ts'
import { SeededRandom } from '../../../test/support/seeded-random.ts'
import { useTemporaryFolders } from '../../../test/support/temporary-folders.ts'
import type { Backend } from '../../backend/backend.ts'
import { createWasmBackend } from '../../backend/wasm/wasm-backend.ts'
import { createNodeFileHost } from '../../host/node/file-host.ts'
import { createNodeWorkerHost } from '../../host/node/worker-host.ts'
import { loadRecognizerOn } from '../load-recognizer.ts'
import type {
  AudioClip,
  Recognizer,
  TranscribeOptions,
  TranscriptEvent,
  TranscriptFinished,
} from '../types.ts'

const folders = useTemporaryFolders()
const HOST = { workers: createNodeWorkerHost(), files: createNodeFileHost() }

let backend: Backend
let recognizer: Recognizer
beforeAll(async () => {
  backend = await createWasmBackend(HOST.workers, { threads: 2 })
  recognizer = await loadRecognizerOn(HOST, goldenPath('whisper/multilingual'), {}, backend)
})
afterAll(async () => {
  await recognizer.dispose()
  await backend.dispose()
})

/** Something with a spectrum that changes. */
function babble(seconds: number, sampleRate = 16_000): Float32Array {
  const random = new SeededRandom(3)
  const samples = new Float32Array(seconds * sampleRate)
  let frequency = 300
  let phase = 0
  for (let n = 0; n < samples.length; n++) {
    if (n % (sampleRate / 10) === 0) frequency = 100 + random.uniform() * 2000
    phase += (2 * Math.PI * frequency) / sampleRate
    samples[n] = 0.3 * Math.sin(phase) + 0.05 * random.normal()
  }
  return samples
}

async function* cut(samples: Float32Array, size: number, sampleRate = 16_000): AsyncGenerator<AudioClip> {
  for (let first = 0; first < samples.length; first += size)
    yield { samples: samples.subarray(first, first + size), sampleRate }
}

async function collect(events: AsyncIterable<TranscriptEvent>): Promise<TranscriptEvent[]> {
  const list: TranscriptEvent[] = []
  for await (const event of events) list.push(event)
  return list
}

async function transcribe(
  audio: AudioClip | AsyncIterable<AudioClip>,
  options?: TranscribeOptions,
): Promise<TranscriptFinished> {
  return (await collect(recognizer.transcribe(audio, options))).at(-1) as TranscriptFinished
}

describe('transcribe', () => {
  it('tells partial text, segments, then the whole', async () => {
    const samples = babble(1.5)
    const events = await collect(recognizer.transcribe({ samples, sampleRate: 16_000 }))
    const finished = events.at(-1) as TranscriptFinished
    const segments = events.flatMap((event) => (event.type === 'segment-finished' ? [event.segment] : []))
    expect(finished).toMatchObject({
      type: 'transcript-finished',
      finishReason: 'stop',
      duration: 1.5,
      segments,
    })
    expect(segments.map(({ text }) => text)).toEqual([finished.text])
    expect(segments[0]?.start).toBeGreaterThanOrEqual(0)
    expect(segments[0]?.end).toBeLessThanOrEqual(1.5)
    expect(recognizer.info.languages).toContain(finished.language)
    expect(finished.languageProbability).toBeGreaterThan(0)
    expect(finished.timings.encodeMs + finished.timings.decodeMs).toBeLessThanOrEqual(
      finished.timings.totalMs,
    )
    expect(events.slice(0, -2).every(({ type }) => type === 'partial-changed')).toBe(true)
  })

  it('gives the same for a clip and for a stream of its pieces, at any time', async () => {
    const samples = babble(7)
    const whole = await transcribe({ samples, sampleRate: 16_000 }, { timestamps: true })
    const [pieces, other] = await Promise.all([
      transcribe(cut(samples, 1234), { timestamps: true }),
      transcribe(cut(babble(3), 500), { language: 'de' }),
    ])
    const { timings: _, ...rest } = whole
    expect(pieces).toMatchObject(rest)
    expect(other.language).toBe('de')
    for (const [index, { start, end }] of whole.segments.entries()) {
      expect(end).toBeGreaterThan(start)
      expect(start).toBeGreaterThanOrEqual(whole.segments[index - 1]?.end ?? 0)
    }
  })

  it('takes other rates', async () => {
    const { duration } = await transcribe({ samples: babble(1, 44_100), sampleRate: 44_100 })
    expect(duration).toBeCloseTo(1, 3)
  })

  it('has nothing to say about no sound', async () => {
    expect(await transcribe({ samples: new Float32Array(0), sampleRate: 16_000 })).toMatchObject({
      text: '',
      segments: [],
      duration: 0,
      finishReason: 'stop',
    })
  })

  it('names the script that was asked for', async () => {
    const samples = babble(1)
    expect((await transcribe({ samples, sampleRate: 16_000 }, { language: 'zh-TW' })).language).toBe(
      'zh-Hant',
    )
  })

  it('stops when it is aborted, with what it has', async () => {
    const controller = new AbortController()
    const samples = babble(8)
    const events: TranscriptEvent[] = []
    const options = { timestamps: true, signal: controller.signal }
    for await (const event of recognizer.transcribe({ samples, sampleRate: 16_000 }, options)) {
      events.push(event)
      controller.abort()
    }
    expect(events.at(-1)).toMatchObject({ finishReason: 'aborted', duration: 8 })
    expect(await transcribe({ samples, sampleRate: 16_000 }, { signal: controller.signal })).toMatchObject({
      finishReason: 'aborted',
      text: '',
    })
    expect((await transcribe({ samples: babble(1), sampleRate: 16_000 })).finishReason).toBe('stop')
  })

  it('closes the stream when whoever listens leaves', async () => {
    let closed = false
    const clips = (async function* () {
      try {
        for (;;) yield { samples: babble(1), sampleRate: 16_000 }
      } finally {
        closed = true
      }
    })()
    for await (const _ of recognizer.transcribe(clips)) break
    expect(closed).toBe(true)
  })

  it.each<[string, TranscribeOptions, string]>([
    [
      'option/unknown',
      { langauge: 'en' } as TranscribeOptions,
      'There is no option "langauge" for a transcript.',
    ],
    ['option/invalid', { language: 'not a tag' }, 'The language must be "auto" or a tag'],
    ['option/language', { language: 'ja' }, 'does not know the language "ja"'],
    ['option/invalid', { speechSeconds: -1 }, '"speechSeconds" must be a number of seconds from 0 on'],
  ])('refuses wrong options at once: %s', (code, options, message) => {
    const call = () => recognizer.transcribe({ samples: babble(1), sampleRate: 16_000 }, options)
    expect(call).toThrow(message)
    expect(call).toThrow(expect.objectContaining({ code }))
  })

  it.each<[unknown, string]>([
    [{ samples: [0, 1], sampleRate: 16_000 }, 'found object and 16000'],
    [{ samples: new Float32Array(9), sampleRate: 4000 }, 'from 8000 to 192000; found object and 4000'],
    [{ samples: Float32Array.of(0, Number.NaN), sampleRate: 16_000 }, 'Sample 1 is NaN'],
  ])('refuses what is no sound', async (clip, message) => {
    await expect(transcribe(clip as AudioClip)).rejects.toThrow(message)
  })
})

describe('listen', () => {
  it('guesses, and ends with what a transcript of the whole says', async () => {
    const samples = babble(5)
    const session = recognizer.listen({ language: 'en' })
    for (let first = 0; first < samples.length; first += 8000) {
      session.push(samples.subarray(first, first + 8000))
      const guess = await session.partial()
      expect(typeof guess).toBe('string')
      expect(await session.partial()).toBe(guess) // nothing new was pushed
    }
    const finished = await session.finish({ timestamps: true })
    expect(finished).toMatchObject({ finishReason: 'stop', duration: 5, language: 'en' })
    expect(() => session.push(samples)).toThrow('finished')
    await expect(session.finish()).rejects.toThrow('finished')
  })

  it('ends a guess that runs when the utterance is over', async () => {
    const session = recognizer.listen({ language: 'en' })
    session.push(babble(1.5))
    const guess = session.partial()
    const finished = session.finish()
    expect(typeof (await guess)).toBe('string')
    const { text } = await transcribe({ samples: babble(1.5), sampleRate: 16_000 }, { language: 'en' })
    expect((await finished).text).toBe(text)
  })

  it('rejects a guess that is aborted, and goes on afterwards', async () => {
    const session = recognizer.listen()
    session.push(babble(1))
    await expect(session.partial(AbortSignal.abort())).rejects.toThrow(
      expect.objectContaining({ name: 'AbortError' }),
    )
    expect(typeof (await session.partial())).toBe('string')
    session.dispose()
    session.dispose()
    await expect(session.partial()).rejects.toThrow('disposed')
  })
})

describe('loadRecognizerOn', () => {
  it('shares a backend, and gives back only its own part', async () => {
    const before = backend.allocatedBytes
    const english = await loadRecognizerOn(HOST, goldenPath('whisper/english'), {}, backend)
    expect(english.info).toMatchObject({ architecture: 'whisper', languages: ['en'], sampleRate: 16_000 })
    expect(english.info.fileBytes).toBeGreaterThan(390_000)
    expect(() => english.listen({ language: 'zh' })).toThrow('hears English only; found the language "zh"')
    const samples = babble(1)
    const events = await collect(english.transcribe({ samples, sampleRate: 16_000 }, { language: 'en-GB' }))
    expect(events.at(-1)).toMatchObject({ language: 'en', languageProbability: 1 })
    await english.dispose()
    await english.dispose()
    expect(english.info.allocatedBytes).toBe(0)
    expect(backend.allocatedBytes).toBe(before)
    expect(() => english.transcribe({ samples, sampleRate: 16_000 })).toThrow('was closed')
    expect((await transcribe({ samples, sampleRate: 16_000 })).finishReason).toBe('stop')
  })

  it('reports progress up to the whole, on a backend of its own', async () => {
    const loaded: number[] = []
    let total = 0
    const own = await loadRecognizerOn(HOST, goldenPath('whisper/multilingual/ggml-q5_0.bin'), {
      threads: 1,
      onProgress: ({ loadedBytes, totalBytes }) => {
        loaded.push(loadedBytes)
        total = totalBytes
      },
    })
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b))
    expect(loaded.at(-1)).toBeLessThanOrEqual(total)
    expect(own.info.name).toContain('ggml-q5_0.bin')
    await own.dispose()
  })

  it.each<[string, string, string]>([
    ['a model of pictures', goldenPath('smolvlm'), 'does not recognise speech'],
    ['a folder without a model', goldenPath('whisper'), 'holds no model'],
    ['nothing', goldenPath('whisper/none'), 'There is no model at'],
  ])('refuses %s', async (_, path, message) => {
    await expect(loadRecognizerOn(HOST, path, {}, backend)).rejects.toThrow(message)
  })

  it('asks which, where a folder has several files of whisper.cpp', async () => {
    const folder = folders.create({ 'ggml-tiny.bin': '', 'ggml-base.bin': '' })
    await expect(loadRecognizerOn(HOST, folder, {}, backend)).rejects.toThrow('has several models: ggml-')
  })

  it('calls a pickle what it is', async () => {
    const folder = folders.create({ 'pytorch_model.bin': new Uint8Array([0x80, 2, 0x7d]) })
    await expect(loadRecognizerOn(HOST, `${folder}/pytorch_model.bin`, {}, backend)).rejects.toThrow(
      'is a pickle file',
    )
  })

  it('refuses wrong options and stops when aborted', async () => {
    const path = goldenPath('whisper/english')
    await expect(loadRecognizerOn(HOST, path, { precision: 'q2' as 'q8' })).rejects.toThrow(
      '"precision" must be',
    )
    await expect(loadRecognizerOn(HOST, '')).rejects.toThrow('A recogniser is named by')
    const before = backend.allocatedBytes
    const signal = AbortSignal.abort()
    await expect(loadRecognizerOn(HOST, path, { signal }, backend)).rejects.toThrow('aborted')
    const controller = new AbortController()
    const loading = loadRecognizerOn(
      HOST,
      path,
      { signal: controller.signal, onProgress: () => controller.abort() },
      backend,
    )
    await expect(loading).rejects.toThrow('aborted')
    expect(backend.allocatedBytes).toBe(before)
  })
})
