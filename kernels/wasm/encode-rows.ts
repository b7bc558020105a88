// Float32 rows to the blocks of a model file, round to nearest as ggml does (engine facts 4.3), and back from the
// float types: what a safetensors checkpoint goes through when it is loaded at q8 or q4.

import { BF16, F16, F32, Q4_0, Q8_0 } from './layout'
import { floatToHalf, halfToFloatExact } from './simd'

// @ts-ignore: decorator
@inline
function toHalf(value: f32): u16 {
  return <u16>i32x4.extract_lane(floatToHalf(f32x4.splat(value)), 0)
}

function encodeQ8(x: usize, out: usize): void {
  let largest: f32 = 0
  for (let i: usize = 0; i < 32; i++) largest = max(largest, abs(load<f32>(x + (i << 2))))
  const scale: f32 = largest / 127
  const inverse: f32 = scale != 0 ? 1 / scale : 0
  store<u16>(out, toHalf(scale))
  for (let i: usize = 0; i < 32; i++) {
    const value = load<f32>(x + (i << 2)) * inverse
    // Half away from zero, as C's roundf.
    let whole = trunc(value)
    if (abs(value - whole) >= 0.5) whole += value < 0 ? -1 : 1
    store<i8>(out + 2 + i, <i8><i32>whole)
  }
}

function encodeQ4(x: usize, out: usize): void {
  let largest: f32 = 0
  let signed: f32 = 0
  for (let i: usize = 0; i < 32; i++) {
    const value = load<f32>(x + (i << 2))
    if (abs(value) > largest) {
      largest = abs(value)
      signed = value
    }
  }
  const scale: f32 = signed / -8
  const inverse: f32 = scale != 0 ? 1 / scale : 0
  store<u16>(out, toHalf(scale))
  for (let i: usize = 0; i < 16; i++) {
    const first = min(15, <i32>(load<f32>(x + (i << 2)) * inverse + 8.5))
    const second = min(15, <i32>(load<f32>(x + (i << 2), 64) * inverse + 8.5))
    store<u8>(out + 2 + i, <u8>(first | (second << 4)))
  }
}

export function encodeRows(type: i32, source: usize, out: usize, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  const blocks = (columns + 31) >> 5
  const blockBytes: usize = type == Q4_0 ? 18 : 34
  for (let row = begin; row < end; row++) {
    const from = source + ((<usize>row * columns) << 2)
    let to = out + <usize>row * <usize>blocks * blockBytes
    for (let block = 0; block < blocks; block++) {
      let x = from + (<usize>block << 7)
      const count = columns - (block << 5)
      if (count < 32) {
        memory.fill(scratch, 0, 128)
        memory.copy(scratch, x, <usize>count << 2)
        x = scratch
      }
      if (type == Q4_0) encodeQ4(x, to)
      else if (type == Q8_0) encodeQ8(x, to)
      to += blockBytes
    }
  }
}

export function decodeRows(type: i32, source: usize, out: usize, rows: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  const first = <usize>begin * columns
  const count = <usize>(end - begin) * columns
  const to = out + (first << 2)
  if (type == F32) {
    memory.copy(to, source + (first << 2), count << 2)
    return
  }
  const from = source + (first << 1)
  let i: usize = 0
  for (; i + 4 <= count; i += 4) {
    const at = from + (i << 1)
    v128.store(to + (i << 2), type == F16 ? halfToFloatExact(v128.load64_zero(at)) : i32x4.shl(i32x4.extend_low_i16x8_u(v128.load64_zero(at)), 16))
  }
  for (; i < count; i++) {
    const half = v128.load16_splat(from + (i << 1))
    const value = type == BF16 ? i32x4.shl(i32x4.extend_low_i16x8_u(half), 16) : halfToFloatExact(half)
    store<f32>(to + (i << 2), f32x4.extract_lane(value, 0))
  }
}
