// Few tokens times a packed Q4_0 matrix, unpacking in registers. Decoding is bound by memory: a panel of 8 rows is one
// contiguous stream, read once for up to eight tokens. Same integer sums and the same order of float additions as the
// tile kernels, whatever the number of tokens.

import { dotKind, SATURATING } from './dot-kind'
import { packBytes } from './pack-activations'
import { multiply, toFloat, widen } from './products'
import { madd, loadHalves } from './simd'
import { storeOutputs, storeTile } from './store-outputs'

/** In memory, as all vector constants: see simd.ts. */
const LOW_NIBBLES = memory.data<u8>([15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15], 16)

/** A panel times a tile of up to four tokens (pack-activations.ts), whose seeds hold the weights' offset. */
// @ts-ignore: decorator
@inline
function tileQ4<Sum>(
  tokens: i32, tile: usize, stored: i32, blocks: i32, packed: usize, out: usize, outStride: usize, rows: i32, bias: usize, add: bool,
): void {
  const zero = f32x4.splat(0)
  let f0 = zero, f1 = zero, f2 = zero, f3 = zero
  let g0 = zero, g1 = zero, g2 = zero, g3 = zero
  for (let block = 0; block < blocks; block++) {
    let a0 = v128.load32_splat(tile, 128), a1 = v128.load32_splat(tile, 132)
    let a2 = v128.load32_splat(tile, 136), a3 = v128.load32_splat(tile, 140)
    let b0 = a0, b1 = a1, b2 = a2, b3 = a3
    // A loop, not straight code: the engine then keeps the sums in registers and interleaves them.
    let word = tile
    const end = packed + 64
    for (let at = packed; at < end; at += 16) {
      const first = v128.load(at), second = v128.load(at, 64)
      let w = v128.and(first, v128.load(LOW_NIBBLES)), v = v128.and(second, v128.load(LOW_NIBBLES))
      let y = v128.load32_splat(word)
      a0 = multiply<Sum>(y, w, a0); b0 = multiply<Sum>(y, v, b0)
      y = v128.load32_splat(word, 4)
      a1 = multiply<Sum>(y, w, a1); b1 = multiply<Sum>(y, v, b1)
      if (tokens > 2) { y = v128.load32_splat(word, 8); a2 = multiply<Sum>(y, w, a2); b2 = multiply<Sum>(y, v, b2) }
      if (tokens > 3) { y = v128.load32_splat(word, 12); a3 = multiply<Sum>(y, w, a3); b3 = multiply<Sum>(y, v, b3) }
      w = v128.and(i16x8.shr_u(first, 4), v128.load(LOW_NIBBLES))
      v = v128.and(i16x8.shr_u(second, 4), v128.load(LOW_NIBBLES))
      y = v128.load32_splat(word, 64)
      a0 = multiply<Sum>(y, w, a0); b0 = multiply<Sum>(y, v, b0)
      y = v128.load32_splat(word, 68)
      a1 = multiply<Sum>(y, w, a1); b1 = multiply<Sum>(y, v, b1)
      if (tokens > 2) { y = v128.load32_splat(word, 72); a2 = multiply<Sum>(y, w, a2); b2 = multiply<Sum>(y, v, b2) }
      if (tokens > 3) { y = v128.load32_splat(word, 76); a3 = multiply<Sum>(y, w, a3); b3 = multiply<Sum>(y, v, b3) }
      word += 16
    }
    const s = loadHalves(packed + 128), t = loadHalves(packed + 136)
    let y = v128.load32_splat(tile, 160)
    f0 = madd(toFloat<Sum>(a0), f32x4.mul(s, y), f0); g0 = madd(toFloat<Sum>(b0), f32x4.mul(t, y), g0)
    y = v128.load32_splat(tile, 164)
    f1 = madd(toFloat<Sum>(a1), f32x4.mul(s, y), f1); g1 = madd(toFloat<Sum>(b1), f32x4.mul(t, y), g1)
    if (tokens > 2) {
      y = v128.load32_splat(tile, 168)
      f2 = madd(toFloat<Sum>(a2), f32x4.mul(s, y), f2); g2 = madd(toFloat<Sum>(b2), f32x4.mul(t, y), g2)
    }
    if (tokens > 3) {
      y = v128.load32_splat(tile, 172)
      f3 = madd(toFloat<Sum>(a3), f32x4.mul(s, y), f3); g3 = madd(toFloat<Sum>(b3), f32x4.mul(t, y), g3)
    }
    packed += 144
    tile += 192
  }
  storeTile(out, outStride, stored, rows, f0, g0, f1, g1, f2, g2, f3, g3, bias, add)
}

