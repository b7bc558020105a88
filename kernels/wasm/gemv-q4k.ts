// One token times a packed Q4_K matrix by the int8 dot, unpacking in registers. The same integer sums and the
// same order of float additions as unpacking a panel and multiplying it (unpack-panel.ts, tile-dot.ts).

import { dotKind, SATURATING } from './dot-kind'
import { multiply, toFloat } from './products'
import { loadHalves, madd } from './simd'
import { storeOutputs } from './store-outputs'

/** In memory, as all vector constants: see simd.ts. */
const LOW_NIBBLES = memory.data<u8>([15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15], 16)

/** Bytes of four rows (as int16) times their factors. */
// @ts-ignore: decorator
@inline
function firstFactors(bytes: v128, factors: v128): v128 {
  return f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(bytes)), factors)
}

// @ts-ignore: decorator
@inline
function lastFactors(bytes: v128, factors: v128): v128 {
  return f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(bytes)), factors)
}

/** `Sum`: see `multiply`. Eight pairs of 2 * 127 * 15 stay within 16 bits. */
// @ts-ignore: decorator
@inline
function rowsQ4K<Sum>(x: usize, scales: usize, sums: usize, blocks: i32, packed: usize, out: usize, rows: i32, bias: usize, add: bool): void {
  let f = f32x4.splat(0), g = f
  for (let block = 0; block < blocks; block++) {
    const d0 = loadHalves(packed + 1024), d1 = loadHalves(packed + 1032)
    const m0 = f32x4.neg(loadHalves(packed + 1040)), m1 = f32x4.neg(loadHalves(packed + 1048))
    let table = packed + 1056
    let at = packed
    for (let pair = 0; pair < 4; pair++) {
      const zero = i32x4.splat(0)
      let a = zero, b = zero, c = zero, d = zero
      let word = x
      for (const end = at + 128; at < end; at += 16) {
        const first = v128.load(at), second = v128.load(at, 128)
        let y = v128.load32_splat(word)
        a = multiply<Sum>(y, v128.and(first, v128.load(LOW_NIBBLES)), a)
        b = multiply<Sum>(y, v128.and(second, v128.load(LOW_NIBBLES)), b)
        y = v128.load32_splat(word, 32)
        c = multiply<Sum>(y, v128.and(i16x8.shr_u(first, 4), v128.load(LOW_NIBBLES)), c)
        d = multiply<Sum>(y, v128.and(i16x8.shr_u(second, 4), v128.load(LOW_NIBBLES)), d)
        word += 4
      }
      at += 128
      // @unroll SUB 2
      {
        const bytes = i16x8.extend_low_i8x16_u(v128.load64_zero(table, 8 * SUB))
        const lows = i16x8.extend_low_i8x16_u(v128.load64_zero(table, 8 * SUB + 64))
        const factor = load<f32>(scales, 4 * SUB)
        const y = f32x4.splat(factor)
        const z = f32x4.splat(<f32>(load<i32>(sums, 8 * SUB) + load<i32>(sums, 8 * SUB + 4)) * factor)
        f = madd(toFloat<Sum>(SUB == 0 ? a : c), f32x4.mul(firstFactors(bytes, d0), y), f)
        g = madd(toFloat<Sum>(SUB == 0 ? b : d), f32x4.mul(lastFactors(bytes, d1), y), g)
        f = madd(firstFactors(lows, m0), z, f)
        g = madd(lastFactors(lows, m1), z, g)
      }
      // @end
      table += 16
      x += 64
      scales += 8
      sums += 16
    }
    packed += 1184
  }
  storeOutputs(out, rows, f, g, bias, add)
}

export function gemvQ4_K(x: usize, matrix: usize, bias: usize, out: usize, n: i32, k: i32, add: bool, begin: i32, end: i32): void {
  const blocks = k >> 8
  const scales = x + k
  const sums = scales + (k >> 3)
  for (let panel = begin; panel < end; panel++) {
    const packed = matrix + <usize>panel * <usize>blocks * 1184
    const at = <usize>panel << 5
    const panelBias = bias != 0 ? bias + at : 0
    if (dotKind == SATURATING) rowsQ4K<i16>(x, scales, sums, blocks, packed, out + at, n - (panel << 3), panelBias, add)
    else rowsQ4K<i32>(x, scales, sums, blocks, packed, out + at, n - (panel << 3), panelBias, add)
  }
}
