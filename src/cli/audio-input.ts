/** Sound named on the command line. */
import { SNIFFED_BYTES, sniffAudioFormat } from '../audio/audio-format.ts'
import { decodePcmStream, decodeWavStream } from '../audio/audio-stream.ts'
import type { SampleEncoding } from '../audio/pcm.ts'
import type { AudioClip } from '../speech/types.ts'
import type { InputStream } from './context.ts'

export interface RawFormat {
  readonly encoding: SampleEncoding
  readonly sampleRate: number
  readonly channels: number
}

/** Standard input: a WAV file where it begins as one, else raw samples. */
export async function* readAudioInput(stdin: InputStream, raw: RawFormat): AsyncGenerator<AudioClip> {
  const pieces = bytesOf(stdin)
  const head: Uint8Array[] = []
  let byteLength = 0
  while (byteLength < SNIFFED_BYTES) {
    const { done, value } = await pieces.next()
    if (done) break
    head.push(value)
    byteLength += value.length
  }
  const all = (async function* () {
    yield* head
    yield* pieces
  })()
  const isWav = sniffAudioFormat(Buffer.concat(head).subarray(0, SNIFFED_BYTES)) === 'wav'
  yield* isWav ? decodeWavStream(all, 'standard input') : decodePcmStream(all, raw)
}

async function* bytesOf(stdin: InputStream): AsyncGenerator<Uint8Array, undefined, undefined> {
  for await (const chunk of stdin) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}
