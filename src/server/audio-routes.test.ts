import OpenAI, { toFile } from 'openai'
import { describe, expect, it, vi } from 'vitest'
import { decodeWavStream, readPieces } from '../audio/audio-stream.ts'
import type { AudioDecoder } from '../audio/decoder.ts'
import { encodeWav } from '../audio/encode-wav.ts'
import { parseWav } from '../audio/wav-decoder.ts'
import { createAbortError } from '../shared/abort.ts'
import type {
  Recognizer,
  SpeakOptions,
  SpokenPiece,
  TranscribeOptions,
  TranscriptFinished,
  Voice,
} from '../speech/types.ts'
import { createFakeModel } from '../testing/fake-model.ts'
import { createServerApp } from './app.ts'
import type { ServerAppOptions } from './app-options.ts'
import { encodeSound } from './sound-encoder.ts'
import { createGate, createTestApp, errorOf, settle } from './test-app.case.ts'

const INFO = {
  name: 'fake',
  architecture: 'fake',
  languages: ['en'],
  sampleRate: 16_000,
  fileBytes: 0,
  allocatedBytes: 0,
  loadMs: 0,
}
const FINISHED: TranscriptFinished = {
  type: 'transcript-finished',
  text: 'One. Two.',
  language: 'en',
  languageProbability: 1,
  segments: [
    { start: 0, end: 1.5, text: 'One.' },
    { start: 1.5, end: 3662.25, text: 'Two.' },
  ],
  finishReason: 'stop',
  duration: 3662.25,
  timings: { totalMs: 1, encodeMs: 1, decodeMs: 0 },
}

function createAudioApp(maxBodyBytes = 2 ** 20) {
  const heard: { samples: number; options: TranscribeOptions }[] = []
  const said: { text: string; options: SpeakOptions }[] = []
  const recognizer: Recognizer = {
    info: INFO,
    async *transcribe(audio, options = {}) {
      let samples = 0
      for await (const clip of Symbol.asyncIterator in audio ? audio : [audio]) samples += clip.samples.length
      heard.push({ samples, options })
      yield FINISHED
    },
    listen: () => {
      throw new Error('not used')
    },
    dispose: async () => {},
  }
  const voice: Voice = {
    info: { ...INFO, sampleRate: 12_000 },
    async *synthesize(text, options = {}) {
      said.push({ text, options })
      if (text === 'broken') throw new Error('no sound')
      for (const level of [0.25, 0.5])
        yield { text, samples: new Float32Array(100).fill(level), sampleRate: 12_000 }
    },
    dispose: async () => {},
  }
  const app = createServerApp({
    models: { fake: createFakeModel({}) },
    maxBodyBytes,
    audio: {
      recognizer,
      voice,
      decoder: { decode: (source, signal) => decodeWavStream(readPieces(source, signal), source.name) },
    },
  })
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://localhost:8321/v1',
    maxRetries: 0,
    fetch: (input, init) => {
      const request = new Request(input as string, init as RequestInit)
      request.headers.set('host', 'localhost:8321')
      return app.fetch(request)
    },
  })
  return { client, heard, said }
}

const QUESTION = () =>
  toFile(encodeWav({ samples: new Float32Array(1600), sampleRate: 16_000 }), 'question.wav', {
    type: 'audio/wav',
  })

it('the OpenAI client gets a transcript in every form', async () => {
  const { client, heard } = createAudioApp()
  const ask = async (response_format: 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt') =>
    client.audio.transcriptions.create({
      file: await QUESTION(),
      model: 'whisper-1',
      language: 'en',
      prompt: 'Ada',
      response_format: response_format as 'json',
    }) as Promise<unknown>
  expect(await ask('json')).toMatchObject({ text: 'One. Two.' })
  expect(await ask('text')).toBe('One. Two.\n')
  expect(await ask('verbose_json')).toMatchObject({
    language: 'en',
    duration: 3662.25,
    segments: [
      { id: 0, start: 0, end: 1.5, text: 'One.' },
      { id: 1, start: 1.5 },
    ],
  })
  expect(await ask('srt')).toBe(
    '1\n00:00:00,000 --> 00:00:01,500\nOne.\n\n2\n00:00:01,500 --> 01:01:02,250\nTwo.\n',
  )
  expect(await ask('vtt')).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.500\nOne\.\n/)
  expect(heard[0]).toMatchObject({
    samples: 1600,
    options: { language: 'en', context: 'Ada', timestamps: false },
  })
  expect(heard[2]?.options.timestamps).toBe(true)
})

