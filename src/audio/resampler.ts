import type { AudioClip } from './audio-clip.ts'

/*
 * Any rate to any other by a windowed sinc in polyphase form (Smith, "Digital Audio Resampling Home Page", CCRMA;
 * Kaiser's window and his formulas for its width). Nothing is rounded in time: output sample n stands at input time
 * n * from / to exactly, so the length of an hour stays right and pieces give what the whole gives, bit by bit.
 */

/** Attenuation that the window is made for: what would fold back as an alias is this much weaker. */
const STOP_BAND_DB = 90
/** Kaiser's formulas for that attenuation. */
const BETA = 0.1102 * (STOP_BAND_DB - 8.7)
const widthOf = (taps: number): number => (STOP_BAND_DB - 7.95) / (14.36 * taps)

/**
 * Zero crossings on each side, counted at the slower of the two rates. With 48, all below 88 % of the highest frequency
 * passes: 7 kHz of the 8 kHz that a rate of 16 kHz can hold.
 */
const CROSSINGS = 48

/**
 * Filters between two input samples that are kept. Common pairs of rates need 640 or fewer; others take two neighbours
 * of 512 and the line between them, which errs by less than the stop band lets through.
 */
const MAX_PHASES = 640
const INTERPOLATED_PHASES = 512

/** Changes the rate of a stream of samples. Output sample 0 stands where input sample 0 stood. */
export class Resampler {
  readonly from: number
  readonly to: number
  /** Input samples on each side of an output sample that have a say in it: so many are waited for. */
  readonly halfWidth: number
  readonly #phases: number
  /** (phases + 1, 2 halfWidth): the filter for each position between two input samples. */
  readonly #filters: Float32Array
  /** Output samples whose distance is a whole number of input samples. */
  readonly #period: number
  readonly #periodInput: number
  /** Input samples that are still needed, the first of them at time `#heldFrom`. */
  #held: Float32Array
  #heldFrom: number
  /** Position of the next output sample: whole input samples, and the rest in 1/period. */
  #at = 0
  #fraction = 0
  #inputCount = 0

  /** Rates in samples a second, whole numbers above 0. */
  constructor(from: number, to: number) {
    this.from = from
    this.to = to
    const divisor = greatestCommonDivisor(from, to)
    this.#period = to / divisor
    this.#periodInput = from / divisor
    this.#phases = this.#period <= MAX_PHASES ? this.#period : INTERPOLATED_PHASES
    // Even, so that the sums below go four at a time.
    this.halfWidth = from === to ? 0 : 2 * Math.ceil((CROSSINGS / 2) * Math.max(1, from / to))
    this.#filters = designFilters(this.#phases, this.halfWidth, Math.min(1, to / from))
    this.#heldFrom = -this.halfWidth
    this.#held = new Float32Array(this.halfWidth)
  }

