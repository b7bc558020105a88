// Products of an unpacked panel (unpack-panel.ts) with int8 activations by the relaxed int8 dot. The four lanes of
// an accumulator are four rows; 4 activation bytes are splatted. Two forms: `add` lets the engine add into 32-bit
// lanes (one instruction on VNNI and SDOT machines); `wide` keeps 16-bit sums of pairs and widens them before they
// can overflow, which is one instruction less on machines where the dot is pmaddubsw + pmaddwd + paddd.

import { storeOutputs } from './store-outputs'
import { madd } from './simd'

// @ts-ignore: decorator
@inline
function dot(x: v128, w: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i32x4.relaxed_dot_i8x16_i7x16_add_s(x, w, sum)
  return sum
}

// @ts-ignore: decorator
@inline
function pairs(x: v128, w: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i16x8.relaxed_dot_i8x16_i7x16_s(x, w)
  return x
}

// @ts-ignore: decorator
@inline
function widen(sums: v128, ones: v128): v128 {
  return i32x4.dot_i16x8_s(sums, ones)
}

/** Sum of the activations of one unit. */
// @ts-ignore: decorator
@inline
export function unitSum(sums: usize, vectors: usize): i32 {
  return vectors == 8 ? load<i32>(sums) + load<i32>(sums, 4) : load<i32>(sums)
}

/**
 * 8 rows x 4 tokens. `vectors`: vectors per half of a unit (8 or 4). `step`: how many of them may be summed in 16
 * bits (2 * 127 * largest weight * step < 32768); 0 for the `add` form.
 */
// @ts-ignore: decorator
@inline
export function tileDot4(
  panel: usize, units: i32, vectors: usize, step: usize, offset: i32, minimum: bool,
  x: usize, xStride: usize, scales: usize, scaleStride: usize, sums: usize, sumStride: usize,
  out: usize, outStride: usize, rows: i32, bias: usize, accumulate: bool,
): void {
  const secondHalf = vectors << 4
  const unitScales = vectors << 5
  const unitBytes = unitScales + 64
  const sumBytes = vectors
  const zero = i32x4.splat(0)
  const ones = i16x8.splat(1)
  let f0 = zero, f1 = zero, f2 = zero, f3 = zero
  let g0 = zero, g1 = zero, g2 = zero, g3 = zero
  for (let unit = 0; unit < units; unit++) {
    const sum0 = unitSum(sums, vectors)
    const sum1 = unitSum(sums + sumStride, vectors)
    const sum2 = unitSum(sums + sumStride * 2, vectors)
    const sum3 = unitSum(sums + sumStride * 3, vectors)
    let a0 = i32x4.splat(-offset * sum0), a1 = i32x4.splat(-offset * sum1)
    let a2 = i32x4.splat(-offset * sum2), a3 = i32x4.splat(-offset * sum3)
    let b0 = a0, b1 = a1, b2 = a2, b3 = a3
    let at = panel
    const end = panel + secondHalf
    if (step == 0) {
      while (at < end) {
        const w = v128.load(at)
        const v = v128.load(at + secondHalf)
        let y = v128.load32_splat(x)
        a0 = dot(y, w, a0); b0 = dot(y, v, b0)
        y = v128.load32_splat(x + xStride)
        a1 = dot(y, w, a1); b1 = dot(y, v, b1)
        y = v128.load32_splat(x + xStride * 2)
        a2 = dot(y, w, a2); b2 = dot(y, v, b2)
        y = v128.load32_splat(x + xStride * 3)
        a3 = dot(y, w, a3); b3 = dot(y, v, b3)
        at += 16
        x += 4
      }
    } else {
      while (at < end) {
        let c0 = zero, c1 = zero, c2 = zero, c3 = zero
        let d0 = zero, d1 = zero, d2 = zero, d3 = zero
        const pause = at + (step << 4)
        while (at < pause) {
          const w = v128.load(at)
          const v = v128.load(at + secondHalf)
          let y = v128.load32_splat(x)
          c0 = i16x8.add(c0, pairs(y, w)); d0 = i16x8.add(d0, pairs(y, v))
          y = v128.load32_splat(x + xStride)
          c1 = i16x8.add(c1, pairs(y, w)); d1 = i16x8.add(d1, pairs(y, v))
          y = v128.load32_splat(x + xStride * 2)
          c2 = i16x8.add(c2, pairs(y, w)); d2 = i16x8.add(d2, pairs(y, v))
          y = v128.load32_splat(x + xStride * 3)
          c3 = i16x8.add(c3, pairs(y, w)); d3 = i16x8.add(d3, pairs(y, v))
          at += 16
          x += 4
        }
        a0 = i32x4.add(a0, widen(c0, ones)); b0 = i32x4.add(b0, widen(d0, ones))
        a1 = i32x4.add(a1, widen(c1, ones)); b1 = i32x4.add(b1, widen(d1, ones))
        a2 = i32x4.add(a2, widen(c2, ones)); b2 = i32x4.add(b2, widen(d2, ones))
        a3 = i32x4.add(a3, widen(c3, ones)); b3 = i32x4.add(b3, widen(d3, ones))
      }
    }
    const s = v128.load(panel + unitScales)
    const t = v128.load(panel + unitScales, 16)
    // Two units of 16 share one activation scale.
    const scale = vectors == 8 ? scales + (<usize>unit << 2) : scales + ((<usize>unit >> 1) << 2)
    let y = v128.load32_splat(scale)
    f0 = madd(f32x4.convert_i32x4_s(a0), f32x4.mul(s, y), f0); g0 = madd(f32x4.convert_i32x4_s(b0), f32x4.mul(t, y), g0)
    y = v128.load32_splat(scale + scaleStride)
    f1 = madd(f32x4.convert_i32x4_s(a1), f32x4.mul(s, y), f1); g1 = madd(f32x4.convert_i32x4_s(b1), f32x4.mul(t, y), g1)
    y = v128.load32_splat(scale + scaleStride * 2)
    f2 = madd(f32x4.convert_i32x4_s(a2), f32x4.mul(s, y), f2); g2 = madd(f32x4.convert_i32x4_s(b2), f32x4.mul(t, y), g2)
    y = v128.load32_splat(scale + scaleStride * 3)
    f3 = madd(f32x4.convert_i32x4_s(a3), f32x4.mul(s, y), f3); g3 = madd(f32x4.convert_i32x4_s(b3), f32x4.mul(t, y), g3)
    if (minimum) {
      const low = v128.load(panel + unitScales, 32)
      const high = v128.load(panel + unitScales, 48)
      let z = f32x4.splat(<f32>sum0 * load<f32>(scale))
      f0 = madd(low, z, f0); g0 = madd(high, z, g0)
      z = f32x4.splat(<f32>sum1 * load<f32>(scale + scaleStride))
      f1 = madd(low, z, f1); g1 = madd(high, z, g1)
      z = f32x4.splat(<f32>sum2 * load<f32>(scale + scaleStride * 2))
      f2 = madd(low, z, f2); g2 = madd(high, z, g2)
      z = f32x4.splat(<f32>sum3 * load<f32>(scale + scaleStride * 3))
      f3 = madd(low, z, f3); g3 = madd(high, z, g3)
    }
    panel += unitBytes
    sums += sumBytes
  }
  storeOutputs(out, rows, f0, g0, bias, accumulate)
  storeOutputs(out + outStride, rows, f1, g1, bias, accumulate)
  storeOutputs(out + outStride * 2, rows, f2, g2, bias, accumulate)
  storeOutputs(out + outStride * 3, rows, f3, g3, bias, accumulate)
}

