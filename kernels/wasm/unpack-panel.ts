// One packed panel (layout.ts) to the form that the tile kernels multiply: a list of units, each
//
//   half 0: 4-byte words of rows 0..3, one vector per 4 elements | half 1: rows 4..7 | 8 f32 scales | 8 f32 minimums
//
// holding unsigned bytes q so that weight = scale * (q - offset) + minimum. A unit has 32 elements (8 vectors per
// half), or 16 for Q6_K, whose scales change every 16.

import { dotKind, SIGNED } from './dot-kind'
import { IQ4_NL, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0 } from './layout'
import { loadHalves } from './simd'

export const UNIT_32_BYTES: usize = 320
export const UNIT_16_BYTES: usize = 192

/** In memory, as all vector constants: see simd.ts. */
const FIFTEEN = memory.data<u8>([15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15], 16)
const SIXTEEN = memory.data<u8>([16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16], 16)
const FORTY_EIGHT = memory.data<u8>([48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48], 16)

/** What to subtract from the unsigned bytes; 0 where a minimum does it. */
export function unpackedOffset(type: i32): i32 {
  switch (type) {
    case Q4_0: return 8
    case Q5_0: return 16
    case Q6_K: return 32
    case Q8_0:
    case IQ4_NL: return dotKind == SIGNED ? 0 : 128
    default: return 0
  }
}

// @ts-ignore: decorator
@inline
export function hasMinimum(type: i32): bool {
  return type == Q4_1 || type == Q5_1 || type == Q4_K || type == Q5_K
}

// @ts-ignore: decorator
@inline
function low(word: v128): v128 {
  return v128.and(word, v128.load(FIFTEEN))
}

// @ts-ignore: decorator
@inline
function high(word: v128): v128 {
  return v128.and(i16x8.shr_u(word, 4), v128.load(FIFTEEN))
}

/** Bit `bit` (0..7) of every byte, as 16 or 0. */
// @ts-ignore: decorator
@inline
function fifthBit(bits: v128, bit: i32): v128 {
  const moved = bit <= 4 ? i32x4.shl(bits, 4 - bit) : i32x4.shr_u(bits, bit - 4)
  return v128.and(moved, v128.load(SIXTEEN))
}

/** 8 f16 to 8 f32. */
// @ts-ignore: decorator
@inline
function storeScales(from: usize, to: usize): void {
  v128.store(to, loadHalves(from))
  v128.store(to, loadHalves(from + 8), 16)
}

// @ts-ignore: decorator
@inline
function unpackNibbles(packed: usize, unit: usize, blocks: i32, packedBytes: usize, fifthBits: bool, minimum: bool): void {
  const scales: usize = fifthBits ? 160 : 128
  for (let block = 0; block < blocks; block++) {
    let bits = i32x4.splat(0)
    // @unroll H 2
    if (fifthBits) bits = v128.load(packed, 128 + 16 * H)
    // @unroll J 4
    {
      const words = v128.load(packed, 64 * H + 16 * J)
      let first = low(words)
      let second = high(words)
      if (fifthBits) {
        first = v128.or(first, fifthBit(bits, J))
        second = v128.or(second, fifthBit(bits, J + 4))
      }
      v128.store(unit, first, 128 * H + 16 * J)
      v128.store(unit, second, 128 * H + 16 * J + 64)
    }
    // @end
    // @end
    storeScales(packed + scales, unit + 256)
    if (minimum) storeScales(packed + scales + 16, unit + 288)
    packed += packedBytes
    unit += UNIT_32_BYTES
  }
}

function unpackBytes(packed: usize, unit: usize, blocks: i32): void {
  const flip = dotKind == SIGNED ? i8x16.splat(0) : i8x16.splat(-128)
  for (let block = 0; block < blocks; block++) {
    // @unroll J 16
    v128.store(unit, v128.xor(v128.load(packed, 16 * J), flip), 16 * J)
    // @end
    storeScales(packed + 256, unit + 256)
    packed += 272
    unit += UNIT_32_BYTES
  }
}

function unpackTable(packed: usize, unit: usize, blocks: i32): void {
  const flip = dotKind == SIGNED ? i8x16.splat(0) : i8x16.splat(-128)
  const table = v128.xor(i8x16(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113), flip)
  for (let block = 0; block < blocks; block++) {
    // @unroll H 2
    // @unroll J 4
    {
      const words = v128.load(packed, 64 * H + 16 * J)
      v128.store(unit, i8x16.swizzle(table, low(words)), 128 * H + 16 * J)
      v128.store(unit, i8x16.swizzle(table, high(words)), 128 * H + 16 * J + 64)
    }
    // @end
    // @end
    storeScales(packed + 128, unit + 256)
    packed += 144
    unit += UNIT_32_BYTES
  }
}

