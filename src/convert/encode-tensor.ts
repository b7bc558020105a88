/** One tensor from its source to its stored form, piece by piece, so that memory stays small whatever its size. */
import { decodeBlocks } from '../quant/decode.ts'
import { encodeBlocks } from '../quant/encode.ts'
import { encodeSearched, type InputStatistics, isSearchable } from '../quant/encode-searched.ts'
import { byteLengthOf, type TensorType } from '../quant/tensor-types.ts'
import { readBytes } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { PlannedTensor } from './plan-tensors.ts'
import type { SourceTensor } from './source-model.ts'

/** Elements of a piece: 4 MB as float32, so that a piece with its source and its result stays far below 100 MB. */
const PIECE_ELEMENTS = 2 ** 20

export type StatisticsOf = (matrix: string) => InputStatistics | undefined

export interface EncodeOptions {
  /** Fit scales by search. */
  readonly search: boolean
  /** What is known of a matrix's inputs, by its name in the file; asked for only where it is of use. */
  readonly statisticsOf?: StatisticsOf | undefined
}

/** Yields the stored form in order. Pieces of equal types come as they are. */
export async function* encodeTensor(
  { source, type }: PlannedTensor,
  options: EncodeOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { columns, rows, pieceRows } = layoutOf(source)
  const { info } = source
  const rowBytes = byteLengthOf(info.type, columns)
  for (let first = 0; first < rows; first += pieceRows) {
    const count = Math.min(pieceRows, rows - first)
    const bytes = await readBytes(info.source, info.byteOffset + first * rowBytes, count * rowBytes)
    if (source.interleavedRows !== undefined) interleaveRows(bytes, rowBytes, source.interleavedRows)
    yield info.type === type
      ? bytes
      : encodeValues(source, type, decode(info.type, bytes, count * columns), options)
  }
}

/** What a tensor will hold once it is read back, in the order of the source's rows. For trying out a type. */
export async function decodeAsStored(
  { source, type }: PlannedTensor,
  options: EncodeOptions,
): Promise<Float32Array> {
  const { columns, rows } = layoutOf(source)
  const values = new Float32Array(rows * columns)
  const inSourceOrder = { source: { ...source, interleavedRows: undefined }, type }
  let done = 0
  for await (const bytes of encodeTensor(inSourceOrder, options)) {
    const piece = values.subarray(done, done + piecesLength(values.length - done, columns))
    decodeBlocks(type, bytes, piece)
    done += piece.length
  }
  return values
}

function layoutOf({ shape, interleavedRows = 1 }: SourceTensor) {
  // Biases of heads change places like rows of one element.
  const columns = shape.length === 1 && interleavedRows > 1 ? 1 : (shape.at(-1) ?? 1)
  const rows = shape.reduce((product, size) => product * size, 1) / columns
  const pieceRows = Math.max(1, Math.floor(PIECE_ELEMENTS / columns / interleavedRows)) * interleavedRows
  return { columns, rows, pieceRows }
}

function piecesLength(left: number, columns: number): number {
  return Math.min(left, Math.max(1, Math.floor(PIECE_ELEMENTS / columns)) * columns)
}

/** Within each head, row 2i + j takes what row j * n/2 + i held (j = 0, 1). */
function interleaveRows(bytes: Uint8Array, rowBytes: number, headRows: number): void {
  const head = new Uint8Array(headRows * rowBytes)
  for (let from = 0; from < bytes.byteLength; from += head.byteLength) {
    head.set(bytes.subarray(from, from + head.byteLength))
    for (let row = 0; row < headRows; row++) {
      const origin = (row % 2) * (headRows / 2) + Math.floor(row / 2)
      bytes.set(head.subarray(origin * rowBytes, (origin + 1) * rowBytes), from + row * rowBytes)
    }
  }
}

function decode(type: TensorType, bytes: Uint8Array, elements: number): Float32Array {
  const values = new Float32Array(elements)
  decodeBlocks(type, bytes, values)
  return values
}

function encodeValues(
  { name, info, shape }: SourceTensor,
  type: TensorType,
  values: Float32Array,
  { search, statisticsOf }: EncodeOptions,
): Uint8Array {
  try {
    if (type === 'F16') checkHalfRange(values)
    if (!search || !isSearchable(type)) return encodeBlocks(type, values)
    return encodeSearched(type, values, shape.at(-1) ?? 1, statisticsOf?.(name))
  } catch (cause) {
    if (!EngineError.isInstance(cause)) throw cause
    throw new EngineError(cause.code, {
      message: `${info.source.name}: tensor "${info.name}" cannot become ${type} (${name}): ${cause.message}`,
      hint: cause.hint ?? 'Keep this tensor in F32 or BF16 with a recipe of your own.',
      cause,
    })
  }
}

const LARGEST_HALF = 65504

function checkHalfRange(values: Float32Array): void {
  const index = values.findIndex((value) => Math.abs(value) > LARGEST_HALF && Number.isFinite(value))
  if (index === -1) return
  throw new EngineError('format/value-out-of-range', {
    message: `F16 holds magnitudes up to ${LARGEST_HALF}; element ${index} is ${values[index]}.`,
    hint: 'Keep this tensor in F32 or BF16 with a recipe of your own.',
  })
}
