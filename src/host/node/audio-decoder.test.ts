import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AudioClip } from '../../audio/audio-clip.ts'
import { encodeWav } from '../../audio/encode-wav.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { createAudioDecoder } from './audio-decoder.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
const MP3 = new Uint8Array(600_000)
MP3.set(ascii('ID3'))
const MP4 = new Uint8Array(400_000)
MP4.set(ascii('ftyp'), 4)

/** Stands in for ffmpeg: answers with the number of bytes it was given and of its arguments, as samples. */
const COUNTING = `
const { readFileSync } = require('node:fs')
const input = process.argv[process.argv.indexOf('-i') + 1]
const bytes = readFileSync(input === 'pipe:0' ? 0 : input)
process.stdout.write(Buffer.from(Float32Array.of(bytes.length, process.argv.length - 2).buffer))
`
const COMPLAINING = `
console.error('Invalid data found when processing input')
process.exit(69)
`
const ENDLESS = `
const write = () => { while (process.stdout.write(Buffer.alloc(65536))); process.stdout.once('drain', write) }
write()
`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'onsight-test-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function program(name: string, body: string): Promise<string> {
  const path = join(folder, `${name}.cjs`)
  await writeFile(path, `#!${process.execPath}\n${body}`)
  await chmod(path, 0o755)
  return path
}

async function collect(clips: AsyncIterable<AudioClip>): Promise<AudioClip[]> {
  const all: AudioClip[] = []
  for await (const clip of clips) all.push(clip)
  return all
}

it('decodes WAV without any program', async () => {
  const clip = { samples: Float32Array.of(0.5, -0.5), sampleRate: 22050 }
  const decoder = createAudioDecoder({ command: join(folder, 'missing') })
  expect(await collect(decoder.decode(createMemorySource('talk.wav', encodeWav(clip))))).toEqual([clip])
})

it('refuses what is no sound before any program is started', async () => {
  const decoder = createAudioDecoder({ command: join(folder, 'missing') })
  await expect(
    collect(decoder.decode(createMemorySource('a.mp3', ascii('#EXTM3U\nhttp://…')))),
  ).rejects.toMatchObject({
    code: 'audio/unsupported-format',
    message: 'a.mp3: expected a sound file, found bytes that begin with 23 45 58 54.',
  })
  await expect(collect(decoder.decode(createMemorySource('a.mp3', new Uint8Array(0))))).rejects.toMatchObject(
    {
      message: 'a.mp3: expected a sound file, found an empty file.',
    },
  )
})

it('names the program that is missing', async () => {
  const decoder = createAudioDecoder({ command: 'onsight-no-such-program' })
  await expect(collect(decoder.decode(createMemorySource('talk.mp3', MP3)))).rejects.toMatchObject({
    code: 'audio/decoder-missing',
    message: expect.stringContaining(
      'talk.mp3: files in MP3 format need the program "onsight-no-such-program"',
    ),
    hint: expect.stringContaining('Install ffmpeg'),
  })
})

describe.skipIf(process.platform === 'win32')('with a program', () => {
  it('hands over every byte through a pipe and takes samples of 16 kHz', async () => {
    const decoder = createAudioDecoder({ command: await program('counting', COUNTING) })
    const clips = await collect(decoder.decode(createMemorySource('talk.mp3', MP3)))
    expect(clips).toEqual([{ samples: Float32Array.of(MP3.length, 16), sampleRate: 16000 }])
  })

  it('hands over an MP4 file as a copy, and removes it', async () => {
    const decoder = createAudioDecoder({ command: await program('counting', COUNTING) })
    const before = (await readdir(tmpdir())).length
    const clips = await collect(decoder.decode(createMemorySource('talk.m4a', MP4)))
    expect(clips.map(({ samples }) => samples[0])).toEqual([MP4.length])
    expect((await readdir(tmpdir())).length).toBeLessThanOrEqual(before)
  })

  it('passes on what the program complains of', async () => {
    const decoder = createAudioDecoder({ command: await program('complaining', COMPLAINING) })
    await expect(collect(decoder.decode(createMemorySource('talk.mp3', MP3)))).rejects.toMatchObject({
      code: 'audio/damaged',
      message: expect.stringContaining('Invalid data found when processing input'),
    })
  })

  it('ends the program when aborted, and when the reader leaves', async () => {
    const decoder = createAudioDecoder({ command: await program('endless', ENDLESS) })
    const leaving = new AbortController()
    const reading = (async () => {
      for await (const _ of decoder.decode(createMemorySource('talk.mp3', MP3), leaving.signal))
        leaving.abort()
    })()
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
    for await (const { samples } of decoder.decode(createMemorySource('talk.mp3', MP3))) {
      expect(samples.length).toBeGreaterThan(0)
      break
    }
  })
})
