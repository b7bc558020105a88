import { EngineError } from '../shared/errors.ts'
import { RealFft } from './fft.ts'
import { hannWindow, MelFilters } from './mel-filters.ts'

/*
 * Log-mel features of Whisper: openai/whisper `audio.py`, and `WhisperFeatureExtractor` of Transformers 5.18 in its
 * double-precision form. A stream: what is heard first is transformed while the rest is still being said.
 */

export const MEL_SAMPLE_RATE = 16000
/** Samples from one frame to the next. */
export const MEL_HOP = 160
const FRAME_SAMPLES = 400
const MARGIN = FRAME_SAMPLES / 2
const BINS = FRAME_SAMPLES / 2 + 1
const WHISPER_WINDOW_SECONDS = 30

/** Power below this counts as this, so log10 stays finite. */
const POWER_FLOOR = 1e-10
const LOG_FLOOR = -10
/** Powers of ten below the loudest value at which a window is cut off. */
const DYNAMIC_RANGE = 8

export interface WhisperMelOptions {
  /** 80, or 128 for large-v3. Default 80. */
  readonly bands?: number
  /** Length of the window that is filled up with silence. Default 30. */
  readonly windowSeconds?: number
}

export class WhisperMel {
  readonly bands: number
  /** Of a whole window: 100 a second. */
  readonly windowFrames: number
  readonly #windowSamples: number
  readonly #filters: MelFilters
  readonly #fft = new RealFft(FRAME_SAMPLES)
  readonly #hann = hannWindow(FRAME_SAMPLES)
  readonly #frame = new Float64Array(FRAME_SAMPLES)
  readonly #power = new Float64Array(BINS)
  readonly #mel: Float64Array
  #samples = new Float32Array(0)
  #sampleCount = 0
  /** log10 of the bands, (frames, bands). */
  #logMel = new Float32Array(0)
  /** Frames that no later sample can change. */
  #finalFrames = 0

  constructor({ bands = 80, windowSeconds = WHISPER_WINDOW_SECONDS }: WhisperMelOptions = {}) {
    this.bands = bands
    this.#windowSamples = windowSeconds * MEL_SAMPLE_RATE
    this.windowFrames = this.#windowSamples / MEL_HOP
    const sampleRate = MEL_SAMPLE_RATE
    this.#filters = new MelFilters({ bands, bins: BINS, sampleRate, lowestHz: 0, highestHz: sampleRate / 2 })
    this.#mel = new Float64Array(bands)
  }

  /** Samples of 16 kHz since the last `reset`. */
  get sampleCount(): number {
    return this.#sampleCount
  }

  /** Transforms what is complete. Throws `audio/too-long` beyond the window. */
  push(samples: Float32Array): void {
    const count = this.#sampleCount + samples.length
    if (count > this.#windowSamples) {
      throw new EngineError('audio/too-long', {
        message: `Expected at most ${this.#windowSamples} samples in a window of features, found ${count}.`,
        hint: 'Cut the sound into windows first.',
      })
    }
    this.#samples = grown(this.#samples, this.#sampleCount, count)
    this.#samples.set(samples, this.#sampleCount)
    this.#sampleCount = count
    // One sample more than a frame needs: the first frame mirrors sample 200.
    const complete = Math.floor((count - MARGIN - 1) / MEL_HOP) + 1
    this.#transform(Math.max(this.#finalFrames, Math.min(complete, this.windowFrames)))
    this.#finalFrames = Math.max(this.#finalFrames, Math.min(complete, this.windowFrames))
  }

  /**
   * The first `frames` frames of the window, (frames, bands), with silence after the last sample; the loudest value,
   * to which all others are held, is that of the window. More samples may be pushed afterwards.
   */
  features(frames: number = this.windowFrames): Float32Array {
    const touched = Math.min(Math.ceil((this.#sampleCount + MARGIN) / MEL_HOP), this.windowFrames)
    this.#transform(touched)
    const logMel = this.#logMel.subarray(0, touched * this.bands)
    let loudest = LOG_FLOOR
    for (let i = 0; i < logMel.length; i++) loudest = Math.max(loudest, logMel[i] as number)
    const floor = Math.max(LOG_FLOOR, loudest - DYNAMIC_RANGE)
    const features = new Float32Array(frames * this.bands).fill((floor + 4) / 4)
    const known = Math.min(features.length, logMel.length)
    for (let i = 0; i < known; i++) features[i] = (Math.max(logMel[i] as number, floor) + 4) / 4
    return features
  }

  /** Begins a new window. */
  reset(): void {
    this.#sampleCount = 0
    this.#finalFrames = 0
  }

  /** Frames from the first that is not final up to `end`, with silence after the last sample. */
  #transform(end: number): void {
    if (end <= this.#finalFrames) return
    this.#logMel = grown(this.#logMel, this.#finalFrames * this.bands, end * this.bands)
    for (let index = this.#finalFrames; index < end; index++) {
      this.#fillFrame(index * MEL_HOP - MARGIN)
      this.#fft.power(this.#frame, this.#power)
      this.#filters.apply(this.#power, this.#mel)
      for (let band = 0; band < this.bands; band++) {
        const value = Math.log10(Math.max(this.#mel[band] as number, POWER_FLOOR))
        this.#logMel[index * this.bands + band] = value
      }
    }
  }

  #fillFrame(start: number): void {
    const last = this.#windowSamples - 1
    for (let i = 0; i < FRAME_SAMPLES; i++) {
      let at = Math.abs(start + i)
      if (at > last) at = 2 * last - at
      this.#frame[i] = at < this.#sampleCount ? (this.#samples[at] as number) * (this.#hann[i] as number) : 0
    }
  }
}

/** An array with room for `needed` values, of which the first `used` stay. Doubles, so that pushes stay cheap. */
function grown(array: Float32Array, used: number, needed: number): Float32Array<ArrayBuffer> {
  if (needed <= array.length) return array as Float32Array<ArrayBuffer>
  const larger = new Float32Array(Math.max(needed, 2 * array.length))
  larger.set(array.subarray(0, used))
  return larger
}
