/**
 * Blocks of 32 whose scale (and minimum) is searched: several roundings are tried, each gets its least-squares scale (as
 * in ggml's quantisation with an importance matrix), and the best is refined in turns, codes for the stored scale and
 * scale for the codes, until nothing gains.
 */
import { IQ4_VALUES, nearestIq4Code } from './code-tables.ts'
import { fitScaleAndMin, type OffsetSearch } from './fit-scale.ts'
import { halfAt } from './half.ts'
import { storeHalf } from './store-half.ts'
import type { TensorType } from './tensor-types.ts'

export const BLOCK_LENGTH = 32
/** Rounds of refinement; nearly all blocks stand still after two. */
const MAX_ROUNDS = 4

/** A block's codes as multiples of one scale. */
interface LevelGrid {
  /** The nearest code of each element of a block, scaled by `inverse`. A whole block at a time, since this is the hot loop. */
  readonly choose: (values: Float32Array, from: number, inverse: number, codes: Uint8Array) => void
  readonly nearest: (scaled: number) => number
  /** By code. Code 0 is never level 0, so that a scale can be told from it. */
  readonly levels: Float32Array
  /** For each try, the level that the element of largest magnitude is moved to before rounding. */
  readonly targets: readonly number[]
}

/** Moves of up to 1.6 levels around each end; the far end lets all codes be used where both ends are filled. */
function targetsAround(ends: readonly number[], step: number): number[] {
  return ends.flatMap((end) => Array.from({ length: 9 }, (_, index) => end + (index - 4) * step))
}

function symmetricGrid(zeroPoint: number): LevelGrid {
  const most = 2 * zeroPoint - 1
  const nearest = (scaled: number): number =>
    Math.max(0, Math.min(most, Math.floor(scaled + zeroPoint + 0.5)))
  return {
    nearest,
    choose(values, from, inverse, codes) {
      for (let i = 0; i < BLOCK_LENGTH; i++) {
        const code = Math.floor((values[from + i] as number) * inverse + zeroPoint + 0.5)
        codes[i] = Math.max(0, Math.min(most, code))
      }
    },
    levels: Float32Array.from({ length: most + 1 }, (_, code) => code - zeroPoint),
    targets: targetsAround([-zeroPoint, zeroPoint - 1], 0.4),
  }
}

const TABLE_GRID: LevelGrid = {
  nearest: nearestIq4Code,
  choose(values, from, inverse, codes) {
    for (let i = 0; i < BLOCK_LENGTH; i++) codes[i] = nearestIq4Code((values[from + i] as number) * inverse)
  },
  levels: IQ4_VALUES,
  targets: targetsAround([IQ4_VALUES[0] as number, IQ4_VALUES[15] as number], 5),
}

/** How a block of a type is fitted and stored. */
export interface BlockForm {
  /** Writes scale (and minimum) in front of the codes, for the least weighted error. */
  readonly fit: (
    values: Float32Array,
    from: number,
    weights: Float32Array,
    out: Uint8Array,
    at: number,
  ) => void
  /** By code: what the block's elements may be once scale and minimum are stored. */
  readonly levels: (out: Uint8Array, at: number, levels: Float32Array) => void
  /** The nearest of these levels. */
  readonly nearest: (value: number, levels: Float32Array) => number
  readonly pack: (codes: Uint8Array, out: Uint8Array, at: number) => void
  readonly levelCount: number
}

export const BLOCK_FORMS: Partial<Record<TensorType, BlockForm>> = {
  Q4_0: gridForm(symmetricGrid(8), packNibbles),
  Q5_0: gridForm(symmetricGrid(16), packFiveBits),
  IQ4_NL: gridForm(TABLE_GRID, packNibbles),
  Q4_1: offsetForm({ levels: 15, start: -1, step: 0.1, steps: 20 }, packNibbles),
  Q5_1: offsetForm({ levels: 31, start: -0.5, step: 0.1, steps: 15 }, packFiveBits),
}

/** f16 scale, then codes. */
function gridForm(grid: LevelGrid, pack: BlockForm['pack']): BlockForm {
  const codes = new Uint8Array(BLOCK_LENGTH)
  return {
    levelCount: grid.levels.length,
    fit(values, from, weights, out, at) {
      storeHalf(searchScale(values, from, weights, grid, codes), out, at)
      let scale = halfAt(out, at)
      let leastError = roundingError(values, from, weights, grid, scale, codes)
      for (let round = 0; round < MAX_ROUNDS; round++) {
        storeHalf(fitScale(values, from, weights, grid, codes).scale, out, at)
        const candidate = halfAt(out, at)
        if (candidate === scale) break
        const error = roundingError(values, from, weights, grid, candidate, codes)
        if (!(error < leastError)) break
        leastError = error
        scale = candidate
      }
      storeHalf(scale, out, at)
    },
    levels(out, at, levels) {
      const scale = halfAt(out, at)
      for (let code = 0; code < levels.length; code++) levels[code] = scale * (grid.levels[code] as number)
    },
    nearest(value, levels) {
      const scale = (levels[0] as number) / (grid.levels[0] as number)
      return grid.nearest(scale === 0 ? 0 : value / scale)
    },
    pack: (block, out, at) => pack(block, out, at + 2),
  }
}

