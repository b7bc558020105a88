import { expect, it } from 'vitest'
import type { ByteSource } from '../shared/byte-source.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import type { AudioClip } from './audio-clip.ts'
import { decodePcmStream, decodeWavStream, readPieces } from './audio-stream.ts'
import { encodePcm, encodeWav, encodeWavHeader } from './encode-wav.ts'

async function collect(clips: AsyncIterable<AudioClip>): Promise<AudioClip[]> {
  const all: AudioClip[] = []
  for await (const clip of clips) all.push(clip)
  return all
}

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const samples = Float32Array.from({ length: 1000 }, (_, i) => Math.round(Math.sin(i) * 30000) / 32768)

it('a file in pieces is the file', async () => {
  const source = createMemorySource('talk.wav', encodeWav({ samples, sampleRate: 44100 }))
  const clips = await collect(decodeWavStream(readPieces(source), source.name))
  expect(clips).toEqual([{ samples, sampleRate: 44100 }])
})

it.each(['s16le', 'f32le'] as const)('raw %s cut anywhere', async (encoding) => {
  const clips = await collect(
    decodePcmStream(piecesOf(encodePcm(samples, encoding), 37), { encoding, channels: 1, sampleRate: 16000 }),
  )
  expect(clips.flatMap((clip) => [...clip.samples])).toEqual([...samples])
  expect(new Set(clips.map((clip) => clip.sampleRate))).toEqual(new Set([16000]))
})

it('an hour is read a piece at a time', async () => {
  const count = 3600 * 16000
  const header = encodeWavHeader(16000, 's16le', count)
  let largestRead = 0
  // A file that is nowhere: silence behind a header.
  const source: ByteSource = {
    name: 'hour.wav',
    byteLength: header.length + count * 2,
    async readInto(target, at) {
      largestRead = Math.max(largestRead, target.length)
      if (at === 0) target.set(header)
    },
    async close() {},
  }
  let seen = 0
  let longest = 0
  for await (const clip of decodeWavStream(readPieces(source), source.name)) {
    seen += clip.samples.length
    longest = Math.max(longest, clip.samples.length)
  }
  expect(seen).toBe(count)
  expect(largestRead).toBeLessThanOrEqual(2 ** 18)
  expect(longest).toBeLessThanOrEqual(2 ** 17)
})

it('stops between pieces when aborted', async () => {
  const source = createMemorySource('talk.wav', encodeWav({ samples, sampleRate: 44100 }))
  const reading = collect(decodeWavStream(readPieces(source, AbortSignal.abort()), source.name))
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
})

it('says what a file is that holds no sound', async () => {
  const source = createMemorySource('talk.wav', new Uint8Array(0))
  await expect(collect(decodeWavStream(readPieces(source), source.name))).rejects.toMatchObject({
    code: 'audio/unsupported-format',
  })
})
