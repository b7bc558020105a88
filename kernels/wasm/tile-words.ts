// Products through 16-bit words (i32x4.dot_i16x8_s): exact for full int8 weights on every engine. Used by the
// baseline build, and for 8-bit weights where the relaxed dot saturates. One vector holds two elements of four rows, so
// that the sums of a unit need no adding of lanes. A single row keeps the order of its byte panel instead.

import { wordRecordBytes } from './pack-activations'
import { madd } from './simd'
import { storeOutputs, storeTile } from './store-outputs'

/** Int8 activations to int16. `count` is a multiple of 16. */
export function widenActivations(x: usize, out: usize, count: i32): void {
  const end = x + count
  while (x < end) {
    const bytes = v128.load(x)
    v128.store(out, i16x8.extend_low_i8x16_s(bytes))
    v128.store(out, i16x8.extend_high_i8x16_s(bytes), 16)
    x += 16
    out += 32
  }
}

/**
 * A panel's unsigned bytes to int16 with the offset subtracted. Unit: for every two elements rows 0..3, then rows 4..7
 * (2 x 16 bytes); scales and minimums follow as in the byte form.
 */
export function widenPanel(panel: usize, out: usize, units: i32, vectors: usize, offset: i32): void {
  const subtract = i16x8.splat(<i16>offset)
  for (let unit = 0; unit < units; unit++) {
    const second = panel + (vectors << 4)
    while (panel < second) {
      // @unroll HALF 2
      const four = v128.load(HALF == 0 ? panel : panel + (vectors << 4))
      // Elements 0 and 1 of the four rows, then 2 and 3.
      const bytes = v128.shuffle<u8>(four, four, 0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
      v128.store(out, i16x8.sub(i16x8.extend_low_i8x16_u(bytes), subtract), 16 * HALF)
      v128.store(out, i16x8.sub(i16x8.extend_high_i8x16_u(bytes), subtract), 16 * HALF + 32)
      // @end
      panel += 16
      out += 64
    }
    panel += vectors << 4
    v128.store(out, v128.load(panel))
    v128.store(out, v128.load(panel, 16), 16)
    v128.store(out, v128.load(panel, 32), 32)
    v128.store(out, v128.load(panel, 48), 48)
    panel += 64
    out += 64
  }
}

/** Lanes (r0, r0, r1, r1), (r2, r2, r3, r3) to one sum per row. */
// @ts-ignore: decorator
@inline
export function addNeighbours(a: v128, b: v128): v128 {
  return i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7))
}