it('the OpenAI client gets speech as a WAV file and as samples of 24 kHz', async () => {
  const { client, said } = createAudioApp()
  const ask = (response_format: 'wav' | 'pcm') =>
    client.audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input: 'Hello.',
      response_format,
      speed: 1.5,
    })
  const clip = parseWav(new Uint8Array(await (await ask('wav')).arrayBuffer()), 'answer')
  expect([clip.sampleRate, clip.samples.length, clip.samples[0], clip.samples[150]]).toEqual([
    12_000, 200, 0.25, 0.5,
  ])
  expect((await (await ask('pcm')).arrayBuffer()).byteLength).toBe(200 * 2 * 2)
  expect(said[0]).toMatchObject({ text: 'Hello.', options: { rate: 1.5 } })
})

it('what is not offered is refused by its name', async () => {
  const { client } = createAudioApp(2000)
  const speech = { model: 'x', voice: 'alloy', input: 'Hello.' } as const
  await expect(client.audio.speech.create({ ...speech, response_format: 'mp3' })).rejects.toMatchObject({
    status: 400,
    param: 'response_format',
  })
  await expect(client.audio.speech.create({ ...speech, speed: 9 })).rejects.toMatchObject({ param: 'speed' })
  await expect(client.audio.speech.create({ ...speech, input: ' ' })).rejects.toMatchObject({
    param: 'input',
  })
  await expect(client.audio.speech.create({ ...speech, input: 'broken' })).rejects.toMatchObject({
    status: 500,
  })
  await expect(
    client.audio.transcriptions.create({ file: await QUESTION(), model: 'x' }),
  ).rejects.toMatchObject({ status: 413 })
})

it('a file that is no sound, an unknown field and a server without ears', async () => {
  const { client } = createAudioApp()
  const file = await toFile(new Uint8Array(100), 'x.wav')
  await expect(client.audio.transcriptions.create({ file, model: 'x' })).rejects.toMatchObject({
    status: 400,
  })
  await expect(
    client.audio.transcriptions.create({ file: await QUESTION(), model: 'x', chunking_strategy: 'auto' }),
  ).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter' })
})

it('samples of 24 kHz are those of the whole, whatever the pieces', async () => {
  const samples = Float32Array.from({ length: 4000 }, (_, i) => Math.sin(i / 7) / 2)
  const inPieces = async function* (size: number): AsyncGenerator<SpokenPiece> {
    for (let at = 0; at < samples.length; at += size)
      yield { text: '', samples: samples.slice(at, at + size), sampleRate: 22_050 }
  }
  const bytesOf = async (size: number) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of encodeSound(inPieces(size), 'pcm', 22_050)) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
  const whole = await bytesOf(4000)
  expect(whole.length).toBe(Math.ceil((4000 * 24_000) / 22_050) * 2)
  expect((await bytesOf(333)).equals(whole)).toBe(true)
})

