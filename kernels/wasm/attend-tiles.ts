// Attention of many queries: a tile of keys is widened and transposed once for all of them, so that lanes are keys while
// scores are summed. Scores are then turned so that lanes are four query rows.

import { scaleWeights } from './attend-few'
import { loadFour, loadUnscaled } from './cache-rows'
import { Q8_0 } from './layout'
import { madd } from './simd'
import { storeTransposed } from './transpose'

/** Keys of a tile, and bytes of one number for each. */
export const TILE: i32 = 64
export const TILE_BYTES: usize = 256

/** `count` rows of values to float32 (count, headDim), without their scales. */
// @ts-ignore: decorator
@inline
export function widenValues(type: i32, v: usize, strideBytes: usize, count: i32, headDim: i32, out: usize): void {
  const rowBytes = <usize>headDim << 2
  for (let key = 0; key < count; key++) {
    for (let i: usize = 0; i < <usize>headDim; i += 4) v128.store(out + (i << 2), loadUnscaled(type, v, i))
    v += strideBytes
    out += rowBytes
  }
}

/** `count` rows of keys to float32 (headDim, TILE). What lies behind `count` keys is left as it was. */
// @ts-ignore: decorator
@inline
export function transposeKeys(type: i32, k: usize, strideBytes: usize, count: i32, headDim: i32, out: usize): void {
  for (let key = 0; key < count; key += 4) {
    // Past the last key the last one is repeated; its scores are hidden later.
    const k1 = k + (key + 1 < count ? strideBytes : 0)
    const k2 = k1 + (key + 2 < count ? strideBytes : 0)
    const k3 = k2 + (key + 3 < count ? strideBytes : 0)
    let to = out + (<usize>key << 2)
    for (let i: usize = 0; i < <usize>headDim; i += 4) {
      storeTransposed(
        to, TILE_BYTES, loadFour(type, k, i, headDim), loadFour(type, k1, i, headDim),
        loadFour(type, k2, i, headDim), loadFour(type, k3, i, headDim),
      )
      to += TILE_BYTES << 2
    }
    k = k3 + strideBytes
  }
}

/** Four query rows times `scale` as (headDim, 4). */
// @ts-ignore: decorator
@inline
export function packQueries(q0: usize, q1: usize, q2: usize, q3: usize, headDim: i32, scale: f32, out: usize): void {
  const factor = f32x4.splat(scale)
  for (let at: usize = 0; at < <usize>headDim << 2; at += 16) {
    const a = f32x4.mul(v128.load(q0 + at), factor), b = f32x4.mul(v128.load(q1 + at), factor)
    const c = f32x4.mul(v128.load(q2 + at), factor), d = f32x4.mul(v128.load(q3 + at), factor)
    storeTransposed(out + (at << 2), 16, a, b, c, d)
  }
}

/**
 * scores (TILE, 4) = keys (headDim, TILE)ᵀ · queries (headDim, 4), of the first `count` keys and a few more. Every fourth
 * element has a sum of its own, and the sums are added in pairs, as `attend-few.ts` does it. `parts`: 256 bytes.
 */
export function scoreTile(queries: usize, keys: usize, headDim: i32, count: i32, scores: usize, parts: usize): void {
  const end = queries + (<usize>headDim << 4)
  for (let first = 0; first < count; first += 8) {
    for (let turn: usize = 0; turn < 4; turn++) {
      // Elements 0, 4, …; 2, 6, …; 1, 5, …; 3, 7, ….
      const start = ((turn & 1) << 1) | (turn >> 1)
      const zero = f32x4.splat(0)
      let a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero
      let key = keys + (<usize>first << 2) + start * TILE_BYTES
      let query = queries + (start << 4)
      while (query < end) {
        const w = v128.load(key)
        const v = v128.load(key, 16)
        let y = v128.load32_splat(query)
        a0 = madd(y, w, a0); b0 = madd(y, v, b0)
        y = v128.load32_splat(query, 4)
        a1 = madd(y, w, a1); b1 = madd(y, v, b1)
        y = v128.load32_splat(query, 8)
        a2 = madd(y, w, a2); b2 = madd(y, v, b2)
        y = v128.load32_splat(query, 12)
        a3 = madd(y, w, a3); b3 = madd(y, v, b3)
        key += TILE_BYTES << 2
        query += 64
      }
      const part = parts + ((turn >> 1) << 7)
      if (turn & 1) {
        a0 = f32x4.add(a0, v128.load(part)); b0 = f32x4.add(b0, v128.load(part, 64))
        a1 = f32x4.add(a1, v128.load(part, 16)); b1 = f32x4.add(b1, v128.load(part, 80))
        a2 = f32x4.add(a2, v128.load(part, 32)); b2 = f32x4.add(b2, v128.load(part, 96))
        a3 = f32x4.add(a3, v128.load(part, 48)); b3 = f32x4.add(b3, v128.load(part, 112))
      }
      v128.store(part, a0); v128.store(part, b0, 64)
      v128.store(part, a1, 16); v128.store(part, b1, 80)
      v128.store(part, a2, 32); v128.store(part, b2, 96)
      v128.store(part, a3, 48); v128.store(part, b3, 112)
    }
    const to = scores + (<usize>first << 4)
    // @unroll HALF 2
    storeTransposed(
      to + 64 * HALF, 16,
      f32x4.add(v128.load(parts, 64 * HALF), v128.load(parts, 64 * HALF + 128)),
      f32x4.add(v128.load(parts, 64 * HALF + 16), v128.load(parts, 64 * HALF + 144)),
      f32x4.add(v128.load(parts, 64 * HALF + 32), v128.load(parts, 64 * HALF + 160)),
      f32x4.add(v128.load(parts, 64 * HALF + 48), v128.load(parts, 64 * HALF + 176)),
    )
    // @end
  }
}

