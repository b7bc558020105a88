// One token times a packed matrix, unpacking in registers. Decoding is bound by memory: a panel of 8 rows is one
// contiguous stream. Same integer sums and the same order of float additions as the tile kernels.

import { dotKind, SATURATING, SIGNED, WORDS } from './dot-kind'
import { dot, wide as addPairs, widen } from './products'
import { madd, loadHalves } from './simd'
import { storeOutputs } from './store-outputs'
import { widenActivations } from './tile-words'

/** In memory, as all vector constants: see simd.ts. */
const LOW_NIBBLES = memory.data<u8>([15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15], 16)

/** Sums of one half (4 rows x 32 elements) of a Q4_0 block in 32-bit lanes. */
// @ts-ignore: decorator
@inline
function halfBlockQ4(packed: usize, x: usize, wide: bool, seed: v128): v128 {
  if (wide) {
    let a = i32x4.splat(0), b = a
    for (let j: usize = 0; j < 4; j++) {
      const words = v128.load(packed + (j << 4))
      const low = v128.and(words, v128.load(LOW_NIBBLES))
      const high = v128.and(i16x8.shr_u(words, 4), v128.load(LOW_NIBBLES))
      a = addPairs(v128.load32_splat(x + (j << 2)), low, a)
      b = addPairs(v128.load32_splat(x + (j << 2), 16), high, b)
    }
    return i32x4.add(seed, widen(i16x8.add(a, b)))
  }
  let a = seed, b = i32x4.splat(0)
  for (let j: usize = 0; j < 4; j++) {
    const words = v128.load(packed + (j << 4))
    a = dot(v128.load32_splat(x + (j << 2)), v128.and(words, v128.load(LOW_NIBBLES)), a)
    b = dot(v128.load32_splat(x + (j << 2), 16), v128.and(i16x8.shr_u(words, 4), v128.load(LOW_NIBBLES)), b)
  }
  return i32x4.add(a, b)
}

// @ts-ignore: decorator
@inline
function rowsQ4(wide: bool, x: usize, scales: usize, sums: usize, blocks: i32, packed: usize, out: usize, rows: i32, bias: usize, add: bool): void {
  let f = f32x4.splat(0), g = f
  for (let block = 0; block < blocks; block++) {
    const seed = i32x4.splat(-8 * (load<i32>(sums) + load<i32>(sums, 4)))
    const a = halfBlockQ4(packed, x, wide, seed)
    const b = halfBlockQ4(packed + 64, x, wide, seed)
    const y = v128.load32_splat(scales)
    f = madd(f32x4.convert_i32x4_s(a), f32x4.mul(loadHalves(packed + 128), y), f)
    g = madd(f32x4.convert_i32x4_s(b), f32x4.mul(loadHalves(packed + 136), y), g)
    packed += 144
    x += 32
    scales += 4
    sums += 8
  }
  storeOutputs(out, rows, f, g, bias, add)
}

export function gemvQ4_0(x: usize, matrix: usize, bias: usize, out: usize, n: i32, k: i32, add: bool, begin: i32, end: i32): void {
  const padded = (k + 31) & ~31
  const blocks = padded >> 5
  const scales = x + padded
  const sums = scales + (<usize>blocks << 2)
  for (let panel = begin; panel < end; panel++) {
    const packed = matrix + <usize>panel * <usize>blocks * 144
    const at = <usize>panel << 5
    const panelBias = bias != 0 ? bias + at : 0
    if (dotKind == SATURATING) rowsQ4(true, x, scales, sums, blocks, packed, out + at, n - (panel << 3), panelBias, add)
    else rowsQ4(false, x, scales, sums, blocks, packed, out + at, n - (panel << 3), panelBias, add)
  }
}

/** Four rows x 32 elements of a Q8_0 block. `x` are int16 activations when `words`, else int8. */
// @ts-ignore: decorator
@inline
function halfBlockQ8(packed: usize, x: usize, words: bool, flip: v128, seed: v128): v128 {
  if (words) {
    let a = i32x4.splat(0), b = a
    for (let j: usize = 0; j < 8; j++) {
      const y = v128.load64_splat(x + (j << 3))
      const w = v128.load(packed + (j << 4))
      a = i32x4.add(a, i32x4.dot_i16x8_s(y, i16x8.extend_low_i8x16_s(w)))
      b = i32x4.add(b, i32x4.dot_i16x8_s(y, i16x8.extend_high_i8x16_s(w)))
    }
    return i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7))
  }
  let a = seed, b = i32x4.splat(0)
  for (let j: usize = 0; j < 8; j += 2) {
    a = dot(v128.load32_splat(x + (j << 2)), v128.xor(v128.load(packed + (j << 4)), flip), a)
    b = dot(v128.load32_splat(x + (j << 2), 4), v128.xor(v128.load(packed + (j << 4), 16), flip), b)
  }
  return i32x4.add(a, b)
}

// @ts-ignore: decorator
@inline
function rowsQ8(words: bool, x: usize, scales: usize, sums: usize, blocks: i32, packed: usize, out: usize, rows: i32, bias: usize, add: bool): void {
  const offset = dotKind == SIGNED ? 0 : -128
  const flip = i8x16.splat(<i8>offset)
  let f = f32x4.splat(0), g = f
  for (let block = 0; block < blocks; block++) {
    let seed = i32x4.splat(0)
    if (!words) seed = i32x4.splat(offset * (load<i32>(sums) + load<i32>(sums, 4)))
    const a = halfBlockQ8(packed, x, words, flip, seed)
    const b = halfBlockQ8(packed + 128, x, words, flip, seed)
    const y = v128.load32_splat(scales)
    f = madd(f32x4.convert_i32x4_s(a), f32x4.mul(loadHalves(packed + 256), y), f)
    g = madd(f32x4.convert_i32x4_s(b), f32x4.mul(loadHalves(packed + 264), y), g)
    packed += 272
    x += words ? 64 : 32
    scales += 4
    sums += 8
  }
  storeOutputs(out, rows, f, g, bias, add)
}

export function gemvQ8_0(
  x: usize, matrix: usize, bias: usize, out: usize, n: i32, k: i32, add: bool, begin: i32, end: i32, scratch: usize,
): void {
  const padded = (k + 31) & ~31
  const blocks = padded >> 5
  const scales = x + padded
  const sums = scales + (<usize>blocks << 2)
  const words = dotKind == WORDS || dotKind == SATURATING
  if (words) widenActivations(x, scratch, padded)
  for (let panel = begin; panel < end; panel++) {
    const packed = matrix + <usize>panel * <usize>blocks * 272
    const at = <usize>panel << 5
    const panelBias = bias != 0 ? bias + at : 0
    if (words) rowsQ8(true, scratch, scales, sums, blocks, packed, out + at, n - (panel << 3), panelBias, add)
    else rowsQ8(false, x, scales, sums, blocks, packed, out + at, n - (panel << 3), panelBias, add)
  }
}
