import { type ByteSource, readBytes } from '../shared/byte-source.ts'
import type { AudioClip } from './audio-clip.ts'
import { type AudioFormat, SNIFFED_BYTES, sniffAudioFormat, unsupportedAudioError } from './audio-format.ts'

/** Port: sound files of any kind. WAV is decoded here; for all else each host has its own ways. */
export interface AudioDecoder {
  /**
   * The sound of a file, piece by piece; compressed files come at 16 kHz. The caller closes the source.
   *
   * Throws `audio/unsupported-format`, `audio/unsupported-rate`, `audio/damaged`, `audio/too-long` or
   * `audio/decoder-missing`; rejects with an `AbortError` when `signal` is aborted.
   */
  decode(source: ByteSource, signal?: AbortSignal): AsyncIterableIterator<AudioClip>
}

/** What a file is by its first bytes. Throws `audio/unsupported-format` where it is no sound. */
export async function detectAudioFormat(source: ByteSource): Promise<AudioFormat> {
  const head = await readBytes(source, 0, Math.min(SNIFFED_BYTES, source.byteLength))
  const format = sniffAudioFormat(head)
  if (format === undefined) throw unsupportedAudioError(head, source.name, 'a sound file')
  return format
}
