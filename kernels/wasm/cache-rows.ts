// Rows of keys and values, one for each position and head: float32, half precision, or (Q8_0) int8 followed by a
// bfloat16 scale for each 32 of them, filled up to 4 bytes. Laid out and rounded as src/backend/cache-rows.ts says.

import { F16, F32, Q8_0 } from './layout'
import { largestMagnitude, quantizeHalf } from './quantize-rows'
import { floatToHalf, loadHalves } from './simd'

export function cacheRowBytes(type: i32, headDim: i32): usize {
  if (type == F32) return <usize>headDim << 2
  if (type == F16) return <usize>headDim << 1
  return <usize>((headDim + (((headDim + 31) >> 5) << 1) + 3) & ~3)
}

/** A bfloat16 scale in all lanes. */
// @ts-ignore: decorator
@inline
export function loadScale(at: usize): v128 {
  return i32x4.shl(v128.load16_splat(at), 16)
}

/** Elements `element` to `element + 3`, a multiple of 4, of a row, without their scale. */
// @ts-ignore: decorator
@inline
export function loadUnscaled(type: i32, row: usize, element: usize): v128 {
  if (type == F32) return v128.load(row + (element << 2))
  if (type == F16) return loadHalves(row + (element << 1))
  const words = i16x8.extend_low_i8x16_s(v128.load32_zero(row + element))
  return f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(words))
}

// @ts-ignore: decorator
@inline
export function loadFour(type: i32, row: usize, element: usize, headDim: i32): v128 {
  const values = loadUnscaled(type, row, element)
  return type == Q8_0 ? f32x4.mul(values, loadScale(row + <usize>headDim + ((element >> 5) << 1))) : values
}

function storeHalves(x: usize, out: usize, count: i32): void {
  let i = 0
  for (; i + 8 <= count; i += 8) {
    v128.store(out, i16x8.narrow_i32x4_u(floatToHalf(v128.load(x)), floatToHalf(v128.load(x, 16))))
    x += 32
    out += 16
  }
  for (; i < count; i++) {
    store<u16>(out, <u16>i32x4.extract_lane(floatToHalf(v128.load32_splat(x)), 0))
    x += 4
    out += 2
  }
}

/** 32 float32 to 32 int8 and their scale. */
// @ts-ignore: decorator
@inline
function storeBlock(x: usize, out: usize, scale: usize): void {
  const largest = largestMagnitude(x)
  const exact = largest / 127
  // Rounded up, so that no element exceeds 127. NaN has one form only.
  const bits = exact == exact ? (reinterpret<i32>(exact) + 0xffff) >> 16 : 0x7fc0
  store<u16>(scale, <u16>bits)
  const inverse = f32x4.splat(largest > 0 ? 1 / reinterpret<f32>(bits << 16) : 0)
  quantizeHalf(x, out, inverse)
  quantizeHalf(x + 64, out + 16, inverse)
}

function storeBytes(x: usize, out: usize, headDim: i32, scratch: usize): void {
  let scale = out + <usize>headDim
  const end = out + cacheRowBytes(Q8_0, headDim)
  let at = 0
  for (; at + 32 <= headDim; at += 32) {
    storeBlock(x + (<usize>at << 2), out + at, scale)
    scale += 2
  }
  if (at < headDim) {
    const count = <usize>(headDim - at)
    memory.fill(scratch, 0, 128)
    memory.copy(scratch, x + (<usize>at << 2), count << 2)
    storeBlock(scratch, scratch + 128, scale)
    memory.copy(out + at, scratch + 128, count)
    scale += 2
  }
  if (scale < end) store<u16>(scale, 0)
}

export function storeRows(
  type: i32, x: usize, out: usize, rows: i32, heads: i32, headDim: i32, headStride: i32, begin: i32, end: i32, scratch: usize,
): void {
  const rowBytes = cacheRowBytes(type, headDim)
  let from = x + ((<usize>begin * <usize>(heads * headDim)) << 2)
  for (let row = begin; row < end; row++) {
    let to = out + <usize>row * rowBytes
    for (let head = 0; head < heads; head++) {
      if (type == F32) memory.copy(to, from, rowBytes)
      else if (type == F16) storeHalves(from, to, headDim)
      else storeBytes(from, to, headDim, scratch)
      from += <usize>headDim << 2
      to += <usize>headStride * rowBytes
    }
  }
}
