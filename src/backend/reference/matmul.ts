/**
 * Linear layers, summed in double and rounded to float32 once. Weights are decoded first: a decoded weight has at
 * most one float32 rounding (scale times code plus minimum), which is far inside the tolerance.
 */
import type { BufferRef, OpArguments } from '../backend.ts'
import { quantizedByteLength } from '../ops.ts'
import { readMatrixRows } from './matrix.ts'
import { bytesAt, floatsAt } from './memory.ts'
import { quantizedRowsIn } from './quantize-rows.ts'

interface Product {
  readonly bias: BufferRef | undefined // f32 (n)
  readonly out: BufferRef // f32 (m, n)
  readonly m: number
  readonly n: number
  readonly accumulate: number
}

export function matmulQuantized(args: OpArguments<'matmulQuantized'>): void {
  const { type, x, matrix, m, n, k } = args
  const weights = readMatrixRows(type, matrix, 0, n, k)
  const { padded, values, scales } = quantizedRowsIn(bytesAt(x, quantizedByteLength(m, k)), m, k)
  storeProduct(args, (i, j) => {
    let sum = 0
    for (let start = 0; start < k; start += 32) {
      const at = i * padded + start
      const length = Math.min(32, k - start)
      sum += dot(values, at, weights, j * k + start, length) * (scales[at / 32] as number)
    }
    return sum
  })
}

export function matmulFloat(args: OpArguments<'matmulFloat'>): void {
  const { type, x, matrix, m, n, k } = args
  const weights = readMatrixRows(type, matrix, 0, n, k)
  const values = floatsAt(x, m * k)
  storeProduct(args, (i, j) => dot(values, i * k, weights, j * k, k))
}

function storeProduct(
  { bias, out, m, n, accumulate }: Product,
  product: (i: number, j: number) => number,
): void {
  const y = floatsAt(out, m * n)
  const b = bias === undefined ? new Float32Array(n) : floatsAt(bias, n)
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const before = accumulate === 1 ? (y[i * n + j] as number) : 0
      y[i * n + j] = product(i, j) + (b[j] as number) + before
    }
  }
}

/** Sum of products of `length` elements, in double. */
export function dot(
  a: ArrayLike<number>,
  aStart: number,
  b: ArrayLike<number>,
  bStart: number,
  length: number,
): number {
  let sum = 0
  for (let i = 0; i < length; i++) sum += (a[aStart + i] as number) * (b[bStart + i] as number)
  return sum
}
