// 8 rows x 4 tokens of an unpacked panel (unpack-panel.ts) and a tile of activations (pack-activations.ts) by the
// relaxed int8 dot. The four lanes of an accumulator are four rows; 4 activation bytes are splatted. Two forms: `add`
// lets the engine add into 32-bit lanes (one instruction on VNNI and SDOT machines); `wide` keeps 16-bit sums of pairs
// and widens them before they can overflow, which is one instruction less on machines where the dot is
// pmaddubsw + pmaddwd + paddd.

import { byteRecordBytes } from './pack-activations'
import { dot, wide, widen } from './products'
import { madd } from './simd'
import { storeOutputs, storeTile } from './store-outputs'

/** The word of rows 4..7 that goes with the word of rows 0..3 at `at`. */
// @ts-ignore: decorator
@inline
function secondWord(at: usize, vectors: usize): v128 {
  return vectors == 8 ? v128.load(at, 128) : v128.load(at, 64)
}

/** Widened sums, added to `sum` unless this is the unit's only group. */
// @ts-ignore: decorator
@inline
function addWidened(pairs: v128, sum: v128, only: bool): v128 {
  return only ? widen(pairs) : i32x4.add(sum, widen(pairs))
}

/**
 * `vectors` per half of a unit: 8, or 4 for units of 16. `step`: how many of them are summed in 16 bits
 * (2 * 127 * largest weight * step < 32768 keeps pairs exact, and seeds keep the sums in range); 0 for the `add` form.
 */
// @ts-ignore: decorator
@inline
export function tileDot(
  vectors: usize, step: usize, minimum: bool,
  panel: usize, units: i32, tile: usize, out: usize, outStride: usize, tokens: i32, rows: i32, bias: usize, accumulate: bool,
): void {
  const half = vectors << 4
  const seeds = vectors << 4
  const zero = i32x4.splat(0)
  let f0 = zero, f1 = zero, f2 = zero, f3 = zero
  let g0 = zero, g1 = zero, g2 = zero, g3 = zero
  for (let unit = 0; unit < units; unit++) {
    const second = panel + half
    let a0 = zero, a1 = zero, a2 = zero, a3 = zero
    let b0 = zero, b1 = zero, b2 = zero, b3 = zero
    if (step == 0) {
      a0 = v128.load32_splat(tile + seeds); a1 = v128.load32_splat(tile + seeds, 4)
      a2 = v128.load32_splat(tile + seeds, 8); a3 = v128.load32_splat(tile + seeds, 12)
      b0 = a0; b1 = a1; b2 = a2; b3 = a3
    }
    // A loop, not straight code: the engine then keeps the sums in registers and interleaves them.
    let at = panel
    let word = tile
    if (step == 0) {
      while (at < second) {
        const w = v128.load(at)
        const v = secondWord(at, vectors)
        let y = v128.load32_splat(word)
        a0 = dot(y, w, a0); b0 = dot(y, v, b0)
        y = v128.load32_splat(word, 4)
        a1 = dot(y, w, a1); b1 = dot(y, v, b1)
        y = v128.load32_splat(word, 8)
        a2 = dot(y, w, a2); b2 = dot(y, v, b2)
        y = v128.load32_splat(word, 12)
        a3 = dot(y, w, a3); b3 = dot(y, v, b3)
        at += 16
        word += 16
      }
    } else {
      for (let group: usize = 0; group < vectors / step; group++) {
        const seed = tile + seeds + (group << 4)
        let c0 = v128.load32_splat(seed), c1 = v128.load32_splat(seed, 4)
        let c2 = v128.load32_splat(seed, 8), c3 = v128.load32_splat(seed, 12)
        let d0 = c0, d1 = c1, d2 = c2, d3 = c3
        const pause = at + (step << 4)
        while (at < pause) {
          const w = v128.load(at)
          const v = secondWord(at, vectors)
          let y = v128.load32_splat(word)
          c0 = wide(y, w, c0); d0 = wide(y, v, d0)
          y = v128.load32_splat(word, 4)
          c1 = wide(y, w, c1); d1 = wide(y, v, d1)
          y = v128.load32_splat(word, 8)
          c2 = wide(y, w, c2); d2 = wide(y, v, d2)
          y = v128.load32_splat(word, 12)
          c3 = wide(y, w, c3); d3 = wide(y, v, d3)
          at += 16
          word += 16
        }
        a0 = addWidened(c0, a0, step == vectors); b0 = addWidened(d0, b0, step == vectors)
        a1 = addWidened(c1, a1, step == vectors); b1 = addWidened(d1, b1, step == vectors)
        a2 = addWidened(c2, a2, step == vectors); b2 = addWidened(d2, b2, step == vectors)
        a3 = addWidened(c3, a3, step == vectors); b3 = addWidened(d3, b3, step == vectors)
      }
    }
    const scales = panel + (vectors << 5)
    const s = v128.load(scales)
    const t = v128.load(scales, 16)
    const tail = tile + seeds + 32
    let y = v128.load32_splat(tail)
    f0 = madd(f32x4.convert_i32x4_s(a0), f32x4.mul(s, y), f0); g0 = madd(f32x4.convert_i32x4_s(b0), f32x4.mul(t, y), g0)
    y = v128.load32_splat(tail, 4)
    f1 = madd(f32x4.convert_i32x4_s(a1), f32x4.mul(s, y), f1); g1 = madd(f32x4.convert_i32x4_s(b1), f32x4.mul(t, y), g1)
    y = v128.load32_splat(tail, 8)
    f2 = madd(f32x4.convert_i32x4_s(a2), f32x4.mul(s, y), f2); g2 = madd(f32x4.convert_i32x4_s(b2), f32x4.mul(t, y), g2)
    y = v128.load32_splat(tail, 12)
    f3 = madd(f32x4.convert_i32x4_s(a3), f32x4.mul(s, y), f3); g3 = madd(f32x4.convert_i32x4_s(b3), f32x4.mul(t, y), g3)
    if (minimum) {
      const low = v128.load(scales, 32)
      const high = v128.load(scales, 48)
      y = v128.load32_splat(tail, 16)
      f0 = madd(low, y, f0); g0 = madd(high, y, g0)
      y = v128.load32_splat(tail, 20)
      f1 = madd(low, y, f1); g1 = madd(high, y, g1)
      y = v128.load32_splat(tail, 24)
      f2 = madd(low, y, f2); g2 = madd(high, y, g2)
      y = v128.load32_splat(tail, 28)
      f3 = madd(low, y, f3); g3 = madd(high, y, g3)
    }
    panel += (vectors << 5) + 64
    tile += byteRecordBytes(vectors)
  }
  storeTile(out, outStride, tokens, rows, f0, g0, f1, g1, f2, g2, f3, g3, bias, accumulate)
}

