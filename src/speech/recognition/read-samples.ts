import { MAX_SAMPLE_RATE, MIN_SAMPLE_RATE } from '../../audio/audio-clip.ts'
import { resampleStream } from '../../audio/resampler.ts'
import { throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { AudioClip } from '../types.ts'

/** Of a long clip at a time, so that no second copy of an hour is made. */
const PIECE_SECONDS = 10

/**
 * Samples at `sampleRate` of a clip or a stream of clips.
 *
 * @throws EngineError `audio/bad-clip` for what is no sound.
 */
export async function* readSamples(
  audio: AudioClip | AsyncIterable<AudioClip>,
  sampleRate: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Float32Array, undefined, undefined> {
  for await (const { samples } of resampleStream(cutClips(audio, signal), sampleRate)) yield samples
}

async function* cutClips(
  audio: AudioClip | AsyncIterable<AudioClip>,
  signal: AbortSignal | undefined,
): AsyncGenerator<AudioClip, undefined, undefined> {
  for await (const clip of Symbol.asyncIterator in audio ? audio : [audio]) {
    throwIfAborted(signal)
    checkClip(clip)
    const { samples, sampleRate } = clip
    const pieceSamples = sampleRate * PIECE_SECONDS
    for (let first = 0; first < samples.length; first += pieceSamples)
      yield { samples: samples.subarray(first, first + pieceSamples), sampleRate }
  }
}

function checkClip({ samples, sampleRate }: AudioClip): void {
  const isRate =
    Number.isInteger(sampleRate) && sampleRate >= MIN_SAMPLE_RATE && sampleRate <= MAX_SAMPLE_RATE
  if (!(samples instanceof Float32Array) || !isRate) {
    throw new EngineError('audio/bad-clip', {
      message: `A clip has "samples", a Float32Array, and a "sampleRate" from ${MIN_SAMPLE_RATE} to ${MAX_SAMPLE_RATE}; found ${typeof samples} and ${String(sampleRate)}.`,
    })
  }
  const broken = samples.findIndex((sample) => !Number.isFinite(sample))
  if (broken < 0) return
  throw new EngineError('audio/bad-clip', {
    message: `Sample ${broken} is ${String(samples[broken])}; expected numbers from -1 to 1.`,
  })
}
