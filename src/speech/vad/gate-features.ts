import { RealFft } from '../../audio/fft.ts'
import { hannWindow, MelFilters } from '../../audio/mel-filters.ts'

/* What the small network hears; scripts/train-gate/features.py computes the same for training. */

/** Samples of one step, 32 ms. */
export const GATE_STEP = 512
const HOP = 256
const WINDOW = 512
const BINS = WINDOW / 2 + 1
const BANDS = 32
/** Two frames a step: 32 bands above their own running floor, then 32 against the mean of their frame. */
export const GATE_FEATURES = 4 * BANDS
const POWER_FLOOR = 1e-7
/** Share of the way that the floor of a band goes towards a quieter and towards a louder frame. */
const FALL = 0.2
const RISE = 0.008
const SCALE = 4
const LOWEST = -1
const HIGHEST = 3

export class GateFeatures {
  readonly #fft = new RealFft(WINDOW)
  readonly #hann = hannWindow(WINDOW)
  readonly #filters = new MelFilters({
    bands: BANDS,
    bins: BINS,
    sampleRate: 16000,
    lowestHz: 60,
    highestHz: 8000,
  })
  readonly #heard = new Float32Array(HOP + GATE_STEP)
  readonly #frame = new Float64Array(WINDOW)
  readonly #power = new Float64Array(BINS)
  readonly #mel = new Float64Array(BANDS)
  readonly #floor = new Float64Array(BANDS)
  readonly #features = new Float32Array(GATE_FEATURES)
  #isFirst = true

  /** (128); the same array each time. `samples` are the next 512 of 16 kHz. */
  step(samples: Float32Array): Float32Array {
    this.#heard.copyWithin(0, GATE_STEP)
    this.#heard.set(samples, HOP)
    for (let frame = 0; frame < 2; frame++) this.#addFrame(frame * HOP, frame * 2 * BANDS)
    return this.#features
  }

  /** Forgets what was heard, and how loud it was. */
  reset(): void {
    this.#heard.fill(0)
    this.#isFirst = true
  }

  #addFrame(from: number, to: number): void {
    for (let i = 0; i < WINDOW; i++) {
      this.#frame[i] = (this.#heard[from + i] as number) * (this.#hann[i] as number)
    }
    this.#fft.power(this.#frame, this.#power)
    const mel = this.#mel
    this.#filters.apply(this.#power, mel)
    let sum = 0
    for (let band = 0; band < BANDS; band++) {
      const level = Math.log((mel[band] as number) + POWER_FLOOR)
      mel[band] = level
      sum += level
    }
    if (this.#isFirst) this.#floor.set(mel)
    this.#isFirst = false
    for (let band = 0; band < BANDS; band++) {
      const level = mel[band] as number
      const above = level - (this.#floor[band] as number)
      this.#features[to + band] = scaled(above)
      this.#features[to + BANDS + band] = scaled(level - sum / BANDS)
      this.#floor[band] = (this.#floor[band] as number) + above * (above < 0 ? FALL : RISE)
    }
  }
}

function scaled(value: number): number {
  return Math.min(HIGHEST, Math.max(LOWEST, value / SCALE))
}
