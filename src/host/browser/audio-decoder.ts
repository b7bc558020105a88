import type { AudioClip } from '../../audio/audio-clip.ts'
import { AUDIO_FORMAT_NAMES, type AudioFormat } from '../../audio/audio-format.ts'
import { decodeWavStream, readPieces } from '../../audio/audio-stream.ts'
import { type AudioDecoder, detectAudioFormat } from '../../audio/decoder.ts'
import { throwIfAborted } from '../../shared/abort.ts'
import { type ByteSource, readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'

/** Browsers decode compressed files as a whole and then change the rate: to what recognisers take. */
const SAMPLE_RATE = 16000

/**
 * Compressed files above this are refused: browsers hold all samples of all channels at once, 230 MB for each channel of
 * an hour. An hour of MP3 at 128 kbit/s has 58 MB. WAV files stream and have no limit.
 */
const MAX_COMPRESSED_BYTES = 2 ** 26

/** WAV files by code of ours, piece by piece; all else as far as the browser decodes it, as one clip. */
export function createAudioDecoder(): AudioDecoder {
  return {
    async *decode(source, signal) {
      throwIfAborted(signal)
      const format = await detectAudioFormat(source)
      if (format === 'wav') {
        yield* decodeWavStream(readPieces(source, signal), source.name)
        return
      }
      const clip = await decodeWhole(source, format)
      throwIfAborted(signal)
      yield clip
    },
  }
}

async function decodeWhole(source: ByteSource, format: AudioFormat): Promise<AudioClip> {
  const formatName = AUDIO_FORMAT_NAMES[format]
  if (source.byteLength > MAX_COMPRESSED_BYTES) {
    throw new EngineError('audio/too-long', {
      message:
        `${source.name}: expected at most ${MAX_COMPRESSED_BYTES} bytes of compressed sound, ` +
        `found ${source.byteLength}.`,
      hint: 'Cut it into parts, or convert it to WAV, which is read piece by piece.',
    })
  }
  if (typeof OfflineAudioContext === 'undefined') {
    throw new EngineError('audio/decoder-missing', {
      message: `${source.name}: files in ${formatName} format need OfflineAudioContext, which is not here.`,
      hint: 'Decode in the page instead of a worker, or convert the file to WAV.',
    })
  }
  const bytes = await readBytes(source, 0, source.byteLength)
  const context = new OfflineAudioContext(1, 1, SAMPLE_RATE)
  const sound = await context.decodeAudioData(bytes.buffer as ArrayBuffer).catch((cause: unknown) => {
    throw new EngineError('audio/damaged', {
      message: `${source.name}: expected sound in ${formatName} format, but this browser could not decode it.`,
      hint: 'The file may be damaged, or this browser may not know the format; convert it to WAV or MP3.',
      cause,
    })
  })
  const samples = new Float32Array(sound.length)
  for (let channel = 0; channel < sound.numberOfChannels; channel++) {
    for (const [i, sample] of sound.getChannelData(channel).entries()) {
      samples[i] = (samples[i] as number) + sample / sound.numberOfChannels
    }
  }
  return { samples, sampleRate: sound.sampleRate }
}
