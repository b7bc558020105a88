import OpenAI, { toFile } from 'openai'
import { expect, test } from 'vitest'
import { decodeWavStream, readPieces } from '../audio/audio-stream.ts'
import { encodeWav } from '../audio/encode-wav.ts'
import { parseWav } from '../audio/wav-decoder.ts'
import type {
  Recognizer,
  SpeakOptions,
  TranscribeOptions,
  TranscriptFinished,
  Voice,
} from '../speech/types.ts'
import { createFakeModel } from '../testing/fake-model.ts'
import { createServerApp } from './app.ts'

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

test('the OpenAI client gets a transcript in every form', async () => {
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

test('the OpenAI client gets speech as a WAV file and as samples of 24 kHz', async () => {
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

test('what is not offered is refused by its name', async () => {
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

test('a file that is no sound, an unknown field and a server without ears', async () => {
  const { client } = createAudioApp()
  const file = await toFile(new Uint8Array(100), 'x.wav')
  await expect(client.audio.transcriptions.create({ file, model: 'x' })).rejects.toMatchObject({
    status: 400,
  })
  await expect(
    client.audio.transcriptions.create({ file: await QUESTION(), model: 'x', chunking_strategy: 'auto' }),
  ).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter' })
})
