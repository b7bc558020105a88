/** Sound that is there already, or comes in by a pipe, as something to listen to. */

import type { AudioClip } from '../../../audio/audio-clip.ts'
import { decodePcmStream, decodeWavStream } from '../../../audio/audio-stream.ts'
import { resampleStream } from '../../../audio/resampler.ts'
import type { Microphone } from '../../../speech/types.ts'
import { createAudioDecoder } from '../audio-decoder.ts'
import { openFile } from '../file-source.ts'
import { frames } from './frames.ts'

const SAMPLE_RATE = 16_000
const FRAME = 512
/** Of a stream that is listened to too slowly: 30 s. */
const MAX_LATE_FRAMES = (30 * SAMPLE_RATE) / FRAME
/** Of a RIFF header: its name and the length of the file. */
const RIFF_BYTES = 8
/** Lengths that programs write when they do not know them: nothing, or about the most that there can be. */
const isUnknownLength = (bytes: number): boolean => bytes === 0 || bytes >= 0x7fff_0000

/** A sound file of any kind that the host decodes. It waits while nobody listens. */
export function createRecording(path: string): Microphone {
  return {
    name: path,
    kind: 'recording',
    async *open(signal) {
      const source = await openFile(path)
      try {
        yield* framesOf(createAudioDecoder().decode(source, signal))
      } finally {
        await source.close()
      }
    },
  }
}

/**
 * Standard input: a WAV file, or samples of 16 bits at 16 kHz without a header. A file that knows its length waits while
 * nobody listens; all else is taken for a microphone, which does not.
 */
export async function createPipedMicrophone(input: AsyncIterable<Uint8Array | string>): Promise<Microphone> {
  const bytes = bytesOf(input)[Symbol.asyncIterator]()
  let head = new Uint8Array(0)
  while (head.length < RIFF_BYTES) {
    const next = await bytes.next()
    if (next.done) break
    head = join(head, next.value)
  }
  const isWav = head.length >= RIFF_BYTES && new TextDecoder().decode(head.subarray(0, 4)) === 'RIFF'
  const length = isWav ? new DataView(head.buffer, head.byteOffset).getUint32(4, true) : 0
  const pieces = (async function* () {
    if (head.length > 0) yield head
    for (;;) {
      const next = await bytes.next()
      if (next.done) return
      yield next.value
    }
  })()
  const name = 'standard input'
  const clips = isWav
    ? decodeWavStream(pieces, name)
    : decodePcmStream(pieces, { encoding: 's16le', channels: 1, sampleRate: SAMPLE_RATE })
  const heard = framesOf(clips)
  if (!isUnknownLength(length))
    return { name, kind: 'recording', open: (signal) => untilAborted(heard, signal) }
  const stream = new LiveStream(heard)
  return { name, kind: 'stream', open: (signal) => stream.listen(signal) }
}

/** Goes on where it was when it is opened again. */
async function* untilAborted(
  samples: AsyncGenerator<Float32Array>,
  signal: AbortSignal,
): AsyncGenerator<Float32Array> {
  while (!signal.aborted) {
    const next = await samples.next()
    if (next.done) return
    yield next.value
  }
}

/** Sound that comes whether somebody listens or not; what nobody listens to is gone. */
class LiveStream {
  #listener: Float32Array[] | undefined
  #isOver = false
  #error: unknown
  #wake: (() => void) | undefined

  constructor(samples: AsyncIterable<Float32Array>) {
    void this.#read(samples)
  }

  async *listen(signal: AbortSignal): AsyncGenerator<Float32Array> {
    const heard: Float32Array[] = []
    this.#listener = heard
    const wake = (): void => this.#wake?.()
    signal.addEventListener('abort', wake)
    try {
      while (!signal.aborted) {
        const frame = heard.shift()
        if (frame) yield frame
        else if (this.#error !== undefined) throw this.#error
        else if (this.#isOver) return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      signal.removeEventListener('abort', wake)
      if (this.#listener === heard) this.#listener = undefined
    }
  }

  async #read(samples: AsyncIterable<Float32Array>): Promise<void> {
    try {
      for await (const frame of samples) {
        this.#listener?.push(frame)
        if (this.#listener && this.#listener.length > MAX_LATE_FRAMES) this.#listener.shift()
        this.#wake?.()
      }
    } catch (error) {
      this.#error = error
    }
    this.#isOver = true
    this.#wake?.()
  }
}

function framesOf(clips: AsyncIterable<AudioClip>): AsyncGenerator<Float32Array> {
  return frames(samplesOf(resampleStream(clips, SAMPLE_RATE)), FRAME)
}

async function* samplesOf(clips: AsyncIterable<AudioClip>): AsyncGenerator<Float32Array> {
  for await (const { samples } of clips) yield samples
}

async function* bytesOf(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}