/** 8 rows x 1 token; the same sums in the same order as `tileDot4`, so results are bit-identical. */
// @ts-ignore: decorator
@inline
export function tileDot1(
  panel: usize, units: i32, vectors: usize, step: usize, offset: i32, minimum: bool,
  x: usize, scales: usize, sums: usize, out: usize, rows: i32, bias: usize, accumulate: bool,
): void {
  const secondHalf = vectors << 4
  const unitScales = vectors << 5
  const zero = i32x4.splat(0)
  const ones = i16x8.splat(1)
  let f = zero, g = zero
  for (let unit = 0; unit < units; unit++) {
    const sum = unitSum(sums, vectors)
    let a = i32x4.splat(-offset * sum)
    let b = a
    let at = panel
    const end = panel + secondHalf
    if (step == 0) {
      while (at < end) {
        const y = v128.load32_splat(x)
        a = dot(y, v128.load(at), a)
        b = dot(y, v128.load(at + secondHalf), b)
        at += 16
        x += 4
      }
    } else {
      while (at < end) {
        let c = zero, d = zero
        const pause = at + (step << 4)
        while (at < pause) {
          const y = v128.load32_splat(x)
          c = i16x8.add(c, pairs(y, v128.load(at)))
          d = i16x8.add(d, pairs(y, v128.load(at + secondHalf)))
          at += 16
          x += 4
        }
        a = i32x4.add(a, widen(c, ones))
        b = i32x4.add(b, widen(d, ones))
      }
    }
    const scale = vectors == 8 ? scales + (<usize>unit << 2) : scales + ((<usize>unit >> 1) << 2)
    const y = v128.load32_splat(scale)
    f = madd(f32x4.convert_i32x4_s(a), f32x4.mul(v128.load(panel + unitScales), y), f)
    g = madd(f32x4.convert_i32x4_s(b), f32x4.mul(v128.load(panel + unitScales, 16), y), g)
    if (minimum) {
      const z = f32x4.splat(<f32>sum * load<f32>(scale))
      f = madd(v128.load(panel + unitScales, 32), z, f)
      g = madd(v128.load(panel + unitScales, 48), z, g)
    }
    panel += unitScales + 64
    sums += vectors
  }
  storeOutputs(out, rows, f, g, bias, accumulate)
}
