// Attention of up to four query rows against half-precision keys and values, as decoding needs it: nothing is
// transposed or copied, each key and value is read once and widened in registers for all rows.
//
// A half's bits moved to float32's places are the value times 2^-112. That factor is not multiplied away but taken up
// by the other operand. Queries are scaled by 2^96, so that keys down to 2^-30 stay normal numbers and queries up to
// 2^31 finite, and scores by the 2^16 that is left; weights, at most 1, are scaled by 2^112.

import { madd } from './simd'

const HALF_BITS = memory.data<u32>([0x8fffe000, 0x8fffe000, 0x8fffe000, 0x8fffe000], 16)
const TWO_16 = memory.data<f32>([65536, 65536, 65536, 65536], 16)
const TWO_112 = memory.data<u32>([0x77800000, 0x77800000, 0x77800000, 0x77800000], 16)
/** 2^96, for the queries that `scoreFew` takes. */
export const SCORE_SCALE_FEW: f32 = 79228162514264337593543950336.0

// @ts-ignore: decorator
@inline
function lowHalves(words: v128): v128 {
  return v128.and(i32x4.shl(i32x4.extend_low_i16x8_s(words), 13), v128.load(HALF_BITS))
}

// @ts-ignore: decorator
@inline
function highHalves(words: v128): v128 {
  return v128.and(i32x4.shl(i32x4.extend_high_i16x8_s(words), 13), v128.load(HALF_BITS))
}

/**
 * Reads one byte of every cache line of `count` rows, so that they are on their way together: the processor looks
 * ahead over two rows of products only.
 */
function touchRows(rows: usize, strideBytes: usize, rowBytes: usize, count: i32, sink: usize): void {
  let seen: i32 = 0
  for (let row = 0; row < count; row++) {
    for (let at: usize = 0; at < rowBytes; at += 64) seen |= <i32>load<u8>(rows + at)
    rows += strideBytes
  }
  store<i32>(sink, seen)
}

/** scores (count, 4) of scaled queries (headDim, 4) against `count` keys; headDim is a multiple of 8. */
export function scoreFew(queries: usize, k: usize, strideBytes: usize, count: i32, headDim: i32, scores: usize): void {
  touchRows(k, strideBytes, <usize>headDim << 1, count, scores + 1024)
  for (let key = 0; key < count; key++) {
    const zero = f32x4.splat(0)
    let a = zero, b = zero, c = zero, d = zero, e = zero, f = zero, g = zero, h = zero
    let query = queries
    const end = k + (<usize>headDim << 1)
    for (let from = k; from < end; from += 16) {
      const words = v128.load(from)
      const low = lowHalves(words)
      const high = highHalves(words)
      // Lanes are the rows: one key element, splatted, times four rows at a time.
      a = madd(v128.shuffle<i32>(low, low, 0, 0, 0, 0), v128.load(query), a)
      b = madd(v128.shuffle<i32>(low, low, 1, 1, 1, 1), v128.load(query, 16), b)
      c = madd(v128.shuffle<i32>(low, low, 2, 2, 2, 2), v128.load(query, 32), c)
      d = madd(v128.shuffle<i32>(low, low, 3, 3, 3, 3), v128.load(query, 48), d)
      e = madd(v128.shuffle<i32>(high, high, 0, 0, 0, 0), v128.load(query, 64), e)
      f = madd(v128.shuffle<i32>(high, high, 1, 1, 1, 1), v128.load(query, 80), f)
      g = madd(v128.shuffle<i32>(high, high, 2, 2, 2, 2), v128.load(query, 96), g)
      h = madd(v128.shuffle<i32>(high, high, 3, 3, 3, 3), v128.load(query, 112), h)
      query += 128
    }
    const sum = f32x4.add(
      f32x4.add(f32x4.add(a, b), f32x4.add(c, d)),
      f32x4.add(f32x4.add(e, f), f32x4.add(g, h)),
    )
    v128.store(scores + (<usize>key << 4), f32x4.mul(sum, v128.load(TWO_16)))
    k += strideBytes
  }
}

/** sums (4, headDim) = sums * keep + weights (count, 4)ᵀ · values (count, headDim). The weights are scaled in place. */
export function addValuesFew(weights: usize, v: usize, strideBytes: usize, count: i32, headDim: i32, sums: usize, keep: v128): void {
  const rowBytes = <usize>headDim << 2
  touchRows(v, strideBytes, rowBytes >> 1, count, weights + 1024)
  const end = weights + (<usize>count << 4)
  for (let at = weights; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), v128.load(TWO_112)))
  const k0 = v128.shuffle<i32>(keep, keep, 0, 0, 0, 0), k1 = v128.shuffle<i32>(keep, keep, 1, 1, 1, 1)
  const k2 = v128.shuffle<i32>(keep, keep, 2, 2, 2, 2), k3 = v128.shuffle<i32>(keep, keep, 3, 3, 3, 3)
  for (let column: usize = 0; column < rowBytes; column += 32) {
    const s0 = sums + column, s1 = s0 + rowBytes, s2 = s1 + rowBytes, s3 = s2 + rowBytes
    let a0 = f32x4.mul(v128.load(s0), k0), b0 = f32x4.mul(v128.load(s0, 16), k0)
    let a1 = f32x4.mul(v128.load(s1), k1), b1 = f32x4.mul(v128.load(s1, 16), k1)
    let a2 = f32x4.mul(v128.load(s2), k2), b2 = f32x4.mul(v128.load(s2, 16), k2)
    let a3 = f32x4.mul(v128.load(s3), k3), b3 = f32x4.mul(v128.load(s3, 16), k3)
    let value = v + (column >> 1)
    for (let weight = weights; weight < end; weight += 16) {
      const words = v128.load(value)
      const low = lowHalves(words)
      const high = highHalves(words)
      let y = v128.load32_splat(weight)
      a0 = madd(y, low, a0); b0 = madd(y, high, b0)
      y = v128.load32_splat(weight, 4)
      a1 = madd(y, low, a1); b1 = madd(y, high, b1)
      y = v128.load32_splat(weight, 8)
      a2 = madd(y, low, a2); b2 = madd(y, high, b2)
      y = v128.load32_splat(weight, 12)
      a3 = madd(y, low, a3); b3 = madd(y, high, b3)
      value += strideBytes
    }
    v128.store(s0, a0); v128.store(s0, b0, 16)
    v128.store(s1, a1); v128.store(s1, b1, 16)
    v128.store(s2, a2); v128.store(s2, b2, 16)
    v128.store(s3, a3); v128.store(s3, b3, 16)
  }
}