/** 8 rows x 1 token from the row's own bytes; the same sums in the same order as `tileDot`, so results are bit-identical. */
// @ts-ignore: decorator
@inline
export function rowDot(
  vectors: usize, step: usize, minimum: bool,
  panel: usize, units: i32, offset: i32, x: usize, scales: usize, sums: usize, out: usize, rows: i32, bias: usize, accumulate: bool,
): void {
  const zero = i32x4.splat(0)
  let f = zero, g = zero
  for (let unit = 0; unit < units; unit++) {
    const second = panel + (vectors << 4)
    const sum = vectors == 8 ? load<i32>(sums) + load<i32>(sums, 4) : load<i32>(sums)
    let a = i32x4.splat(-offset * sum)
    let b = a
    let c = zero, d = zero
    // @unroll J 8
    if (<usize>J < vectors) {
      const y = v128.load32_splat(x, 4 * J)
      if (step == 0) {
        a = dot(y, v128.load(panel, 16 * J), a)
        b = dot(y, v128.load(second, 16 * J), b)
      } else {
        if (<usize>J % step == 0) {
          c = zero
          d = zero
        }
        c = wide(y, v128.load(panel, 16 * J), c)
        d = wide(y, v128.load(second, 16 * J), d)
        if (<usize>J % step == step - 1) {
          a = addWidened(c, a, false)
          b = addWidened(d, b, false)
        }
      }
    }
    // @end
    const tail = panel + (vectors << 5)
    const factor = load<f32>(scales + (<usize>(vectors == 8 ? unit : unit >> 1) << 2))
    const y = f32x4.splat(factor)
    f = madd(f32x4.convert_i32x4_s(a), f32x4.mul(v128.load(tail), y), f)
    g = madd(f32x4.convert_i32x4_s(b), f32x4.mul(v128.load(tail, 16), y), g)
    if (minimum) {
      const z = f32x4.splat(<f32>sum * factor)
      f = madd(v128.load(tail, 32), z, f)
      g = madd(v128.load(tail, 48), z, g)
    }
    panel += (vectors << 5) + 64
    x += vectors << 2
    sums += vectors
  }
  storeOutputs(out, rows, f, g, bias, accumulate)
}