/**
 * sums (4, headDim) = sums * keep + weights (count, 4)ᵀ · values (count, headDim), for `columns` from those at `sums` and
 * `values` on.
 */
export function addValues(
  weights: usize, values: usize, strideBytes: usize, count: i32, columns: i32, headDim: i32, sums: usize, keep: v128,
): void {
  const rowBytes = <usize>headDim << 2
  const columnBytes = <usize>columns << 2
  const k0 = v128.shuffle<i32>(keep, keep, 0, 0, 0, 0), k1 = v128.shuffle<i32>(keep, keep, 1, 1, 1, 1)
  const k2 = v128.shuffle<i32>(keep, keep, 2, 2, 2, 2), k3 = v128.shuffle<i32>(keep, keep, 3, 3, 3, 3)
  const end = weights + (<usize>count << 4)
  let column: usize = 0
  for (; column + 32 <= columnBytes; column += 32) {
    const s0 = sums + column, s1 = s0 + rowBytes, s2 = s1 + rowBytes, s3 = s2 + rowBytes
    let a0 = f32x4.mul(v128.load(s0), k0), b0 = f32x4.mul(v128.load(s0, 16), k0)
    let a1 = f32x4.mul(v128.load(s1), k1), b1 = f32x4.mul(v128.load(s1, 16), k1)
    let a2 = f32x4.mul(v128.load(s2), k2), b2 = f32x4.mul(v128.load(s2, 16), k2)
    let a3 = f32x4.mul(v128.load(s3), k3), b3 = f32x4.mul(v128.load(s3, 16), k3)
    let value = values + column
    for (let weight = weights; weight < end; weight += 16) {
      const w = v128.load(value)
      const v = v128.load(value, 16)
      let y = v128.load32_splat(weight)
      a0 = madd(y, w, a0); b0 = madd(y, v, b0)
      y = v128.load32_splat(weight, 4)
      a1 = madd(y, w, a1); b1 = madd(y, v, b1)
      y = v128.load32_splat(weight, 8)
      a2 = madd(y, w, a2); b2 = madd(y, v, b2)
      y = v128.load32_splat(weight, 12)
      a3 = madd(y, w, a3); b3 = madd(y, v, b3)
      value += strideBytes
    }
    v128.store(s0, a0); v128.store(s0, b0, 16)
    v128.store(s1, a1); v128.store(s1, b1, 16)
    v128.store(s2, a2); v128.store(s2, b2, 16)
    v128.store(s3, a3); v128.store(s3, b3, 16)
  }
  // Heads whose size is no multiple of 8.
  for (; column < columnBytes; column += 16) {
    const s0 = sums + column, s1 = s0 + rowBytes, s2 = s1 + rowBytes, s3 = s2 + rowBytes
    let a0 = f32x4.mul(v128.load(s0), k0), a1 = f32x4.mul(v128.load(s1), k1)
    let a2 = f32x4.mul(v128.load(s2), k2), a3 = f32x4.mul(v128.load(s3), k3)
    let value = values + column
    for (let weight = weights; weight < end; weight += 16) {
      const w = v128.load(value)
      a0 = madd(v128.load32_splat(weight), w, a0)
      a1 = madd(v128.load32_splat(weight, 4), w, a1)
      a2 = madd(v128.load32_splat(weight, 8), w, a2)
      a3 = madd(v128.load32_splat(weight, 12), w, a3)
      value += strideBytes
    }
    v128.store(s0, a0); v128.store(s1, a1); v128.store(s2, a2); v128.store(s3, a3)
  }
}

/** As `addValues` for 8-bit values, whose scales go with the weights: `rows` has them, `values` the bytes as floats. */
export function addScaledValues(
  weights: usize, scaled: usize, rows: usize, strideBytes: usize, values: usize, count: i32, headDim: i32, sums: usize, keep: v128,
): void {
  let scale = rows + <usize>headDim
  for (let column = 0; column < headDim; column += 32) {
    const shift = <usize>column << 2
    scaleWeights(Q8_0, weights, count, scale, strideBytes, scaled)
    addValues(scaled, values + shift, <usize>headDim << 2, count, min(32, headDim - column), headDim, sums + shift, keep)
    scale += 2
  }
}
