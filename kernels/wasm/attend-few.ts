// Attention of few queries against keys and values of 16 or 8 bits, as decoding needs it: nothing is transposed or
// copied, keys and values are read once for four query rows and widened in registers.
//
// A half's bits moved to float32's places are the value times 2^-112. That factor is not multiplied away but taken up
// by the other operand. Queries are scaled by 2^96, so that keys down to 2^-30 stay normal numbers and queries up to
// 2^31 finite, and scores by the 2^16 that is left; weights, at most 1, are scaled by 2^112. The scales of 8-bit values
// are multiplied into the weights, too.

import { loadScale } from './cache-rows'
import { F16 } from './layout'
import { madd } from './simd'

const HALF_BITS = memory.data<u32>([0x8fffe000, 0x8fffe000, 0x8fffe000, 0x8fffe000], 16)
const TWO_16 = memory.data<f32>([65536, 65536, 65536, 65536], 16)
const TWO_112 = memory.data<u32>([0x77800000, 0x77800000, 0x77800000, 0x77800000], 16)
const TWO_96: f32 = 79228162514264337593543950336.0

/** What queries are multiplied by besides the scale of attention. */
export function queryFactorFew(type: i32): f32 {
  return type == F16 ? TWO_96 : 1
}

/** A query row times `scale`, as `scoreFew` takes it. */
// @ts-ignore: decorator
@inline
export function scaleQuery(q: usize, headDim: i32, scale: f32, out: usize): void {
  const factor = f32x4.splat(scale)
  for (let at: usize = 0; at < <usize>headDim << 2; at += 16) v128.store(out + at, f32x4.mul(v128.load(q + at), factor))
}

/** Eight elements: halves as they are, bytes as 16-bit words. */
// @ts-ignore: decorator
@inline
function loadEight(type: i32, at: usize): v128 {
  return type == F16 ? v128.load(at) : v128.load8x8_s(at)
}

// @ts-ignore: decorator
@inline
function lowFour(type: i32, words: v128): v128 {
  const low = i32x4.extend_low_i16x8_s(words)
  return type == F16 ? v128.and(i32x4.shl(low, 13), v128.load(HALF_BITS)) : f32x4.convert_i32x4_s(low)
}

// @ts-ignore: decorator
@inline
function highFour(type: i32, words: v128): v128 {
  const high = i32x4.extend_high_i16x8_s(words)
  return type == F16 ? v128.and(i32x4.shl(high, 13), v128.load(HALF_BITS)) : f32x4.convert_i32x4_s(high)
}

/** The sums of the lanes of four vectors. */
// @ts-ignore: decorator
@inline
function sumOfFour(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7))
  const cd = f32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7))
  return f32x4.add(v128.shuffle<i32>(ab, cd, 0, 1, 4, 5), v128.shuffle<i32>(ab, cd, 2, 3, 6, 7))
}

/**
 * scores (count, 4) of up to four scaled queries (rows, headDim) against `count` keys, two at a time; headDim is a
 * multiple of 8. Lanes of missing rows are 0.
 */
// @ts-ignore: decorator
@inline
function scoreRows(
  type: i32, rows: i32, queries: usize, k: usize, strideBytes: usize, count: i32, headDim: i32, scores: usize,
): void {
  const rowBytes = <usize>headDim << 2
  for (let key = 0; key < count; key += 2) {
    // Past the last key it is repeated.
    const next = k + (key + 1 < count ? strideBytes : 0)
    const zero = f32x4.splat(0)
    let a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero
    let query = queries
    let one = k, two = next
    let oneScale = k + headDim, twoScale = next + headDim
    for (let rest = headDim; rest > 0; rest -= 32) {
      const s = type == F16 ? zero : loadScale(oneScale), t = type == F16 ? zero : loadScale(twoScale)
      const end = query + (<usize>min(rest, 32) << 2)
      while (query < end) {
        const x = loadEight(type, one), y = loadEight(type, two)
        // @unroll HALF 2
        let w = HALF == 0 ? lowFour(type, x) : highFour(type, x), v = HALF == 0 ? lowFour(type, y) : highFour(type, y)
        if (type != F16) {
          w = f32x4.mul(w, s)
          v = f32x4.mul(v, t)
        }
        let q = v128.load(query, 16 * HALF)
        a0 = madd(q, w, a0); b0 = madd(q, v, b0)
        if (rows > 1) {
          q = v128.load(query + rowBytes, 16 * HALF)
          a1 = madd(q, w, a1); b1 = madd(q, v, b1)
        }
        if (rows > 2) {
          q = v128.load(query + rowBytes * 2, 16 * HALF)
          a2 = madd(q, w, a2); b2 = madd(q, v, b2)
        }
        if (rows > 3) {
          q = v128.load(query + rowBytes * 3, 16 * HALF)
          a3 = madd(q, w, a3); b3 = madd(q, v, b3)
        }
        // @end
        query += 32
        one += type == F16 ? 16 : 8
        two += type == F16 ? 16 : 8
      }
      oneScale += 2
      twoScale += 2
    }
    let first = sumOfFour(a0, a1, a2, a3), second = sumOfFour(b0, b1, b2, b3)
    if (type == F16) {
      first = f32x4.mul(first, v128.load(TWO_16))
      second = f32x4.mul(second, v128.load(TWO_16))
    }
    const to = scores + (<usize>key << 4)
    v128.store(to, first)
    v128.store(to, second, 16)
    k = next + strideBytes
  }
}

