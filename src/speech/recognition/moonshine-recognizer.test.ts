import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
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
import { findQuietCut } from './quiet-cut.ts'

const GOLDEN = fileURLToPath(new URL('../../../test/golden/moonshine/', import.meta.url))
const host = { workers: createNodeWorkerHost(), files: createNodeFileHost() }

const recognizers: Recognizer[] = []
afterEach(async () => {
  for (const recognizer of recognizers.splice(0)) await recognizer.dispose()
})

async function load(folder: string): Promise<Recognizer> {
  const recognizer = await loadRecognizerOn(host, join(GOLDEN, folder), { precision: 'f32' })
  recognizers.push(recognizer)
  return recognizer
}

/** The utterance of the vectors, over and over. */
function sound(folder: string, seconds: number): AudioClip {
  const { stages } = JSON.parse(readFileSync(join(GOLDEN, folder, 'stages.json'), 'utf8'))
  const bytes = new Uint8Array(readFileSync(join(GOLDEN, folder, 'stages.f32')))
  const samples = new Float32Array(bytes.buffer, 0, stages.samples.shape[0])
  return {
    samples: Float32Array.from({ length: seconds * 16000 }, (_, i) => samples[i % samples.length]!),
    sampleRate: 16000,
  }
}

async function hear(
  recognizer: Recognizer,
  clip: AudioClip,
  options: TranscribeOptions = {},
): Promise<{ events: TranscriptEvent[]; finished: TranscriptFinished }> {
  const events: TranscriptEvent[] = []
  for await (const event of recognizer.transcribe(clip, options)) events.push(event)
  return { events, finished: events.at(-1) as TranscriptFinished }
}

describe.each(['v1', 'streaming'])('a Moonshine recogniser, %s', (folder) => {
  it('tells what it is', async () => {
    const { info } = await load(folder)
    expect(info).toMatchObject({
      architecture: folder === 'v1' ? 'moonshine' : 'moonshine_streaming',
      languages: ['en'],
      sampleRate: 16000,
    })
    expect(info.allocatedBytes).toBeGreaterThan(info.fileBytes)
  })

  it('hears short sounds at any rate, no more tokens than anybody says', async () => {
    const recognizer = await load(folder)
    const { events, finished } = await hear(recognizer, sound(folder, 1))
    expect(finished).toMatchObject({ language: 'en', finishReason: 'stop', duration: 1 })
    expect(finished.text).not.toBe('')
    expect(finished.segments).toEqual([{ start: 0, end: 1, text: finished.text }])
    expect(events.at(-2)).toEqual({ type: 'segment-finished', segment: finished.segments[0] })
    const half = { samples: sound(folder, 1).samples.filter((_, i) => i % 2 === 0), sampleRate: 8000 }
    expect((await hear(recognizer, half)).finished.duration).toBeCloseTo(1, 3)
  })

  it('goes through long sounds in stretches without a gap', async () => {
    const { finished } = await hear(await load(folder), sound(folder, 50))
    expect(finished.duration).toBe(50)
    const { segments } = finished
    expect(segments.length).toBeGreaterThan(1)
    expect(segments[0]!.start).toBe(0)
    expect(segments.at(-1)!.end).toBe(50)
    for (const [index, segment] of segments.slice(1).entries())
      expect(segment.start).toBeCloseTo(segments[index]!.end, 6)
  })

  it('says nothing of silence and of less than a sound', async () => {
    const recognizer = await load(folder)
    for (const length of [0, 100, 16000]) {
      const { finished } = await hear(recognizer, { samples: new Float32Array(length), sampleRate: 16000 })
      expect(finished).toMatchObject({ text: '', segments: [], finishReason: 'stop' })
    }
  })

  it('guesses while speech goes on, and ends with what it would have heard at once', async () => {
    const recognizer = await load(folder)
    const { samples } = sound(folder, 3)
    const session = recognizer.listen()
    for (let at = 0; at < samples.length; at += 16000) {
      session.push(samples.subarray(at, at + 16000))
      expect(await session.partial()).toEqual(expect.any(String))
    }
    const finished = await session.finish()
    expect(finished.text).toBe((await hear(recognizer, sound(folder, 3))).finished.text)
    expect(() => session.push(samples)).toThrow(expect.objectContaining({ code: 'option/closed' }))
  })

  it('stops when it is told to', async () => {
    const recognizer = await load(folder)
    const controller = new AbortController()
    controller.abort()
    const { finished } = await hear(recognizer, sound(folder, 2), { signal: controller.signal })
    expect(finished).toMatchObject({ finishReason: 'aborted', text: '' })
  })

  it('refuses other languages and bad options', async () => {
    const recognizer = await load(folder)
    expect(() => recognizer.transcribe(sound(folder, 1), { language: 'zh' })).toThrow(
      expect.objectContaining({ code: 'speech/unsupported-language' }),
    )
    expect(() => recognizer.listen({ loud: true } as TranscribeOptions)).toThrow(
      expect.objectContaining({ code: 'option/unknown' }),
    )
  })
})

describe('findQuietCut', () => {
  it('cuts in the middle of the quietest part', () => {
    const samples = new Float32Array(32000).fill(0.5)
    samples.fill(0.01, 24000, 28000)
    const cut = findQuietCut(samples, 16000)
    expect(cut).toBeGreaterThan(25000)
    expect(cut).toBeLessThan(27500)
  })

  it('never cuts outside', () => {
    expect(findQuietCut(new Float32Array(100), 50)).toBeLessThanOrEqual(100)
    expect(findQuietCut(new Float32Array(32000).fill(1), 16000)).toBeGreaterThan(16000)
  })
})