/** 8 rows x 4 tokens of a widened panel; the integer sums of a unit stay in registers. */
// @ts-ignore: decorator
@inline
export function tileWords(
  vectors: usize, panel: usize, units: i32, minimum: bool, tile: usize,
  out: usize, outStride: usize, tokens: i32, rows: i32, bias: usize, accumulate: bool,
): void {
  const zero = f32x4.splat(0)
  let f0 = zero, f1 = zero, f2 = zero, f3 = zero, g0 = zero, g1 = zero, g2 = zero, g3 = zero
  for (let unit = 0; unit < units; unit++) {
    let a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero
    const end = panel + (vectors << 6)
    let pairs = tile
    for (let at = panel; at < end; at += 32) {
      const w = v128.load(at)
      const v = v128.load(at, 16)
      let y = v128.load32_splat(pairs)
      a0 = i32x4.add(a0, i32x4.dot_i16x8_s(y, w)); b0 = i32x4.add(b0, i32x4.dot_i16x8_s(y, v))
      y = v128.load32_splat(pairs, 4)
      a1 = i32x4.add(a1, i32x4.dot_i16x8_s(y, w)); b1 = i32x4.add(b1, i32x4.dot_i16x8_s(y, v))
      y = v128.load32_splat(pairs, 8)
      a2 = i32x4.add(a2, i32x4.dot_i16x8_s(y, w)); b2 = i32x4.add(b2, i32x4.dot_i16x8_s(y, v))
      y = v128.load32_splat(pairs, 12)
      a3 = i32x4.add(a3, i32x4.dot_i16x8_s(y, w)); b3 = i32x4.add(b3, i32x4.dot_i16x8_s(y, v))
      pairs += 16
    }
    const scales = end
    const tail = tile + (vectors << 5)
    const s = v128.load(scales), r = v128.load(scales, 16)
    let y = v128.load32_splat(tail)
    f0 = madd(f32x4.convert_i32x4_s(a0), f32x4.mul(s, y), f0); g0 = madd(f32x4.convert_i32x4_s(b0), f32x4.mul(r, y), g0)
    y = v128.load32_splat(tail, 4)
    f1 = madd(f32x4.convert_i32x4_s(a1), f32x4.mul(s, y), f1); g1 = madd(f32x4.convert_i32x4_s(b1), f32x4.mul(r, y), g1)
    y = v128.load32_splat(tail, 8)
    f2 = madd(f32x4.convert_i32x4_s(a2), f32x4.mul(s, y), f2); g2 = madd(f32x4.convert_i32x4_s(b2), f32x4.mul(r, y), g2)
    y = v128.load32_splat(tail, 12)
    f3 = madd(f32x4.convert_i32x4_s(a3), f32x4.mul(s, y), f3); g3 = madd(f32x4.convert_i32x4_s(b3), f32x4.mul(r, y), g3)
    if (minimum) {
      const m = v128.load(scales, 32), n = v128.load(scales, 48)
      y = v128.load32_splat(tail, 16)
      f0 = madd(m, y, f0); g0 = madd(n, y, g0)
      y = v128.load32_splat(tail, 20)
      f1 = madd(m, y, f1); g1 = madd(n, y, g1)
      y = v128.load32_splat(tail, 24)
      f2 = madd(m, y, f2); g2 = madd(n, y, g2)
      y = v128.load32_splat(tail, 28)
      f3 = madd(m, y, f3); g3 = madd(n, y, g3)
    }
    panel += (vectors << 6) + 64
    tile += wordRecordBytes(vectors)
  }
  storeTile(out, outStride, tokens, rows, f0, g0, f1, g1, f2, g2, f3, g3, bias, accumulate)
}

/** 8 rows x 1 token straight from a byte panel; the same sums in the same order as `tileWords`. */
// @ts-ignore: decorator
@inline
export function rowWords(
  vectors: usize, panel: usize, units: i32, offset: i32, minimum: bool,
  x: usize, scales: usize, sums: usize, out: usize, rows: i32, bias: usize, accumulate: bool,
): void {
  const zero = i32x4.splat(0)
  let f = zero, g = zero
  for (let unit = 0; unit < units; unit++) {
    let a = zero, b = zero, c = zero, d = zero
    const second = panel + (vectors << 4)
    // @unroll J 8
    if (<usize>J < vectors) {
      const y = v128.load64_splat(x, 8 * J)
      const w = v128.load(panel, 16 * J)
      const v = v128.load(second, 16 * J)
      a = i32x4.add(a, i32x4.dot_i16x8_s(y, i16x8.extend_low_i8x16_u(w)))
      b = i32x4.add(b, i32x4.dot_i16x8_s(y, i16x8.extend_high_i8x16_u(w)))
      c = i32x4.add(c, i32x4.dot_i16x8_s(y, i16x8.extend_low_i8x16_u(v)))
      d = i32x4.add(d, i32x4.dot_i16x8_s(y, i16x8.extend_high_i8x16_u(v)))
    }
    // @end
    const sum = vectors == 8 ? load<i32>(sums) + load<i32>(sums, 4) : load<i32>(sums)
    const seed = i32x4.splat(-offset * sum)
    const tail = panel + (vectors << 5)
    const factor = load<f32>(scales + (<usize>(vectors == 8 ? unit : unit >> 1) << 2))
    const y = f32x4.splat(factor)
    f = madd(f32x4.convert_i32x4_s(i32x4.add(seed, addNeighbours(a, b))), f32x4.mul(v128.load(tail), y), f)
    g = madd(f32x4.convert_i32x4_s(i32x4.add(seed, addNeighbours(c, d))), f32x4.mul(v128.load(tail, 16), y), g)
    if (minimum) {
      const z = f32x4.splat(<f32>sum * factor)
      f = madd(v128.load(tail, 32), z, f)
      g = madd(v128.load(tail, 48), z, g)
    }
    panel += (vectors << 5) + 64
    x += vectors << 3
    sums += vectors
  }
  storeOutputs(out, rows, f, g, bias, accumulate)
}
