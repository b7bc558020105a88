/**
 * Float32 to blocks of 32 whose scales are searched for the least weighted squared error, instead of being read off the
 * largest element as `encodeBlocks` does. With the mean squares of a layer's inputs as importance, the error that is
 * minimised is that of the layer's output, as far as inputs are uncorrelated; with error feedback correlated inputs
 * count as well.
 */
import { EngineError } from '../shared/errors.ts'
import { encodeBlocks } from './encode.ts'
import type { ErrorFeedback } from './error-feedback.ts'
import { BLOCK_FORMS, BLOCK_LENGTH, type BlockForm } from './searched-blocks.ts'
import { byteLengthOf, TENSOR_TYPES, type TensorType } from './tensor-types.ts'

/** Share of a row's mean importance that every column keeps, so that inputs the calibration never saw are not given up. */
const LEAST_IMPORTANCE = 0.01

/** What is known of the inputs of the layer whose weights are encoded. */
export interface InputStatistics {
  /** Weight of each column's error, at least 0: mean squares. */
  readonly importance: Float32Array // (columns)
  /** How errors of columns make up for each other. */
  readonly feedback?: ErrorFeedback | undefined
}

/** True for types whose blocks are searched here; others are encoded as `encodeBlocks` does. */
export function isSearchable(type: TensorType): boolean {
  return BLOCK_FORMS[type] !== undefined
}

/**
 * Encodes whole rows into fresh bytes. Types without a search here are encoded plainly.
 *
 * @param values (rows, columns); `columns` is a multiple of the type's block length.
 * @param inputs Default: all columns alike and no feedback.
 * @throws EngineError as `encodeBlocks`, and `format/wrong-importance` for statistics of another number of columns.
 */
export function encodeSearched(
  type: TensorType,
  values: Float32Array,
  columns: number,
  inputs?: InputStatistics,
): Uint8Array {
  const form = BLOCK_FORMS[type]
  const given = inputs?.feedback?.columns ?? inputs?.importance.length ?? columns
  if (given !== columns) {
    throw new EngineError('format/wrong-importance', {
      message: `Rows of ${columns} elements need statistics of ${columns} inputs, found ${given}.`,
    })
  }
  if (form === undefined) return encodeBlocks(type, values)
  checkFinite(type, values)
  const out = new Uint8Array(byteLengthOf(type, values.length))
  if (inputs?.feedback) encodeWithFeedback(form, TENSOR_TYPES[type].blockBytes, values, inputs.feedback, out)
  else
    encodeAlone(form, TENSOR_TYPES[type].blockBytes, values, columnWeights(columns, inputs?.importance), out)
  return out
}

/** Each element for itself. */
function encodeAlone(
  form: BlockForm,
  blockBytes: number,
  values: Float32Array,
  weights: Float32Array,
  out: Uint8Array,
): void {
  const codes = new Uint8Array(BLOCK_LENGTH)
  const levels = new Float32Array(form.levelCount)
  for (let block = 0, at = 0; block < values.length; block += BLOCK_LENGTH, at += blockBytes) {
    const column = block % weights.length
    form.fit(values, block, weights.subarray(column, column + BLOCK_LENGTH), out, at)
    form.levels(out, at, levels)
    for (let i = 0; i < BLOCK_LENGTH; i++) codes[i] = form.nearest(values[block + i] as number, levels)
    form.pack(codes, out, at)
  }
}

/** Each element with what it is to make up for of the errors before it in its row. */
function encodeWithFeedback(
  form: BlockForm,
  blockBytes: number,
  values: Float32Array,
  { columns, variances, shares }: ErrorFeedback,
  out: Uint8Array,
): void {
  const codes = new Uint8Array(BLOCK_LENGTH)
  const levels = new Float32Array(form.levelCount)
  const errors = new Float64Array(columns)
  const wanted = new Float32Array(BLOCK_LENGTH)
  for (let row = 0, at = 0; row < values.length; row += columns) {
    for (let block = 0; block < columns; block += BLOCK_LENGTH, at += blockBytes) {
      for (let i = 0; i < BLOCK_LENGTH; i++) {
        const column = block + i
        wanted[i] = (values[row + column] as number) + carried(errors, shares, column, 0, block)
      }
      form.fit(wanted, 0, variances.subarray(block, block + BLOCK_LENGTH), out, at)
      form.levels(out, at, levels)
      for (let i = 0; i < BLOCK_LENGTH; i++) {
        const column = block + i
        const value = (wanted[i] as number) + carried(errors, shares, column, block, column)
        const code = form.nearest(value, levels)
        codes[i] = code
        errors[column] = (values[row + column] as number) - (levels[code] as number)
      }
      form.pack(codes, out, at)
    }
  }
}

/** What `column` takes over of the errors of columns `from` to `to`. */
function carried(
  errors: Float64Array,
  shares: Float32Array,
  column: number,
  from: number,
  to: number,
): number {
  const start = (column * (column - 1)) / 2
  let sum = 0
  for (let i = from; i < to; i++) sum += (errors[i] as number) * (shares[start + i] as number)
  return sum
}

function columnWeights(columns: number, importance: Float32Array | undefined): Float32Array {
  if (importance === undefined) return new Float32Array(columns).fill(1)
  const mean = importance.reduce((sum, value) => sum + value, 0) / columns
  if (!(mean > 0)) return new Float32Array(columns).fill(1)
  return importance.map((value) => value / mean + LEAST_IMPORTANCE)
}

function checkFinite(type: TensorType, values: Float32Array): void {
  const index = values.findIndex((value) => !Number.isFinite(value))
  if (index === -1) return
  throw new EngineError('format/value-not-finite', {
    message: `${type} stores finite values only; element ${index} is ${values[index]}.`,
    hint: 'The checkpoint is damaged, or this tensor must stay in F32.',
  })
}
