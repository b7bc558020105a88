/**
 * Float32 to blocks of 32 whose scale (and minimum) is searched for the least weighted squared error, instead of
 * being read off the largest element as `encodeBlocks` does. With the mean squares of a layer's inputs as importance,
 * the error that is minimised is that of the layer's output, as far as inputs are uncorrelated.
 *
 * Method: several roundings are tried, each gets its least-squares scale (as in ggml's quantisation with an importance
 * matrix); then the best is refined in turns, codes for the stored scale and scale for the codes, until nothing gains.
 */
import { EngineError } from '../shared/errors.ts'
import { IQ4_VALUES, nearestIq4Code } from './code-tables.ts'
import { encodeBlocks } from './encode.ts'
import { fitScaleAndMin, type OffsetSearch } from './fit-scale.ts'
import { halfAt } from './half.ts'
import { storeHalf } from './store-half.ts'
import { byteLengthOf, TENSOR_TYPES, type TensorType } from './tensor-types.ts'

const LENGTH = 32
/** Rounds of refinement; nearly all blocks stand still after two. */
const MAX_ROUNDS = 4
/** Share of a row's mean importance that every column keeps, so that inputs the calibration never saw are not given up. */
const LEAST_IMPORTANCE = 0.01

/** A block's codes as multiples of one scale. */
interface LevelGrid {
  readonly toCode: (scaled: number) => number
  /** By code. */
  readonly levels: Float32Array
  /** For each try, the level that the element of largest magnitude is moved to before rounding. */
  readonly targets: readonly number[]
}

/** Moves of up to 1.6 levels around each end; the far end lets all codes be used where both ends are filled. */
function symmetricGrid(zeroPoint: number): LevelGrid {
  const most = 2 * zeroPoint - 1
  const moves = Array.from({ length: 17 }, (_, step) => (step - 8) * 0.2)
  return {
    toCode: (scaled) => Math.max(0, Math.min(most, Math.floor(scaled + zeroPoint + 0.5))),
    levels: Float32Array.from({ length: most + 1 }, (_, code) => code - zeroPoint),
    targets: moves.flatMap((move) => [-zeroPoint + move, zeroPoint - 1 + move]),
  }
}

const TABLE_GRID: LevelGrid = {
  toCode: nearestIq4Code,
  levels: IQ4_VALUES,
  targets: Array.from({ length: 17 }, (_, step) => (step - 8) * 2.5).flatMap((move) => [
    (IQ4_VALUES[0] as number) + move,
    (IQ4_VALUES[15] as number) + move,
  ]),
}

type PackBlock = (codes: Uint8Array, out: Uint8Array, at: number) => void
type EncodeBlock = (
  values: Float32Array,
  from: number,
  weights: Float64Array,
  out: Uint8Array,
  at: number,
) => void

const ENCODERS: Partial<Record<TensorType, EncodeBlock>> = {
  Q4_0: levelEncoder(symmetricGrid(8), packNibbles, 2),
  Q5_0: levelEncoder(symmetricGrid(16), packFiveBits, 2),
  IQ4_NL: levelEncoder(TABLE_GRID, packNibbles, 2),
  Q4_1: offsetEncoder({ levels: 15, start: -1, step: 0.1, steps: 20 }, packNibbles),
  Q5_1: offsetEncoder({ levels: 31, start: -0.5, step: 0.1, steps: 15 }, packFiveBits),
}

/** True for types whose blocks are searched here; others are encoded as `encodeBlocks` does. */
export function isSearchable(type: TensorType): boolean {
  return ENCODERS[type] !== undefined
}

/**
 * Encodes whole rows into fresh bytes. Types without a search here are encoded plainly.
 *
 * @param values (rows, columns); `columns` is a multiple of the type's block length.
 * @param importance Weight of each column's error, (columns); at least 0. Default: all alike.
 * @throws EngineError as `encodeBlocks`, and `format/wrong-importance` for a list of another length than `columns`.
 */
export function encodeSearched(
  type: TensorType,
  values: Float32Array,
  columns: number,
  importance?: Float32Array,
): Uint8Array {
  const encode = ENCODERS[type]
  if (importance !== undefined && importance.length !== columns) {
    throw new EngineError('format/wrong-importance', {
      message: `Rows of ${columns} elements need ${columns} importances, found ${importance.length}.`,
    })
  }
  if (encode === undefined) return encodeBlocks(type, values)
  checkFinite(type, values)
  const weights = columnWeights(columns, importance)
  const out = new Uint8Array(byteLengthOf(type, values.length))
  const { blockBytes } = TENSOR_TYPES[type]
  for (let block = 0, at = 0; block < values.length; block += LENGTH, at += blockBytes) {
    const column = block % columns
    encode(values, block, weights.subarray(column, column + LENGTH), out, at)
  }
  return out
}