// @ts-ignore: decorator
@inline
export function scoreFew(
  type: i32, rows: i32, queries: usize, k: usize, strideBytes: usize, count: i32, headDim: i32, scores: usize,
): void {
  switch (rows) {
    case 1: scoreRows(type, 1, queries, k, strideBytes, count, headDim, scores); break
    case 2: scoreRows(type, 2, queries, k, strideBytes, count, headDim, scores); break
    case 3: scoreRows(type, 3, queries, k, strideBytes, count, headDim, scores); break
    default: scoreRows(type, 4, queries, k, strideBytes, count, headDim, scores); break
  }
}

/** Weights (count, 4) with what the values need multiplied in. */
// @ts-ignore: decorator
@inline
export function scaleWeights(type: i32, weights: usize, count: i32, scale: usize, strideBytes: usize, out: usize): void {
  const end = weights + (<usize>count << 4)
  while (weights < end) {
    v128.store(out, f32x4.mul(v128.load(weights), type == F16 ? v128.load(TWO_112) : loadScale(scale)))
    weights += 16
    scale += strideBytes
    out += 16
  }
}

/** sums (rows, headDim) = sums * keep + weights (count, 4)ᵀ · values (count, headDim). `scaled`: room for as many weights. */
// @ts-ignore: decorator
@inline
function addRows(
  type: i32, rows: i32, weights: usize, scaled: usize, v: usize, strideBytes: usize, count: i32, headDim: i32, sums: usize, keep: v128,
): void {
  const rowBytes = <usize>headDim << 2
  const end = scaled + (<usize>count << 4)
  const k0 = v128.shuffle<i32>(keep, keep, 0, 0, 0, 0), k1 = v128.shuffle<i32>(keep, keep, 1, 1, 1, 1)
  const k2 = v128.shuffle<i32>(keep, keep, 2, 2, 2, 2), k3 = v128.shuffle<i32>(keep, keep, 3, 3, 3, 3)
  for (let element = 0; element < headDim; element += 8) {
    if (type == F16 ? element == 0 : (element & 31) == 0) {
      scaleWeights(type, weights, count, v + <usize>headDim + (<usize>(element >> 5) << 1), strideBytes, scaled)
    }
    const s0 = sums + (<usize>element << 2), s1 = s0 + rowBytes, s2 = s1 + rowBytes, s3 = s2 + rowBytes
    const zero = f32x4.splat(0)
    let a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero
    a0 = f32x4.mul(v128.load(s0), k0); b0 = f32x4.mul(v128.load(s0, 16), k0)
    if (rows > 1) { a1 = f32x4.mul(v128.load(s1), k1); b1 = f32x4.mul(v128.load(s1, 16), k1) }
    if (rows > 2) { a2 = f32x4.mul(v128.load(s2), k2); b2 = f32x4.mul(v128.load(s2, 16), k2) }
    if (rows > 3) { a3 = f32x4.mul(v128.load(s3), k3); b3 = f32x4.mul(v128.load(s3, 16), k3) }
    let value = v + (type == F16 ? <usize>element << 1 : <usize>element)
    for (let weight = scaled; weight < end; weight += 16) {
      const words = loadEight(type, value)
      const low = lowFour(type, words)
      const high = highFour(type, words)
      let y = v128.load32_splat(weight)
      a0 = madd(y, low, a0); b0 = madd(y, high, b0)
      if (rows > 1) { y = v128.load32_splat(weight, 4); a1 = madd(y, low, a1); b1 = madd(y, high, b1) }
      if (rows > 2) { y = v128.load32_splat(weight, 8); a2 = madd(y, low, a2); b2 = madd(y, high, b2) }
      if (rows > 3) { y = v128.load32_splat(weight, 12); a3 = madd(y, low, a3); b3 = madd(y, high, b3) }
      value += strideBytes
    }
    v128.store(s0, a0); v128.store(s0, b0, 16)
    if (rows > 1) { v128.store(s1, a1); v128.store(s1, b1, 16) }
    if (rows > 2) { v128.store(s2, a2); v128.store(s2, b2, 16) }
    if (rows > 3) { v128.store(s3, a3); v128.store(s3, b3, 16) }
  }
}

// @ts-ignore: decorator
@inline
export function addValuesFew(
  type: i32, rows: i32, weights: usize, scaled: usize, v: usize, strideBytes: usize, count: i32, headDim: i32, sums: usize, keep: v128,
): void {
  switch (rows) {
    case 1: addRows(type, 1, weights, scaled, v, strideBytes, count, headDim, sums, keep); break
    case 2: addRows(type, 2, weights, scaled, v, strideBytes, count, headDim, sums, keep); break
    case 3: addRows(type, 3, weights, scaled, v, strideBytes, count, headDim, sums, keep); break
    default: addRows(type, 4, weights, scaled, v, strideBytes, count, headDim, sums, keep); break
  }
}
