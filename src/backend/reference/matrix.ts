/** Rows of blocks: packing, decoding, encoding, look-up. A packed matrix of the reference is its raw rows. */
import { decodeBlocks } from '../../quant/decode.ts'
import { encodeBlocks } from '../../quant/encode.ts'
import { TENSOR_TYPES } from '../../quant/tensor-types.ts'
import { EngineError } from '../../shared/errors.ts'
import type { BufferRef, OpArguments } from '../backend.ts'
import { rawRowByteLength } from '../matrix-rows.ts'
import type { MatrixType } from '../ops.ts'
import { bytesAt, floatsAt, integersAt } from './memory.ts'

/** Rows `firstRow` to `firstRow + rows` of a packed matrix as float32 (rows, columns), without the filling. */
export function readMatrixRows(
  type: MatrixType,
  matrix: BufferRef,
  firstRow: number,
  rows: number,
  columns: number,
): Float32Array {
  const rowBytes = rawRowByteLength(type, columns)
  const start = { buffer: matrix.buffer, byteOffset: matrix.byteOffset + firstRow * rowBytes }
  return decodeRawRows(type, bytesAt(start, rows * rowBytes), rows, columns)
}

function decodeRawRows(type: MatrixType, bytes: Uint8Array, rows: number, columns: number): Float32Array {
  const padded = paddedColumns(type, columns)
  const decoded = new Float32Array(rows * padded)
  decodeBlocks(type, bytes, decoded)
  if (padded === columns) return decoded
  const out = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    out.set(decoded.subarray(row * padded, row * padded + columns), row * columns)
  }
  return out
}

function paddedColumns(type: MatrixType, columns: number): number {
  const { blockLength } = TENSOR_TYPES[type]
  return Math.ceil(columns / blockLength) * blockLength
}

export function packRows(args: OpArguments<'packRows'>): void {
  const { type, source, matrix, rows, columns, firstRow } = args
  const rowBytes = rawRowByteLength(type, columns)
  bytesAt(matrix, (firstRow + rows) * rowBytes).set(bytesAt(source, rows * rowBytes), firstRow * rowBytes)
}

export function decodeRows({ type, source, out, rows, columns }: OpArguments<'decodeRows'>): void {
  const bytes = bytesAt(source, rows * rawRowByteLength(type, columns))
  floatsAt(out, rows * columns).set(decodeRawRows(type, bytes, rows, columns))
}

export function encodeRows({ type, source, out, rows, columns }: OpArguments<'encodeRows'>): void {
  const padded = paddedColumns(type, columns)
  const x = floatsAt(source, rows * columns)
  const filled = new Float32Array(rows * padded)
  for (let row = 0; row < rows; row++) {
    filled.set(x.subarray(row * columns, (row + 1) * columns), row * padded)
  }
  bytesAt(out, rows * rawRowByteLength(type, columns)).set(encodeBlocks(type, filled))
}

export function gatherRows({ type, matrix, ids, out, count, columns }: OpArguments<'gatherRows'>): void {
  const y = floatsAt(out, count * columns)
  const available = matrix.buffer.byteLength - matrix.byteOffset
  const rows = Math.floor(available / rawRowByteLength(type, columns))
  integersAt(ids, count).forEach((id, i) => {
    if (id < 0 || id >= rows) {
      throw new EngineError('backend/out-of-bounds', {
        message: `gatherRows: "ids" asks for row ${id}, but "matrix" has at most ${rows} rows.`,
      })
    }
    y.set(readMatrixRows(type, matrix, id, 1, columns), i * columns)
  })
}
