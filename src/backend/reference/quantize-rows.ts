/**
 * Activations to int8. Every step is one float32 operation, since drivers must give the very same bytes.
 *
 * A block with a NaN has scale NaN, one with an infinity has scale Infinity, and both have only zeros as codes, so
 * that products with them are NaN instead of wrong. Where 127 / max|x| overflows (max|x| below about 3.7e-37), elements
 * become ±127.
 */
import type { OpArguments } from '../backend.ts'
import { quantizedByteLength } from '../ops.ts'
import { bytesAt, floatsAt } from './memory.ts'

const BLOCK = 32
const SUM_LENGTH = 16

/** The three parts of what `quantizeRows` writes; `padded` is columns rounded up to 32. */
export interface QuantizedRows {
  readonly padded: number
  readonly values: Int8Array // (rows, padded)
  readonly scales: Float32Array // (rows, padded / 32)
  readonly sums: Int32Array // (rows, padded / 16)
}

/** Views of the parts in 4-byte aligned `bytes`. */
export function quantizedRowsIn(bytes: Uint8Array, rows: number, columns: number): QuantizedRows {
  const padded = Math.ceil(columns / BLOCK) * BLOCK
  const { buffer, byteOffset } = bytes
  const scalesAt = byteOffset + rows * padded
  const sumsAt = scalesAt + (rows * padded * 4) / BLOCK
  return {
    padded,
    values: new Int8Array(buffer, byteOffset, rows * padded),
    scales: new Float32Array(buffer, scalesAt, (rows * padded) / BLOCK),
    sums: new Int32Array(buffer, sumsAt, (rows * padded) / SUM_LENGTH),
  }
}

export function quantizeRows({ x, out, rows, columns }: OpArguments<'quantizeRows'>): void {
  const bytes = bytesAt(out, quantizedByteLength(rows, columns))
  quantizeInto(bytes, floatsAt(x, rows * columns), rows, columns)
}

/** Quantises `x` (rows, columns) into 4-byte aligned `bytes` of `quantizedByteLength(rows, columns)`. */
export function quantizeInto(bytes: Uint8Array, x: Float32Array, rows: number, columns: number): void {
  const { padded, values, scales, sums } = quantizedRowsIn(bytes, rows, columns)
  for (let row = 0; row < rows; row++) {
    const filled = new Float32Array(padded)
    filled.set(x.subarray(row * columns, (row + 1) * columns))
    for (let start = 0; start < padded; start += BLOCK) {
      const at = row * padded + start
      const block = filled.subarray(start, start + BLOCK)
      scales[at / BLOCK] = quantizeBlock(block, values.subarray(at, at + BLOCK))
    }
  }
  for (let i = 0; i < sums.length; i++) {
    sums[i] = values.subarray(i * SUM_LENGTH, (i + 1) * SUM_LENGTH).reduce((sum, value) => sum + value, 0)
  }
}

/** Writes the int8 values of a block and returns its scale. */
function quantizeBlock(block: Float32Array, out: Int8Array): number {
  const largest = block.reduce((max, value) => Math.max(max, Math.abs(value)), 0) // NaN if there is one
  const inverse = largest > 0 ? Math.fround(127 / largest) : 0
  quantizeTo(out, block, inverse)
  return Math.fround(largest / 127)
}

/** Each value times `inverse` as the nearest of -127 to 127; NaN is 0. */
export function quantizeTo(out: Int8Array, values: Float32Array, inverse: number): void {
  values.forEach((value, i) => {
    const scaled = Math.fround(value * inverse)
    out[i] = Number.isNaN(scaled) ? 0 : Math.max(-127, Math.min(127, roundHalfEven(scaled)))
  })
}

function roundHalfEven(value: number): number {
  const rounded = Math.round(value)
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded
}
