// Products through 16-bit words (i32x4.dot_i16x8_s): exact for full int8 weights on every engine. Used by the
// baseline build, and for 8-bit weights where the relaxed dot saturates. One vector holds two rows x 4 elements, the
// activations are int16, and neighbouring lanes are added at the end of a unit.

import { unitSum } from './tile-dot'
import { storeOutputs } from './store-outputs'
import { madd } from './simd'

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
 * A panel's unsigned bytes to int16 with the offset subtracted. Unit: half 0, then half 1, each `vectors` x
 * (rows 0, 1 | rows 2, 3) x 4 elements; scales and minimums follow as in the byte form.
 */
export function widenPanel(panel: usize, out: usize, units: i32, vectors: usize, offset: i32): void {
  const subtract = i16x8.splat(<i16>offset)
  for (let unit = 0; unit < units; unit++) {
    const end = panel + (vectors << 5)
    while (panel < end) {
      const bytes = v128.load(panel)
      v128.store(out, i16x8.sub(i16x8.extend_low_i8x16_u(bytes), subtract))
      v128.store(out, i16x8.sub(i16x8.extend_high_i8x16_u(bytes), subtract), 16)
      panel += 16
      out += 32
    }
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
function addNeighbours(a: v128, b: v128): v128 {
  return i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7))
}

/** 4 rows (one half) x 4 tokens of a widened panel. Returns through memory: 4 vectors at `result`. */
// @ts-ignore: decorator
@inline
function halfTile4(
  panel: usize, half: usize, units: i32, vectors: usize, minimum: bool,
  x: usize, xStride: usize, scales: usize, scaleStride: usize, sums: usize, sumStride: usize, result: usize,
): void {
  const unitScales = vectors << 6
  const zero = i32x4.splat(0)
  let f0 = zero, f1 = zero, f2 = zero, f3 = zero
  for (let unit = 0; unit < units; unit++) {
    let a0 = zero, a1 = zero, a2 = zero, a3 = zero
    let b0 = zero, b1 = zero, b2 = zero, b3 = zero
    let at = panel + half * (vectors << 5)
    const end = at + (vectors << 5)
    while (at < end) {
      const w = v128.load(at)
      const v = v128.load(at, 16)
      let y = v128.load64_splat(x)
      a0 = i32x4.add(a0, i32x4.dot_i16x8_s(y, w)); b0 = i32x4.add(b0, i32x4.dot_i16x8_s(y, v))
      y = v128.load64_splat(x + xStride)
      a1 = i32x4.add(a1, i32x4.dot_i16x8_s(y, w)); b1 = i32x4.add(b1, i32x4.dot_i16x8_s(y, v))
      y = v128.load64_splat(x + xStride * 2)
      a2 = i32x4.add(a2, i32x4.dot_i16x8_s(y, w)); b2 = i32x4.add(b2, i32x4.dot_i16x8_s(y, v))
      y = v128.load64_splat(x + xStride * 3)
      a3 = i32x4.add(a3, i32x4.dot_i16x8_s(y, w)); b3 = i32x4.add(b3, i32x4.dot_i16x8_s(y, v))
      at += 32
      x += 8
    }
    const s = v128.load(panel + unitScales + (half << 4))
    const scale = vectors == 8 ? scales + (<usize>unit << 2) : scales + ((<usize>unit >> 1) << 2)
    f0 = madd(f32x4.convert_i32x4_s(addNeighbours(a0, b0)), f32x4.mul(s, v128.load32_splat(scale)), f0)
    f1 = madd(f32x4.convert_i32x4_s(addNeighbours(a1, b1)), f32x4.mul(s, v128.load32_splat(scale + scaleStride)), f1)
    f2 = madd(f32x4.convert_i32x4_s(addNeighbours(a2, b2)), f32x4.mul(s, v128.load32_splat(scale + scaleStride * 2)), f2)
    f3 = madd(f32x4.convert_i32x4_s(addNeighbours(a3, b3)), f32x4.mul(s, v128.load32_splat(scale + scaleStride * 3)), f3)
    if (minimum) {
      const m = v128.load(panel + unitScales + 32 + (half << 4))
      f0 = madd(m, f32x4.splat(<f32>unitSum(sums, vectors) * load<f32>(scale)), f0)
      f1 = madd(m, f32x4.splat(<f32>unitSum(sums + sumStride, vectors) * load<f32>(scale + scaleStride)), f1)
      f2 = madd(m, f32x4.splat(<f32>unitSum(sums + sumStride * 2, vectors) * load<f32>(scale + scaleStride * 2)), f2)
      f3 = madd(m, f32x4.splat(<f32>unitSum(sums + sumStride * 3, vectors) * load<f32>(scale + scaleStride * 3)), f3)
    }
    panel += unitScales + 64
    sums += vectors
  }
  v128.store(result, f0)
  v128.store(result, f1, 16)
  v128.store(result, f2, 32)
  v128.store(result, f3, 48)
}