/** An app whose recogniser and voice go on when they are told to, and requests to it. */
function createSlowAudioApp(options: Partial<ServerAppOptions> = {}) {
  const hearing = createGate()
  const speaking = createGate()
  const signals: (AbortSignal | undefined)[] = []
  const until = (gate: Promise<void>, signal: AbortSignal | undefined) =>
    Promise.race([
      gate,
      new Promise<never>((_, reject) =>
        signal?.addEventListener('abort', () => reject(createAbortError()), { once: true }),
      ),
    ])
  const recognizer: Recognizer = {
    info: INFO,
    async *transcribe(_, { signal } = {}) {
      signals.push(signal)
      await until(hearing.opened, signal)
      yield FINISHED
    },
    listen: () => {
      throw new Error('not used')
    },
    dispose: async () => {},
  }
  const voice: Voice = {
    info: INFO,
    async *synthesize(text, { signal } = {}) {
      signals.push(signal)
      for (let piece = 0; piece < 400; piece++) {
        if (piece === 1) await until(speaking.opened, signal)
        if (signal?.aborted) throw createAbortError()
        yield { text, samples: new Float32Array(16_000), sampleRate: 16_000 }
      }
    },
    dispose: async () => {},
  }
  const decoder: AudioDecoder = {
    decode: (source, signal) => decodeWavStream(readPieces(source, signal), source.name),
  }
  const base = createTestApp({ audio: { recognizer, voice, decoder }, ...options })
  const transcribe = (init: { body?: BodyInit; signal?: AbortSignal } = {}) => {
    const form = new FormData()
    form.set(
      'file',
      new Blob([Uint8Array.from(encodeWav({ samples: new Float32Array(160), sampleRate: 16_000 }))]),
      'a.wav',
    )
    const isStream = init.body !== undefined
    return base.app.fetch(
      new Request('http://localhost:8321/v1/audio/transcriptions', {
        method: 'POST',
        headers: {
          host: 'localhost:8321',
          ...(isStream && { 'content-type': 'multipart/form-data; boundary=x' }),
        },
        body: form,
        ...init,
        ...(isStream && { duplex: 'half' }),
      }),
    )
  }
  const speak = (signal?: AbortSignal) => base.post('/v1/audio/speech', { input: 'Hello.' }, {}, signal)
  return { ...base, transcribe, speak, hearing, speaking, signals }
}

describe('sound and answers share a queue', () => {
  it('with a limit: more are refused with 429', async () => {
    const { transcribe, speak, hearing, get } = createSlowAudioApp({ queueLength: 1 })
    const first = transcribe()
    const second = transcribe()
    await settle()
    const refused = await speak()
    expect(refused.headers.get('retry-after')).toBe('2')
    expect(await errorOf(refused)).toMatchObject({
      status: 429,
      code: 'queue_full',
      message: expect.stringContaining('1 requests wait already, and 1 may.'),
    })
    const metrics = await (await get('/metrics')).text()
    expect(metrics).toContain('onsight_requests_running 1\n')
    expect(metrics).toContain('onsight_requests_waiting 1\n')
    hearing.open()
    expect([(await first).status, (await second).status]).toEqual([200, 200])
  })

  it('but not a turn: an answer need not end before its first sentence is spoken', async () => {
    const answering = createGate()
    const { post, speak, speaking, get } = createSlowAudioApp({
      queueLength: 0,
      models: { fake: createFakeModel({ answer: () => ({ beforePiece: () => answering.opened }) }) },
    })
    const answer = post('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] })
    await settle()
    const spoken = await speak()
    expect(spoken.status).toBe(200)
    expect(await (await get('/metrics')).text()).toContain('onsight_requests_running 2\n')
    speaking.open()
    expect((await spoken.arrayBuffer()).byteLength).toBe(44 + 400 * 32_000)
    answering.open()
    expect((await answer).status).toBe(200)
  })

  it('in which a body that is slow to come stops nobody', async () => {
    const { transcribe, speak, speaking } = createSlowAudioApp()
    const uploading = transcribe({ body: new ReadableStream({}) })
    await settle()
    // The one that is still being sent does not keep the other from its turn.
    const spoken = await speak()
    speaking.open()
    expect((await spoken.arrayBuffer()).byteLength).toBe(44 + 400 * 32_000)
    expect(await Promise.race([uploading, 'still there'])).toBe('still there')
  })
})

describe('what is too large or breaks off', () => {
  it('is refused before it fills the memory', async () => {
    let sent = 0
    const { transcribe } = createSlowAudioApp({ maxBodyBytes: 10_000 })
    const endless = new ReadableStream({
      pull(controller) {
        sent++
        controller.enqueue(new Uint8Array(1000))
      },
    })
    expect(await errorOf(await transcribe({ body: endless }))).toMatchObject({
      status: 413,
      code: 'request_too_large',
    })
    expect(sent).toBeLessThan(20)
  })

  it('is a client that left', async () => {
    const { transcribe, log } = createSlowAudioApp()
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error('reset')),
    })
    expect((await transcribe({ body: broken })).status).toBe(499)
    expect(log).toMatchObject([{ route: '/v1/audio/transcriptions', status: 499 }])
  })
})