function columnWeights(columns: number, importance: Float32Array | undefined): Float64Array {
  if (importance === undefined) return new Float64Array(columns).fill(1)
  const mean = importance.reduce((sum, value) => sum + value, 0) / columns
  if (!(mean > 0)) return new Float64Array(columns).fill(1)
  return Float64Array.from(importance, (value) => value / mean + LEAST_IMPORTANCE)
}

function checkFinite(type: TensorType, values: Float32Array): void {
  const index = values.findIndex((value) => !Number.isFinite(value))
  if (index === -1) return
  throw new EngineError('format/value-not-finite', {
    message: `${type} stores finite values only; element ${index} is ${values[index]}.`,
    hint: 'The checkpoint is damaged, or this tensor must stay in F32.',
  })
}

/** f16 scale, then codes. */
function levelEncoder(grid: LevelGrid, pack: PackBlock, headBytes: number): EncodeBlock {
  const codes = new Uint8Array(LENGTH)
  const best = new Uint8Array(LENGTH)
  return (values, from, weights, out, at) => {
    storeHalf(searchLevelScale(values, from, weights, grid), out, at)
    let scale = halfAt(out, at)
    let leastError = chooseCodes(values, from, weights, grid, scale, best)
    for (let round = 0; round < MAX_ROUNDS; round++) {
      storeHalf(fitLevelScale(values, from, weights, grid, best), out, at)
      const candidate = halfAt(out, at)
      if (candidate === scale) break
      const error = chooseCodes(values, from, weights, grid, candidate, codes)
      if (!(error < leastError)) break
      leastError = error
      scale = candidate
      best.set(codes)
    }
    storeHalf(scale, out, at)
    pack(best, out, at + headBytes)
  }
}

/** Of several roundings to levels, the least-squares scale of the one with the least error; 0 for a block of zeros. */
function searchLevelScale(
  values: Float32Array,
  from: number,
  weights: Float64Array,
  grid: LevelGrid,
): number {
  let extreme = 0
  for (let i = from; i < from + LENGTH; i++) {
    const value = values[i] as number
    if (Math.abs(value) > Math.abs(extreme)) extreme = value
  }
  let bestGain = 0
  let bestScale = 0
  for (const target of grid.targets) {
    const inverse = target / extreme
    if (!Number.isFinite(inverse)) return 0
    let sumXL = 0
    let sumLL = 0
    for (let i = 0; i < LENGTH; i++) {
      const x = values[from + i] as number
      const level = grid.levels[grid.toCode(x * inverse)] as number
      const weighted = (weights[i] as number) * level
      sumXL += weighted * x
      sumLL += weighted * level
    }
    // Minimising sum w*(x - s*l)^2 over s means maximising (sum w*x*l)^2 / (sum w*l^2).
    const gain = sumLL > 0 ? (sumXL * sumXL) / sumLL : 0
    if (gain > bestGain) {
      bestGain = gain
      bestScale = sumXL / sumLL
    }
  }
  return bestScale
}

function fitLevelScale(
  values: Float32Array,
  from: number,
  weights: Float64Array,
  { levels }: LevelGrid,
  codes: Uint8Array,
): number {
  let sumXL = 0
  let sumLL = 0
  for (let i = 0; i < LENGTH; i++) {
    const level = levels[codes[i] as number] as number
    const weighted = (weights[i] as number) * level
    sumXL += weighted * (values[from + i] as number)
    sumLL += weighted * level
  }
  return sumLL > 0 ? sumXL / sumLL : 0
}

/** The nearest code of each element; returns the weighted squared error. */
function chooseCodes(
  values: Float32Array,
  from: number,
  weights: Float64Array,
  { toCode, levels }: LevelGrid,
  scale: number,
  codes: Uint8Array,
): number {
  let error = 0
  for (let i = 0; i < LENGTH; i++) {
    const x = values[from + i] as number
    const code = toCode(scale === 0 ? 0 : x / scale)
    codes[i] = code
    error += (weights[i] as number) * (x - scale * (levels[code] as number)) ** 2
  }
  return error
}

/** f16 scale, f16 minimum, then codes. */
function offsetEncoder(search: OffsetSearch, pack: PackBlock): EncodeBlock {
  const codes = new Uint8Array(LENGTH)
  return (values, from, weights, out, at) => {
    const fit = fitScaleAndMin(values, from, LENGTH, weights, search)
    storeHalf(fit.scale, out, at)
    storeHalf(-fit.min, out, at + 2)
    const scale = halfAt(out, at)
    const min = halfAt(out, at + 2)
    for (let i = 0; i < LENGTH; i++) {
      const code = scale === 0 ? 0 : Math.floor(((values[from + i] as number) - min) / scale + 0.5)
      codes[i] = Math.max(0, Math.min(search.levels, code))
    }
    pack(codes, out, at + 4)
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