/** 8 rows x 4 tokens of a widened panel; `result` is 128 bytes of scratch. */
// @ts-ignore: decorator
@inline
export function tileWords4(
  panel: usize, units: i32, vectors: usize, minimum: bool,
  x: usize, xStride: usize, scales: usize, scaleStride: usize, sums: usize, sumStride: usize,
  out: usize, outStride: usize, rows: i32, bias: usize, accumulate: bool, result: usize,
): void {
  for (let half: usize = 0; half < 2; half++) {
    halfTile4(panel, half, units, vectors, minimum, x, xStride, scales, scaleStride, sums, sumStride, result + (half << 6))
  }
  for (let token: usize = 0; token < 4; token++) {
    const at = result + (token << 4)
    storeOutputs(out + outStride * token, rows, v128.load(at), v128.load(at, 64), bias, accumulate)
  }
}

/** 8 rows x 1 token straight from a byte panel; the same sums in the same order as `tileWords4`. */
// @ts-ignore: decorator
@inline
export function tileWords1(
  panel: usize, units: i32, vectors: usize, offset: i32, minimum: bool,
  x: usize, scales: usize, sums: usize, out: usize, rows: i32, bias: usize, accumulate: bool,
): void {
  const secondHalf = vectors << 4
  const unitScales = vectors << 5
  const zero = i32x4.splat(0)
  let f = zero, g = zero
  for (let unit = 0; unit < units; unit++) {
    let a = zero, b = zero, c = zero, d = zero
    let at = panel
    const end = panel + secondHalf
    while (at < end) {
      const y = v128.load64_splat(x)
      const w = v128.load(at)
      const v = v128.load(at + secondHalf)
      a = i32x4.add(a, i32x4.dot_i16x8_s(y, i16x8.extend_low_i8x16_u(w)))
      b = i32x4.add(b, i32x4.dot_i16x8_s(y, i16x8.extend_high_i8x16_u(w)))
      c = i32x4.add(c, i32x4.dot_i16x8_s(y, i16x8.extend_low_i8x16_u(v)))
      d = i32x4.add(d, i32x4.dot_i16x8_s(y, i16x8.extend_high_i8x16_u(v)))
      at += 16
      x += 8
    }
    const sum = unitSum(sums, vectors)
    const seed = i32x4.splat(-offset * sum)
    const scale = vectors == 8 ? scales + (<usize>unit << 2) : scales + ((<usize>unit >> 1) << 2)
    const y = v128.load32_splat(scale)
    f = madd(f32x4.convert_i32x4_s(i32x4.add(seed, addNeighbours(a, b))), f32x4.mul(v128.load(panel + unitScales), y), f)
    g = madd(f32x4.convert_i32x4_s(i32x4.add(seed, addNeighbours(c, d))), f32x4.mul(v128.load(panel + unitScales, 16), y), g)
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
