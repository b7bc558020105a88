import { readFileSync } from 'node:fs'
import { afterEach, expect, it, vi } from 'vitest'
import type { AudioClip } from '../../audio/audio-clip.ts'
import { encodeWav } from '../../audio/encode-wav.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { createAudioDecoder } from './audio-decoder.ts'

const mp3 = new Uint8Array(readFileSync(new URL('../../../test/golden/speech/en1.mp3', import.meta.url)))

async function decode(source: ByteSource, signal?: AbortSignal): Promise<AudioClip[]> {
  const all: AudioClip[] = []
  for await (const clip of createAudioDecoder().decode(source, signal)) all.push(clip)
  return all
}

/** Stands in for the browser: two channels, or a refusal. */
function stubContext(outcome: readonly Float32Array[] | Error): void {
  vi.stubGlobal(
    'OfflineAudioContext',
    class {
      readonly sampleRate: number
      constructor(_channels: number, _length: number, sampleRate: number) {
        this.sampleRate = sampleRate
      }
      async decodeAudioData(bytes: ArrayBuffer): Promise<unknown> {
        if (outcome instanceof Error) throw outcome
        expect(bytes.byteLength).toBe(mp3.length)
        return {
          length: outcome[0]?.length ?? 0,
          numberOfChannels: outcome.length,
          sampleRate: this.sampleRate,
          getChannelData: (channel: number) => outcome[channel],
        }
      }
    },
  )
}

afterEach(() => vi.unstubAllGlobals())

it('decodes WAV without the browser', async () => {
  const clip = { samples: Float32Array.of(0.5, -0.5), sampleRate: 22050 }
  expect(await decode(createMemorySource('talk.wav', encodeWav(clip)))).toEqual([clip])
})

it('mixes the channels that the browser decoded at 16 kHz', async () => {
  stubContext([Float32Array.of(1, 0.5), Float32Array.of(0, -0.5)])
  expect(await decode(createMemorySource('talk.mp3', mp3))).toEqual([
    { samples: Float32Array.of(0.5, 0), sampleRate: 16000 },
  ])
})

it('says so when the browser refuses, and when there is no decoder', async () => {
  await expect(decode(createMemorySource('talk.mp3', mp3))).rejects.toMatchObject({
    code: 'audio/decoder-missing',
  })
  stubContext(new Error('EncodingError'))
  await expect(decode(createMemorySource('talk.mp3', mp3))).rejects.toMatchObject({
    code: 'audio/damaged',
    message: 'talk.mp3: expected sound in MP3 format, but this browser could not decode it.',
  })
})

it('refuses compressed files whose samples would not fit', async () => {
  const source: ByteSource = {
    name: 'long.mp3',
    byteLength: 2 ** 26 + 1,
    async readInto(target) {
      target.set(mp3.subarray(0, target.length))
    },
    async close() {},
  }
  await expect(decode(source)).rejects.toMatchObject({ code: 'audio/too-long' })
})

it('stops when aborted', async () => {
  await expect(decode(createMemorySource('talk.mp3', mp3), AbortSignal.abort())).rejects.toMatchObject({
    name: 'AbortError',
  })
})
