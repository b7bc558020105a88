// Attention of up to four query rows against half-precision keys and values, as decoding needs it: nothing is
// transposed or copied, each key and value is read once and widened in registers for all rows.
//
// A half's bits moved to float32's places are the value times 2^-112. That factor is not multiplied away but taken up
// by the other operand: queries are scaled by 2^96 (so that keys down to 2^-30 stay normal numbers and queries up to
// 2^31 finite) and the rest goes into the softmax scale; weights, at most 1, are scaled by 2^112.

import { madd, sumLanes } from './simd'

const HALF_BITS = memory.data<u32>([0x8fffe000, 0x8fffe000, 0x8fffe000, 0x8fffe000], 16)
const TWO_96 = memory.data<u32>([0x6f800000, 0x6f800000, 0x6f800000, 0x6f800000], 16)
const TWO_112 = memory.data<u32>([0x77800000, 0x77800000, 0x77800000, 0x77800000], 16)
/** 2^(112 - 96), which scores still lack. */
export const SCORE_FACTOR: f32 = 65536

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

/** A query row times 2^96. */
export function scaleQuery(q: usize, out: usize, headDim: i32): void {
  for (let at: usize = 0; at < <usize>headDim << 2; at += 16) {
    v128.store(out + at, f32x4.mul(v128.load(q + at), v128.load(TWO_96)))
  }
}

/**
 * Reads one byte of every cache line of `count` rows, so that they are on their way together: the dot products below
 * end in a chain of additions, which lets the processor look ahead over two rows only.
 */
function touchRows(rows: usize, strideBytes: usize, rowBytes: usize, count: i32, sink: usize): void {
  let seen: i32 = 0
  for (let row = 0; row < count; row++) {
    for (let at: usize = 0; at < rowBytes; at += 64) seen |= <i32>load<u8>(rows + at)
    rows += strideBytes
  }
  store<i32>(sink, seen)
}

/** Scores (4, 64) of scaled query rows (4, headDim) at `q` against `count` keys; headDim is a multiple of 8. */
export function scoreFew(q: usize, k: usize, strideBytes: usize, count: i32, headDim: i32, scale: f32, scores: usize): void {
  const rowBytes = <usize>headDim << 2
  const zero = f32x4.splat(0)
  touchRows(k, strideBytes, rowBytes >> 1, count, scores)
  for (let key = 0; key < count; key++) {
    let a = zero, b = zero, c = zero, d = zero
    let e = zero, f = zero, g = zero, h = zero
    let query = q
    const end = k + (rowBytes >> 1)
    for (let from = k; from < end; from += 16) {
      const words = v128.load(from)
      const low = lowHalves(words)
      const high = highHalves(words)
      const q1 = query + rowBytes, q2 = q1 + rowBytes, q3 = q2 + rowBytes
      a = madd(low, v128.load(query), a); e = madd(high, v128.load(query, 16), e)
      b = madd(low, v128.load(q1), b); f = madd(high, v128.load(q1, 16), f)
      c = madd(low, v128.load(q2), c); g = madd(high, v128.load(q2, 16), g)
      d = madd(low, v128.load(q3), d); h = madd(high, v128.load(q3, 16), h)
      query += 32
    }
    const to = scores + (<usize>key << 2)
    store<f32>(to, sumLanes(f32x4.add(a, e)) * scale)
    store<f32>(to, sumLanes(f32x4.add(b, f)) * scale, 256)
    store<f32>(to, sumLanes(f32x4.add(c, g)) * scale, 512)
    store<f32>(to, sumLanes(f32x4.add(d, h)) * scale, 768)
    k += strideBytes
  }
}

/** sums (4, headDim) = sums * keep + weights (4, 64) · values (count, headDim). The weights are scaled in place; the word behind them is overwritten. */
export function addValuesFew(
  weights: usize, v: usize, strideBytes: usize, count: i32, headDim: i32, sums: usize,
  keep0: f32, keep1: f32, keep2: f32, keep3: f32,
): void {
  const rowBytes = <usize>headDim << 2
  touchRows(v, strideBytes, rowBytes >> 1, count, weights + 1024)
  for (let at: usize = 0; at < 1024; at += 16) v128.store(weights + at, f32x4.mul(v128.load(weights + at), v128.load(TWO_112)))
  const k0 = f32x4.splat(keep0), k1 = f32x4.splat(keep1), k2 = f32x4.splat(keep2), k3 = f32x4.splat(keep3)
  for (let column: usize = 0; column < rowBytes; column += 32) {
    const s0 = sums + column, s1 = s0 + rowBytes, s2 = s1 + rowBytes, s3 = s2 + rowBytes
    let a0 = f32x4.mul(v128.load(s0), k0), b0 = f32x4.mul(v128.load(s0, 16), k0)
    let a1 = f32x4.mul(v128.load(s1), k1), b1 = f32x4.mul(v128.load(s1, 16), k1)
    let a2 = f32x4.mul(v128.load(s2), k2), b2 = f32x4.mul(v128.load(s2, 16), k2)
    let a3 = f32x4.mul(v128.load(s3), k3), b3 = f32x4.mul(v128.load(s3, 16), k3)
    let value = v + (column >> 1)
    const end = weights + (<usize>count << 2)
    for (let weight = weights; weight < end; weight += 4) {
      const words = v128.load(value)
      const low = lowHalves(words)
      const high = highHalves(words)
      let y = v128.load32_splat(weight)
      a0 = madd(y, low, a0); b0 = madd(y, high, b0)
      y = v128.load32_splat(weight, 256)
      a1 = madd(y, low, a1); b1 = madd(y, high, b1)
      y = v128.load32_splat(weight, 512)
      a2 = madd(y, low, a2); b2 = madd(y, high, b2)
      y = v128.load32_splat(weight, 768)
      a3 = madd(y, low, a3); b3 = madd(y, high, b3)
      value += strideBytes
    }
    v128.store(s0, a0); v128.store(s0, b0, 16)
    v128.store(s1, a1); v128.store(s1, b1, 16)
    v128.store(s2, a2); v128.store(s2, b2, 16)
    v128.store(s3, a3); v128.store(s3, b3, 16)
  }
}
