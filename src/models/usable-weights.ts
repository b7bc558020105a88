import type { FloatMatrixType } from '../backend/ops.ts'

/**
 * A block's scale is an f16, at most 65504, and int4 counts eight steps from zero: weights beyond 2^19 cannot be kept.
 * Real ones stay below a few hundred. The bits of 2^19 in each type, the sign left out, and of infinity in f16.
 */
const UNUSABLE_FROM = { F32: 0x49000000, BF16: 0x4900, F16: 0x7c00 } as const

/** Index of the first weight that no quantised type can hold, such as NaN; -1 when all can be quantised. */
export function findUnusableWeight(bytes: Uint8Array, type: FloatMatrixType): number {
  const { buffer, byteOffset, byteLength } = bytes
  const limit = UNUSABLE_FROM[type]
  // Bits without the sign rise as absolute values do; infinity and NaN lie above all numbers.
  if (type === 'F32') {
    const words = new Uint32Array(buffer, byteOffset, byteLength / 4)
    for (let index = 0; index < words.length; index++)
      if (((words[index] as number) & 0x7fffffff) >= limit) return index
    return -1
  }
  const halves = new Uint16Array(buffer, byteOffset, byteLength / 2)
  for (let index = 0; index < halves.length; index++)
    if (((halves[index] as number) & 0x7fff) >= limit) return index
  return -1
}
