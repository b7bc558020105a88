/** Rows of keys and values as `storeRows` writes and `attention` reads them. */
import type { MatrixType } from './ops.ts'

/** How keys and values may be kept. */
export const CACHE_TYPES = ['F32', 'F16', 'Q8_0'] as const
export type CacheType = (typeof CACHE_TYPES)[number]

export function isCacheType(type: MatrixType): type is CacheType {
  return (CACHE_TYPES as readonly MatrixType[]).includes(type)
}

/**
 * Bytes of one head's row. Q8_0 rows are a layout of the cache's own: int8 (columns), then a bfloat16 scale for each 32
 * columns (the last may stand for fewer), filled with zeros up to 4 bytes. The scale is max|x| / 127 rounded up to
 * bfloat16, which has the range of float32 where a half would lose small values; an element is x / scale, rounded half
 * to even. A block with an infinity or NaN is NaN where it is read.
 */
export function cacheRowByteLength(type: CacheType, columns: number): number {
  if (type === 'F32') return columns * 4
  if (type === 'F16') return columns * 2
  return Math.ceil((columns + Math.ceil(columns / 32) * 2) / 4) * 4
}