describe('a client that leaves', () => {
  it('ends its transcript, and the next has its turn', async () => {
    const { transcribe, hearing, signals } = createSlowAudioApp()
    const leaving = new AbortController()
    const first = transcribe({ signal: leaving.signal })
    const second = transcribe()
    await settle()
    expect(signals).toHaveLength(1)
    leaving.abort()
    expect((await first).status).toBe(499)
    await settle()
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false])
    hearing.open()
    expect((await second).status).toBe(200)
  })

  it('while it waits never runs', async () => {
    const { transcribe, speak, hearing, signals } = createSlowAudioApp()
    const leaving = new AbortController()
    const first = transcribe()
    await settle()
    const second = speak(leaving.signal)
    await settle()
    leaving.abort()
    expect((await second).status).toBe(499)
    hearing.open()
    expect((await first).status).toBe(200)
    expect(signals).toHaveLength(1)
  })

  it('in the middle of speech silences it, and the next has its turn', async () => {
    const { speak, speaking, signals, log } = createSlowAudioApp()
    const reader = (await speak()).body!.getReader()
    await reader.read()
    const second = speak()
    await settle()
    expect(signals).toHaveLength(1)
    await reader.cancel()
    await settle()
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false])
    expect(log).toMatchObject([
      { status: 499, error: 'server/client-left: The client closed the connection.' },
    ])
    speaking.open()
    expect((await (await second).arrayBuffer()).byteLength).toBe(44 + 400 * 32_000)
    expect(log[1]).toMatchObject({ route: '/v1/audio/speech', status: 200 })
  })

  it('without a word, by reading nothing, is held back and then given up', async () => {
    vi.useFakeTimers()
    try {
      const { speak, speaking, signals } = createSlowAudioApp({ requestTimeoutMs: 3_600_000 })
      speaking.open()
      const response = await speak()
      await vi.advanceTimersByTimeAsync(29_000)
      expect(signals[0]?.aborted).toBe(false)
      await vi.advanceTimersByTimeAsync(2000)
      expect(signals[0]?.aborted).toBe(true)
      await expect(response.arrayBuffer()).rejects.toThrow('The client did not read the answer.')
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('when the server stops', () => {
  it('sound that is under way may end within the time of grace', async () => {
    const { app, transcribe, speak, hearing } = createSlowAudioApp()
    const running = transcribe()
    await settle()
    const stopped = app.stop(5000)
    expect((await speak()).status).toBe(503)
    hearing.open()
    expect((await running).status).toBe(200)
    await stopped
  })

  it('and is ended after it', async () => {
    const { app, transcribe } = createSlowAudioApp()
    const running = transcribe()
    await settle()
    await app.stop(10)
    expect(await errorOf(await running)).toMatchObject({ status: 503, code: 'stopping' })
  })
})

it('what takes longer than allowed is given up', async () => {
  const { transcribe, signals } = createSlowAudioApp({ requestTimeoutMs: 20 })
  expect(await errorOf(await transcribe())).toMatchObject({ status: 504, code: 'timeout' })
  expect(signals[0]?.aborted).toBe(true)
})