/** Of several roundings to levels, the least-squares scale of the one with the least error; 0 for a block of zeros. */
function searchScale(
  values: Float32Array,
  from: number,
  weights: Float32Array,
  grid: LevelGrid,
  codes: Uint8Array,
): number {
  let extreme = 0
  for (let i = from; i < from + BLOCK_LENGTH; i++) {
    const value = values[i] as number
    if (Math.abs(value) > Math.abs(extreme)) extreme = value
  }
  let bestGain = 0
  let bestScale = 0
  for (const target of grid.targets) {
    const inverse = target / extreme
    if (!Number.isFinite(inverse)) return 0
    grid.choose(values, from, inverse, codes)
    const { scale, gain } = fitScale(values, from, weights, grid, codes)
    if (gain > bestGain) {
      bestGain = gain
      bestScale = scale
    }
  }
  return bestScale
}

/**
 * The least-squares scale of these codes. Minimising sum w(x - s·l)² over s means s = (sum w·x·l) / (sum w·l²), and
 * takes (sum w·x·l)² / (sum w·l²) off the error: the gain.
 */
function fitScale(
  values: Float32Array,
  from: number,
  weights: Float32Array,
  { levels }: LevelGrid,
  codes: Uint8Array,
): { scale: number; gain: number } {
  let sumXL = 0
  let sumLL = 0
  for (let i = 0; i < BLOCK_LENGTH; i++) {
    const level = levels[codes[i] as number] as number
    const weighted = (weights[i] as number) * level
    sumXL += weighted * (values[from + i] as number)
    sumLL += weighted * level
  }
  return sumLL > 0 ? { scale: sumXL / sumLL, gain: (sumXL * sumXL) / sumLL } : { scale: 0, gain: 0 }
}

/** Chooses the nearest code of each element; returns the weighted squared error. */
function roundingError(
  values: Float32Array,
  from: number,
  weights: Float32Array,
  grid: LevelGrid,
  scale: number,
  codes: Uint8Array,
): number {
  grid.choose(values, from, scale === 0 ? 0 : 1 / scale, codes)
  let error = 0
  for (let i = 0; i < BLOCK_LENGTH; i++) {
    const level = grid.levels[codes[i] as number] as number
    error += (weights[i] as number) * ((values[from + i] as number) - scale * level) ** 2
  }
  return error
}

/** f16 scale, f16 minimum, then codes. */
function offsetForm(search: OffsetSearch, pack: BlockForm['pack']): BlockForm {
  return {
    levelCount: search.levels + 1,
    fit(values, from, weights, out, at) {
      const { scale, min } = fitScaleAndMin(values, from, BLOCK_LENGTH, Float64Array.from(weights), search)
      storeHalf(scale, out, at)
      storeHalf(-min, out, at + 2)
    },
    levels(out, at, levels) {
      const scale = halfAt(out, at)
      const min = halfAt(out, at + 2)
      for (let code = 0; code < levels.length; code++) levels[code] = Math.fround(scale * code) + min
    },
    nearest(value, levels) {
      const min = levels[0] as number
      const scale = ((levels[search.levels] as number) - min) / search.levels
      const code = scale === 0 ? 0 : Math.floor((value - min) / scale + 0.5)
      return Math.max(0, Math.min(search.levels, code))
    },
    pack: (block, out, at) => pack(block, out, at + 4),
  }
}

/** Elements 0..15 in the low halves of 16 bytes, 16..31 in the high halves. */
function packNibbles(codes: Uint8Array, out: Uint8Array, at: number): void {
  for (let j = 0; j < 16; j++) {
    out[at + j] = ((codes[j] as number) & 15) | (((codes[j + 16] as number) & 15) << 4)
  }
}

/** u32 of fifth bits, then nibbles. */
function packFiveBits(codes: Uint8Array, out: Uint8Array, at: number): void {
  for (let byte = 0; byte < 4; byte++) {
    let bits = 0
    for (let bit = 0; bit < 8; bit++) bits |= ((codes[byte * 8 + bit] as number) >> 4) << bit
    out[at + byte] = bits
  }
  packNibbles(codes, out, at + 4)
}