  /** The output samples that are complete now. */
  push(samples: Float32Array): Float32Array {
    if (this.from === this.to) return samples.slice()
    const held = new Float32Array(this.#held.length + samples.length)
    held.set(this.#held)
    held.set(samples, this.#held.length)
    this.#held = held
    this.#inputCount += samples.length
    return this.#emit(this.#heldFrom + held.length - this.halfWidth)
  }

  /** The rest, as if silence followed: in all, one output sample for each that stands before the end of the input. */
  finish(): Float32Array {
    if (this.from === this.to) return new Float32Array(0)
    const end = this.#inputCount
    const held = new Float32Array(this.#held.length + this.halfWidth)
    held.set(this.#held)
    this.#held = held
    return this.#emit(end)
  }

  /** Begins a new stream. */
  reset(): void {
    this.#heldFrom = -this.halfWidth
    this.#held = new Float32Array(this.halfWidth)
    this.#at = 0
    this.#fraction = 0
    this.#inputCount = 0
  }

  /** All output samples that stand before input sample `end`. */
  #emit(end: number): Float32Array {
    const left = (end - this.#at) * this.#period - this.#fraction
    const output = new Float32Array(Math.max(0, Math.ceil(left / this.#periodInput)))
    const taps = 2 * this.halfWidth
    for (let n = 0; n < output.length; n++) {
      const first = this.#at - this.halfWidth + 1 - this.#heldFrom
      const position = (this.#fraction * this.#phases) / this.#period
      const phase = Math.floor(position)
      const share = position - phase
      let value = this.#dot(phase * taps, first)
      if (share > 0) value += share * (this.#dot((phase + 1) * taps, first) - value)
      output[n] = value
      this.#fraction += this.#periodInput
      const whole = Math.floor(this.#fraction / this.#period)
      this.#at += whole
      this.#fraction -= whole * this.#period
    }
    const unneeded = Math.max(0, Math.min(this.#held.length, this.#at - this.halfWidth + 1 - this.#heldFrom))
    this.#held = this.#held.slice(unneeded)
    this.#heldFrom += unneeded
    return output
  }

  #dot(filter: number, first: number): number {
    const filters = this.#filters
    const held = this.#held
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    for (let i = 0; i < 2 * this.halfWidth; i += 4) {
      a += (filters[filter + i] as number) * (held[first + i] as number)
      b += (filters[filter + i + 1] as number) * (held[first + i + 1] as number)
      c += (filters[filter + i + 2] as number) * (held[first + i + 2] as number)
      d += (filters[filter + i + 3] as number) * (held[first + i + 3] as number)
    }
    return a + b + c + d
  }
}

/** A whole clip at another rate. */
export function resample({ samples, sampleRate }: AudioClip, to: number): AudioClip {
  if (sampleRate === to) return { samples, sampleRate }
  const resampler = new Resampler(sampleRate, to)
  const body = resampler.push(samples)
  const rest = resampler.finish()
  const whole = new Float32Array(body.length + rest.length)
  whole.set(body)
  whole.set(rest, body.length)
  return { samples: whole, sampleRate: to }
}

/** A stream of clips at another rate. A change of rate within the stream ends one sound and begins the next. */
export async function* resampleStream(
  clips: AsyncIterable<AudioClip> | Iterable<AudioClip>,
  to: number,
): AsyncGenerator<AudioClip> {
  let resampler: Resampler | undefined
  for await (const { samples, sampleRate } of clips) {
    if (resampler && resampler.from !== sampleRate) {
      yield { samples: resampler.finish(), sampleRate: to }
      resampler = undefined
    }
    resampler ??= new Resampler(sampleRate, to)
    const output = resampler.push(samples)
    if (output.length > 0) yield { samples: output, sampleRate: to }
  }
  const rest = resampler?.finish()
  if (rest && rest.length > 0) yield { samples: rest, sampleRate: to }
}

/** Row p holds the filter for an output sample that stands p / phases of the way from one input sample to the next. */
function designFilters(phases: number, halfWidth: number, ratio: number): Float32Array {
  const taps = 2 * halfWidth
  // The stop band begins at half the slower rate; the edge stands in the middle of what lies before it.
  const cutoff = ratio * (1 - widthOf(2 * CROSSINGS))
  const filters = new Float32Array((phases + 1) * taps)
  const row = new Float64Array(taps)
  for (let phase = 0; phase <= phases; phase++) {
    let sum = 0
    for (let i = 0; i < taps; i++) {
      const time = i - halfWidth + 1 - phase / phases
      const angle = Math.PI * time * cutoff
      const value = (angle === 0 ? 1 : Math.sin(angle) / angle) * kaiser(time / halfWidth)
      row[i] = value
      sum += value
    }
    // Each filter passes a constant exactly, so that no phase is louder than another.
    for (let i = 0; i < taps; i++) filters[phase * taps + i] = (row[i] as number) / sum
  }
  return filters
}

function kaiser(x: number): number {
  return Math.abs(x) > 1 ? 0 : bessel0(BETA * Math.sqrt(1 - x * x)) / bessel0(BETA)
}

/** Modified Bessel function of order 0 by its series. */
function bessel0(x: number): number {
  let sum = 1
  let term = 1
  for (let k = 1; term > 1e-12 * sum; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