// @ts-ignore: decorator
@inline
function rowsQ4<Sum>(x: usize, scales: usize, sums: usize, blocks: i32, packed: usize, out: usize, rows: i32, bias: usize, add: bool): void {
  let f = f32x4.splat(0), g = f
  for (let block = 0; block < blocks; block++) {
    const seed = i32x4.splat(-8 * (load<i32>(sums) + load<i32>(sums, 4)))
    let a = sizeof<Sum>() == 2 ? i32x4.splat(0) : seed, b = a
    let word = x
    const end = packed + 64
    for (let at = packed; at < end; at += 16) {
      const first = v128.load(at), second = v128.load(at, 64)
      let y = v128.load32_splat(word)
      a = multiply<Sum>(y, v128.and(first, v128.load(LOW_NIBBLES)), a)
      b = multiply<Sum>(y, v128.and(second, v128.load(LOW_NIBBLES)), b)
      y = v128.load32_splat(word, 16)
      a = multiply<Sum>(y, v128.and(i16x8.shr_u(first, 4), v128.load(LOW_NIBBLES)), a)
      b = multiply<Sum>(y, v128.and(i16x8.shr_u(second, 4), v128.load(LOW_NIBBLES)), b)
      word += 4
    }
    if (sizeof<Sum>() == 2) {
      a = i32x4.add(seed, widen(a))
      b = i32x4.add(seed, widen(b))
    }
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

// @ts-ignore: decorator
@inline
function tilesQ4<Sum>(tiles: usize, m: i32, blocks: i32, packed: usize, out: usize, outStride: usize, rows: i32, bias: usize, add: bool): void {
  for (let token = 0; token < m; token += 4) {
    const to = out + <usize>token * outStride
    switch (m - token) {
      case 1:
      case 2: tileQ4<Sum>(2, tiles, m - token, blocks, packed, to, outStride, rows, bias, add); break
      case 3: tileQ4<Sum>(3, tiles, 3, blocks, packed, to, outStride, rows, bias, add); break
      default: tileQ4<Sum>(4, tiles, 4, blocks, packed, to, outStride, rows, bias, add); break
    }
    tiles += <usize>blocks * 192
  }
}

export function gemvQ4_0(x: usize, matrix: usize, bias: usize, out: usize, m: i32, n: i32, k: i32, add: bool, begin: i32, end: i32, scratch: usize): void {
  const padded = (k + 31) & ~31
  const blocks = padded >> 5
  const scales = x + padded
  const sums = scales + (<usize>blocks << 2)
  const outStride = <usize>n << 2
  if (m > 1) {
    if (dotKind == SATURATING) packBytes(x, m, padded, 0, m, 8, 8, 8, scratch)
    else packBytes(x, m, padded, 0, m, 8, 0, 8, scratch)
  }
  for (let panel = begin; panel < end; panel++) {
    const packed = matrix + <usize>panel * <usize>blocks * 144
    const at = <usize>panel << 5
    const panelBias = bias != 0 ? bias + at : 0
    const rows = n - (panel << 3)
    if (m == 1) {
      if (dotKind == SATURATING) rowsQ4<i16>(x, scales, sums, blocks, packed, out + at, rows, panelBias, add)
      else rowsQ4<i32>(x, scales, sums, blocks, packed, out + at, rows, panelBias, add)
    } else {
      if (dotKind == SATURATING) tilesQ4<i16>(scratch, m, blocks, packed, out + at, outStride, rows, panelBias, add)
      else tilesQ4<i32>(scratch, m, blocks, packed, out + at, outStride, rows, panelBias, add)
    }
  }
}
