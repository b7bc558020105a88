/** Sound of files: WAV by ourselves, everything else by the browser's decoder. */
import type { AudioClip } from '../../audio/audio-clip.ts'
import { SNIFFED_BYTES, sniffAudioFormat, unsupportedAudioError } from '../../audio/audio-format.ts'
import { decodeWavStream, readPieces } from '../../audio/audio-stream.ts'
import { createBlobSource } from '../../shared/blob-source.ts'
import { readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'

const SAMPLE_RATE = 16_000

/**
 * The sound of a file as a stream of clips. WAV of any length is read piece by piece; others are decoded as a whole, in a
 * page only: workers have no decoder.
 *
 * @throws EngineError `file/…`; `audio/unsupported-format`, `audio/damaged` for what cannot be decoded.
 */
export async function* readAudioFile(file: Blob, signal?: AbortSignal): AsyncGenerator<AudioClip> {
  const name = file instanceof File ? file.name : 'the recording'
  const source = createBlobSource(name, file)
  const head = await readBytes(source, 0, Math.min(SNIFFED_BYTES, source.byteLength))
  const format = sniffAudioFormat(head)
  if (format === 'wav') yield* decodeWavStream(readPieces(source, signal), name)
  else if (format === undefined) throw unsupportedAudioError(head, name, 'a sound file')
  else if (typeof OfflineAudioContext === 'undefined')
    throw unsupportedAudioError(head, name, 'a WAV file (a worker decodes no others)')
  else yield await decodeWhole(file, name)
}

async function decodeWhole(file: Blob, name: string): Promise<AudioClip> {
  // The context's rate is that of what it decodes.
  const context = new OfflineAudioContext(1, 1, SAMPLE_RATE)
  let decoded: AudioBuffer
  try {
    decoded = await context.decodeAudioData(await file.arrayBuffer())
  } catch (cause) {
    throw new EngineError('audio/damaged', {
      message: `${name}: the browser could not decode it: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: 'The file may be damaged, or of a kind that this browser does not play; WAV always works.',
      cause,
    })
  }
  const samples = new Float32Array(decoded.length)
  for (let channel = 0; channel < decoded.numberOfChannels; channel++) {
    const values = decoded.getChannelData(channel)
    for (let i = 0; i < samples.length; i++)
      samples[i] = (samples[i] as number) + (values[i] as number) / decoded.numberOfChannels
  }
  return { samples, sampleRate: SAMPLE_RATE }
}
