/**
 * Least-squares fits of a block's scale (and minimum) to a small set of codes, as the K types need them.
 *
 * Methods: ggml-org/ggml `src/ggml-quants.c`. The search runs in float64: only stored values must be exact.
 */
import { IQ4_VALUES, nearestIq4Code } from './code-tables.ts'

/** Blocks whose largest magnitude is below this hold zeros: a reciprocal of it would lose all precision. */
const SMALLEST_MAGNITUDE = 1e-15

export interface OffsetFit {
  scale: number
  /** From 0 on; subtracted, so a value is `scale * code - min`. */
  min: number
}

export interface OffsetSearch {
  /** Largest code. */
  readonly levels: number
  /** Where the search starts, in codes relative to `levels`, and how far each of its steps goes. */
  readonly start: number
  readonly step: number
  readonly steps: number
}

/** Fits `scale * code - min` with codes 0..levels to values[from..from+count), weighted. */
export function fitScaleAndMin(
  values: Float32Array,
  from: number,
  count: number,
  weights: Float64Array,
  search: OffsetSearch,
): OffsetFit {
  let low = 0 // the minimum may not be positive: zero must stay representable
  let high = values[from] as number
  let sumW = 0
  let sumX = 0
  for (let i = 0; i < count; i++) {
    const x = values[from + i] as number
    const w = weights[i] as number
    if (x < low) low = x
    if (x > high) high = x
    sumW += w
    sumX += w * x
  }
  const range = high - low
  if (range < SMALLEST_MAGNITUDE) return { scale: 0, min: 0 - low }

  const { levels } = search
  let scale = range / levels
  let base = low
  let leastError = Number.POSITIVE_INFINITY
  // Attempt -1 is the plain scale over the whole range; it only sets the error to beat.
  for (let attempt = -1; attempt <= search.steps; attempt++) {
    const shift = attempt < 0 ? 0 : search.start + search.step * attempt
    const inverse = (levels + shift) / range
    let sumL = 0
    let sumL2 = 0
    let sumXL = 0
    for (let i = 0; i < count; i++) {
      const x = values[from + i] as number
      const code = Math.max(0, Math.min(levels, Math.floor((x - base) * inverse + 0.5)))
      const weighted = (weights[i] as number) * code
      sumL += weighted
      sumL2 += weighted * code
      sumXL += weighted * x
    }
    let candidateScale = scale
    let candidateBase = base
    if (attempt >= 0) {
      const determinant = sumW * sumL2 - sumL * sumL
      if (!(determinant > 0)) continue
      candidateScale = (sumW * sumXL - sumL * sumX) / determinant
      candidateBase = (sumL2 * sumX - sumL * sumXL) / determinant
      if (candidateBase > 0) {
        candidateBase = 0
        candidateScale = sumXL / sumL2
      }
    }
    // The weighted squared error without its constant part, the sum of w*x^2.
    const error =
      candidateScale * (candidateScale * sumL2 + 2 * candidateBase * sumL - 2 * sumXL) +
      candidateBase * (candidateBase * sumW - 2 * sumX)
    if (error < leastError) {
      leastError = error
      scale = candidateScale
      base = candidateBase
    }
  }
  return { scale, min: 0 - base }
}

// Candidates for the inverse scale, times the extreme value: the plain choice and moves of up to 0.9 codes.
const SIX_BIT_TARGETS = [0, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(
  (move) => -(32 + 0.1 * move),
)
const TABLE_TARGETS = Array.from({ length: 15 }, (_, step) => (IQ4_VALUES[0] as number) + (step - 7))

/** Fits `scale * code` with codes -32..31 to 16 values, weighted by their squares. 0 for a block of zeros. */
export function fitSixBitScale(values: Float32Array, from: number): number {
  return searchScale(values, from, 16, SIX_BIT_TARGETS, toSixBitLevel)
}

function toSixBitLevel(x: number): number {
  return Math.max(-32, Math.min(31, Math.floor(x + 0.5)))
}

/** Fits `scale * table value` of IQ4_NL to 32 values, weighted by their squares. 0 for a block of zeros. */
export function fitTableScale(values: Float32Array, from: number): number {
  return searchScale(values, from, 32, TABLE_TARGETS, toTableLevel)
}

function toTableLevel(x: number): number {
  return IQ4_VALUES[nearestIq4Code(x)] as number
}

/**
 * Tries several roundings to levels; each gets its least-squares scale, and the one with the least error wins.
 * With weights w, minimising the error means maximising (sum w*x*l)^2 / (sum w*l^2).
 *
 * @param targets For each try, the level that the value of largest magnitude is moved to before rounding.
 */
function searchScale(
  values: Float32Array,
  from: number,
  count: number,
  targets: readonly number[],
  toLevel: (x: number) => number,
): number {
  const extreme = signedExtreme(values, from, count)
  if (Math.abs(extreme) < SMALLEST_MAGNITUDE) return 0
  let bestGain = 0
  let bestScale = 0
  for (const target of targets) {
    const inverse = target / extreme
    let sumXL = 0
    let sumL2 = 0
    for (let i = from; i < from + count; i++) {
      const x = values[i] as number
      const level = toLevel(x * inverse)
      const weighted = x * x * level
      sumXL += weighted * x
      sumL2 += weighted * level
    }
    const gain = sumL2 > 0 ? (sumXL * sumXL) / sumL2 : 0
    if (gain > bestGain) {
      bestGain = gain
      bestScale = sumXL / sumL2
    }
  }
  return bestScale
}

function signedExtreme(values: Float32Array, from: number, count: number): number {
  let extreme = 0
  for (let i = from; i < from + count; i++) {
    const value = values[i] as number
    if (Math.abs(value) > Math.abs(extreme)) extreme = value
  }
  return extreme
}
