/** Some rows of a weight matrix as numbers, small enough to be measured in memory. */
import type { TensorInfo } from '../formats/tensor-info.ts'
import { decodeBlocks } from '../quant/decode.ts'
import { byteLengthOf } from '../quant/tensor-types.ts'

export interface MatrixSample {
  readonly rows: number
  /** Of the matrix that the sample is from. */
  readonly totalRows: number
  readonly columns: number
  readonly values: Float32Array // (rows, columns)
}

/** How much is read of a matrix, and from how many places. */
export interface SampleSize {
  readonly elements: number
  readonly places: number
}

/** 2 MB as float32, and a matrix of 720 x 720 is whole; many places, so that all heads and blocks have a chance. */
export const FULL_SAMPLE: SampleSize = { elements: 2 ** 19, places: 8 }
/** Longer rows are cut; the widest real ones have 57,344 elements. */
const MAX_SAMPLE_COLUMNS = 2 ** 14
/** At least so many rows, or spreads and overlaps of rows say nothing. */
const MIN_SAMPLE_ROWS = 64

/** Rows and row length of a tensor; trailing axes (convolutions) are taken as one. A vector is one row. */
export function matrixShape({ shape }: Pick<TensorInfo, 'shape'>): { rows: number; columns: number } {
  if (shape.length < 2) return { rows: 1, columns: shape[0] ?? 1 }
  return { rows: shape[0] ?? 0, columns: shape.slice(1).reduce((product, size) => product * size, 1) }
}

/** Reads whole rows. `onBytes` is shown every piece that is read, in the form of the file. */
export async function readMatrixSample(
  tensor: TensorInfo,
  onBytes: (bytes: Uint8Array) => void = () => {},
  { elements, places }: SampleSize = FULL_SAMPLE,
): Promise<MatrixSample> {
  const shape = matrixShape(tensor)
  const columns = Math.min(shape.columns, MAX_SAMPLE_COLUMNS)
  const rows = Math.min(shape.rows, Math.max(MIN_SAMPLE_ROWS, Math.floor(elements / columns)))
  const values = new Float32Array(rows * columns)
  const rowBytes = byteLengthOf(tensor.type, shape.columns)
  let filled = 0
  for (const { first, count } of strips(shape.rows, rows, places)) {
    const target = values.subarray(filled * columns, (filled + count) * columns)
    if (columns === shape.columns) {
      await readElements(tensor, first * rowBytes, target, onBytes)
    } else {
      for (let row = 0; row < count; row++) {
        const part = target.subarray(row * columns, (row + 1) * columns)
        await readElements(tensor, (first + row) * rowBytes, part, onBytes)
      }
    }
    filled += count
  }
  return { rows, totalRows: shape.rows, columns, values }
}

async function readElements(
  tensor: TensorInfo,
  byteOffset: number,
  target: Float32Array,
  onBytes: (bytes: Uint8Array) => void = () => {},
): Promise<void> {
  const bytes = new Uint8Array(byteLengthOf(tensor.type, target.length))
  await tensor.source.readInto(bytes, tensor.byteOffset + byteOffset)
  onBytes(bytes)
  decodeBlocks(tensor.type, bytes, target)
}

/** `wanted` of `total` units in up to `places` even stretches; all of them where that is everything. */
export function strips(total: number, wanted: number, places: number): { first: number; count: number }[] {
  if (wanted >= total) return total === 0 ? [] : [{ first: 0, count: total }]
  const count = Math.min(places, wanted)
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor((index * wanted) / count)
    const size = Math.floor(((index + 1) * wanted) / count) - from
    const gaps = total - wanted
    return { first: from + (count === 1 ? 0 : Math.floor((index * gaps) / (count - 1))), count: size }
  })
}

/** Up to `count` evenly spaced columns as rows of the result. Reads the whole matrix, a stretch at a time. */
export async function readColumnSample(tensor: TensorInfo, count: number): Promise<MatrixSample> {
  const { rows, columns } = matrixShape(tensor)
  const picked = Math.min(count, columns)
  const values = new Float32Array(picked * rows)
  const rowBytes = byteLengthOf(tensor.type, columns)
  const stretch = Math.max(1, Math.floor(FULL_SAMPLE.elements / columns))
  for (let first = 0; first < rows; first += stretch) {
    const piece = new Float32Array(Math.min(stretch, rows - first) * columns)
    await readElements(tensor, first * rowBytes, piece)
    for (let at = 0; at < piece.length / columns; at++)
      for (let index = 0; index < picked; index++)
        values[index * rows + first + at] = piece[
          at * columns + Math.floor((index * columns) / picked)
        ] as number
  }
  return { rows: picked, totalRows: columns, columns: rows, values }
}

/** Columns become rows. */
export function transpose({ rows, columns, values }: MatrixSample): MatrixSample {
  const out = new Float32Array(values.length)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      out[column * rows + row] = values[row * columns + column] as number
  return { rows: columns, totalRows: columns, columns: rows, values: out }
}

/** Up to `count` rows, evenly spaced. */
export function pickRows(sample: MatrixSample, count: number): MatrixSample {
  const { rows, columns, values } = sample
  if (count >= rows) return sample
  const out = new Float32Array(count * columns)
  for (let index = 0; index < count; index++) {
    const row = Math.floor((index * rows) / count)
    out.set(values.subarray(row * columns, (row + 1) * columns), index * columns)
  }
  return { rows: count, totalRows: sample.totalRows, columns, values: out }
}