/** Rows 0..7: bytes (as int16) times two vectors of factors, to float32. */
// @ts-ignore: decorator
@inline
function storeProducts(bytes: v128, first: v128, second: v128, to: usize): void {
  v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(bytes)), first))
  v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(bytes)), second), 16)
}

// @ts-ignore: decorator
@inline
function unpackSuperBlocks(packed: usize, unit: usize, blocks: i32, packedBytes: usize, fifthBits: bool): void {
  const scales: usize = fifthBits ? 1280 : 1024
  for (let block = 0; block < blocks; block++) {
    for (let pair: usize = 0; pair < 4; pair++) {
      const even = unit + pair * 2 * UNIT_32_BYTES
      const odd = even + UNIT_32_BYTES
      const from = packed + (pair << 8)
      const shift = <i32>pair << 1
      // @unroll J 16
      {
        const words = v128.load(from, 16 * J)
        let first = low(words)
        let second = high(words)
        if (fifthBits) {
          const bits = i32x4.shr_u(v128.load(packed, 1024 + 16 * J), shift)
          first = v128.or(first, fifthBit(bits, 0))
          second = v128.or(second, fifthBit(bits, 1))
        }
        v128.store(even, first, 16 * J)
        v128.store(odd, second, 16 * J)
      }
      // @end
    }
    const d0 = loadHalves(packed + scales), d1 = loadHalves(packed + scales + 8)
    const m0 = f32x4.neg(loadHalves(packed + scales + 16)), m1 = f32x4.neg(loadHalves(packed + scales + 24))
    for (let sub: usize = 0; sub < 8; sub++) {
      const to = unit + sub * UNIT_32_BYTES + 256
      const table = packed + scales + 32 + (sub << 3)
      storeProducts(i16x8.extend_low_i8x16_u(v128.load64_zero(table)), d0, d1, to)
      storeProducts(i16x8.extend_low_i8x16_u(v128.load64_zero(table, 64)), m0, m1, to + 32)
    }
    packed += packedBytes
    unit += 8 * UNIT_32_BYTES
  }
}

function unpackSixBits(packed: usize, unit: usize, blocks: i32): void {
  for (let block = 0; block < blocks; block++) {
    for (let part: usize = 0; part < 2; part++) {
      for (let half: usize = 0; half < 2; half++) {
        const nibbles = packed + (part << 9) + (half << 8)
        const pairs = packed + 1024 + (part << 8) + (half << 7)
        const to = unit + (part << 3) * UNIT_16_BYTES + (half << 6)
        // @unroll J 8
        {
          const words = v128.load(nibbles, 16 * J)
          const laterWords = v128.load(nibbles, 16 * J + 128)
          const bits = v128.load(pairs, 16 * J)
          // Element 4J: unit J / 4, word J % 4; each further field of bits is two units on.
          const at = to + <usize>(J >> 2) * UNIT_16_BYTES
          v128.store(at, v128.or(low(words), v128.and(i32x4.shl(bits, 4), v128.load(FORTY_EIGHT))), 16 * (J & 3))
          v128.store(at, v128.or(low(laterWords), v128.and(i32x4.shl(bits, 2), v128.load(FORTY_EIGHT))), 16 * (J & 3) + 384)
          v128.store(at, v128.or(high(words), v128.and(bits, v128.load(FORTY_EIGHT))), 16 * (J & 3) + 768)
          v128.store(at, v128.or(high(laterWords), v128.and(i32x4.shr_u(bits, 2), v128.load(FORTY_EIGHT))), 16 * (J & 3) + 1152)
        }
        // @end
      }
    }
    const d0 = loadHalves(packed + 1664), d1 = loadHalves(packed + 1672)
    for (let sub: usize = 0; sub < 16; sub++) {
      const scales = i16x8.extend_low_i8x16_s(v128.load64_zero(packed + 1536 + (sub << 3)))
      storeProducts(scales, d0, d1, unit + sub * UNIT_16_BYTES + 128)
    }
    packed += 1680
    unit += 16 * UNIT_16_BYTES
  }
}

/** Unpacks `blocks` blocks (of the type's own length) of one panel. */
export function unpackPanel(type: i32, packed: usize, unit: usize, blocks: i32): void {
  switch (type) {
    case Q4_0: unpackNibbles(packed, unit, blocks, 144, false, false); break
    case Q4_1: unpackNibbles(packed, unit, blocks, 160, false, true); break
    case Q5_0: unpackNibbles(packed, unit, blocks, 176, true, false); break
    case Q5_1: unpackNibbles(packed, unit, blocks, 192, true, true); break
    case Q8_0: unpackBytes(packed, unit, blocks); break
    case IQ4_NL: unpackTable(packed, unit, blocks); break
    case Q4_K: unpackSuperBlocks(packed, unit, blocks, 1184, false); break
    case Q5_K: unpackSuperBlocks(packed, unit, blocks, 1440, true); break
    case Q6_K: unpackSixBits(packed, unit, blocks); break
    default: break
  }
}
