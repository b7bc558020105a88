import { throwIfAborted } from '../shared/abort.ts'
import type { ByteSource } from '../shared/byte-source.ts'
import type { AudioClip } from './audio-clip.ts'
import { PcmDecoder, type PcmFormat } from './pcm.ts'
import { WavDecoder } from './wav-decoder.ts'

/** Held of a file at a time: 8 s of 16 kHz in 16 bits, small against any model, large against the cost of a read. */
const PIECE_BYTES = 2 ** 18

/** The bytes of a source from first to last, a piece at a time. The caller closes the source. */
export async function* readPieces(source: ByteSource, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < source.byteLength; at += PIECE_BYTES) {
    throwIfAborted(signal)
    const piece = new Uint8Array(Math.min(PIECE_BYTES, source.byteLength - at))
    await source.readInto(piece, at)
    yield piece
  }
}

/**
 * The sound of a WAV file of any length, in clips as long as the pieces that come in. Errors as those of `WavDecoder`;
 * `name` is how a person would recognise the file.
 */
export async function* decodeWavStream(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<AudioClip> {
  const decoder = new WavDecoder(name)
  for await (const piece of pieces) {
    const samples = decoder.push(piece)
    if (samples.length > 0) yield { samples, sampleRate: decoder.sampleRate ?? 0 }
    if (decoder.isAtEnd) return
  }
  const samples = decoder.finish()
  if (samples.length > 0) yield { samples, sampleRate: decoder.sampleRate ?? 0 }
}

/** Samples without any header, as recording programs write them into pipes. */
export async function* decodePcmStream(
  pieces: AsyncIterable<Uint8Array>,
  format: PcmFormat & { readonly sampleRate: number },
): AsyncGenerator<AudioClip> {
  const decoder = new PcmDecoder(format)
  for await (const piece of pieces) {
    const samples = decoder.push(piece)
    if (samples.length > 0) yield { samples, sampleRate: format.sampleRate }
  }
}
