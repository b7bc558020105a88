import type { MatrixType } from '../ops.ts'

/** Elements and bytes of a packed block of 8 rows: the same numbers as kernels/wasm/layout.ts, where they are explained. */
const PACKED_BLOCKS: Readonly<Record<MatrixType, readonly [length: number, bytes: number]>> = {
  F32: [1, 32],
  F16: [1, 16],
  BF16: [1, 16],
  Q4_0: [32, 144],
  IQ4_NL: [32, 144],
  Q4_1: [32, 160],
  Q5_0: [32, 176],
  Q5_1: [32, 192],
  Q8_0: [32, 272],
  Q4_K: [256, 1184],
  Q5_K: [256, 1440],
  Q6_K: [256, 1680],
}

export function packedByteLength(type: MatrixType, rows: number, columns: number): number {
  const [length, bytes] = PACKED_BLOCKS[type]
  return Math.ceil(rows / 8) * Math.ceil(columns / length) * bytes
}
