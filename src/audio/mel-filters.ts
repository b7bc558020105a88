/*
 * Triangles on the mel scale of Slaney's Auditory Toolbox, each of area 1, as in librosa and in the tables of Whisper:
 * linear up to 1 kHz, then logarithmic. Nine in ten entries of the table are zero; only the others are kept.
 */

const LINEAR_HZ_PER_MEL = 200 / 3
const BREAK_HZ = 1000
const BREAK_MEL = BREAK_HZ / LINEAR_HZ_PER_MEL
const LOG_STEP = Math.log(6.4) / 27

interface MelFilter {
  readonly firstBin: number
  readonly weights: Float64Array
}

export interface MelFilterSettings {
  readonly bands: number
  /** Of the spectrum, half the length of the transform plus one. */
  readonly bins: number
  readonly sampleRate: number
  readonly lowestHz: number
  readonly highestHz: number
}

/** Sums the bins of a power spectrum into bands. */
export class MelFilters {
  readonly #filters: readonly MelFilter[]

  constructor(settings: MelFilterSettings) {
    const { bands, bins, sampleRate, lowestHz, highestHz } = settings
    const lowest = melOf(lowestHz)
    const step = (melOf(highestHz) - lowest) / (bands + 1)
    const edges = Array.from({ length: bands + 2 }, (_, i) => hzOf(lowest + i * step))
    const hzPerBin = sampleRate / 2 / (bins - 1)
    this.#filters = Array.from({ length: bands }, (_, band) => {
      const [left, middle, right] = edges.slice(band, band + 3) as [number, number, number]
      const firstBin = Math.floor(left / hzPerBin) + 1
      const count = Math.max(0, Math.min(Math.ceil(right / hzPerBin), bins) - firstBin)
      const weights = Float64Array.from({ length: count }, (_, i) => {
        const hz = (firstBin + i) * hzPerBin
        return (Math.min((hz - left) / (middle - left), (right - hz) / (right - middle)) * 2) / (right - left)
      })
      return { firstBin, weights }
    })
  }

  apply(power: Float64Array, mel: Float64Array): void {
    for (const [band, { firstBin, weights }] of this.#filters.entries()) {
      let sum = 0
      for (let i = 0; i < weights.length; i++) sum += (weights[i] as number) * (power[firstBin + i] as number)
      mel[band] = sum
    }
  }
}

function melOf(hz: number): number {
  return hz < BREAK_HZ ? hz / LINEAR_HZ_PER_MEL : BREAK_MEL + Math.log(hz / BREAK_HZ) / LOG_STEP
}

function hzOf(mel: number): number {
  return mel < BREAK_MEL ? mel * LINEAR_HZ_PER_MEL : BREAK_HZ * Math.exp((mel - BREAK_MEL) * LOG_STEP)
}

/** The window of Hann as it repeats, `length` samples apart: its last value is not zero. */
export function hannWindow(length: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / length))
}
