// Few tokens times a packed Q8_0 matrix, unpacking in registers: see gemv-q4.ts. Where the engine's dot takes no full
// int8 weights, products go through 16-bit words (tile-words.ts).

import { dotKind, SATURATING, SIGNED, WORDS } from './dot-kind'
import { byteRecordBytes, packBytes, packWords, wordRecordBytes } from './pack-activations'
import { dot } from './products'
import { loadHalves, madd } from './simd'
import { storeOutputs, storeTile } from './store-outputs'
import { addNeighbours, widenActivations } from './tile-words'

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

/** A panel times a tile of up to four tokens (pack-activations.ts) by the int8 dot; `flip` makes weights what it takes. */
// @ts-ignore: decorator
@inline
function tileBytes(
  tokens: i32, tile: usize, stored: i32, flip: v128, blocks: i32, packed: usize, out: usize, outStride: usize, rows: i32, bias: usize, add: bool,
): void {
  const zero = f32x4.splat(0)
  let f0 = zero, f1 = zero, f2 = zero, f3 = zero
  let g0 = zero, g1 = zero, g2 = zero, g3 = zero
  for (let block = 0; block < blocks; block++) {
    let a0 = v128.load32_splat(tile, 128), a1 = v128.load32_splat(tile, 132)
    let a2 = v128.load32_splat(tile, 136), a3 = v128.load32_splat(tile, 140)
    let b0 = a0, b1 = a1, b2 = a2, b3 = a3
    let word = tile
    const end = packed + 128
    for (let at = packed; at < end; at += 16) {
      const w = v128.xor(v128.load(at), flip), v = v128.xor(v128.load(at, 128), flip)
      let y = v128.load32_splat(word)
      a0 = dot(y, w, a0); b0 = dot(y, v, b0)
      y = v128.load32_splat(word, 4)
      a1 = dot(y, w, a1); b1 = dot(y, v, b1)
      if (tokens > 2) {
        y = v128.load32_splat(word, 8)
        a2 = dot(y, w, a2); b2 = dot(y, v, b2)
        y = v128.load32_splat(word, 12)
        a3 = dot(y, w, a3); b3 = dot(y, v, b3)
      }
      word += 16
    }
    const s = loadHalves(packed + 256), t = loadHalves(packed + 264)
    let y = v128.load32_splat(tile, 160)
    f0 = madd(f32x4.convert_i32x4_s(a0), f32x4.mul(s, y), f0); g0 = madd(f32x4.convert_i32x4_s(b0), f32x4.mul(t, y), g0)
    y = v128.load32_splat(tile, 164)
    f1 = madd(f32x4.convert_i32x4_s(a1), f32x4.mul(s, y), f1); g1 = madd(f32x4.convert_i32x4_s(b1), f32x4.mul(t, y), g1)
    if (tokens > 2) {
      y = v128.load32_splat(tile, 168)
      f2 = madd(f32x4.convert_i32x4_s(a2), f32x4.mul(s, y), f2); g2 = madd(f32x4.convert_i32x4_s(b2), f32x4.mul(t, y), g2)
      y = v128.load32_splat(tile, 172)
      f3 = madd(f32x4.convert_i32x4_s(a3), f32x4.mul(s, y), f3); g3 = madd(f32x4.convert_i32x4_s(b3), f32x4.mul(t, y), g3)
    }
    packed += 272
    tile += byteRecordBytes(8)
  }
  storeTile(out, outStride, stored, rows, f0, g0, f1, g1, f2, g2, f3, g3, bias, add)
}

/** Half a panel (four rows) times a tile of up to four tokens by 16-bit words, left in four vectors at `result`. */
// @ts-ignore: decorator
@inline
function halfTileWords(tokens: i32, tile: usize, half: usize, blocks: i32, packed: usize, result: usize): void {
  const zero = f32x4.splat(0)
  let f0 = zero, f1 = zero, f2 = zero, f3 = zero
  for (let block = 0; block < blocks; block++) {
    let a0 = zero, a1 = zero, a2 = zero, a3 = zero
    let b0 = zero, b1 = zero, b2 = zero, b3 = zero
    let word = tile
    const end = packed + (half << 7) + 128
    for (let at = end - 128; at < end; at += 16) {
      const bytes = v128.load(at)
      const w = i16x8.extend_low_i8x16_s(bytes), v = i16x8.extend_high_i8x16_s(bytes)
      let y = v128.load64_splat(word)
      a0 = i32x4.add(a0, i32x4.dot_i16x8_s(y, w)); b0 = i32x4.add(b0, i32x4.dot_i16x8_s(y, v))
      y = v128.load64_splat(word, 8)
      a1 = i32x4.add(a1, i32x4.dot_i16x8_s(y, w)); b1 = i32x4.add(b1, i32x4.dot_i16x8_s(y, v))
      if (tokens > 2) {
        y = v128.load64_splat(word, 16)
        a2 = i32x4.add(a2, i32x4.dot_i16x8_s(y, w)); b2 = i32x4.add(b2, i32x4.dot_i16x8_s(y, v))
        y = v128.load64_splat(word, 24)
        a3 = i32x4.add(a3, i32x4.dot_i16x8_s(y, w)); b3 = i32x4.add(b3, i32x4.dot_i16x8_s(y, v))
      }
      word += 32
    }
    const s = loadHalves(packed + 256 + (half << 3))
    f0 = madd(f32x4.convert_i32x4_s(addNeighbours(a0, b0)), f32x4.mul(s, v128.load32_splat(tile, 256)), f0)
    f1 = madd(f32x4.convert_i32x4_s(addNeighbours(a1, b1)), f32x4.mul(s, v128.load32_splat(tile, 260)), f1)
    if (tokens > 2) {
      f2 = madd(f32x4.convert_i32x4_s(addNeighbours(a2, b2)), f32x4.mul(s, v128.load32_splat(tile, 264)), f2)
      f3 = madd(f32x4.convert_i32x4_s(addNeighbours(a3, b3)), f32x4.mul(s, v128.load32_splat(tile, 268)), f3)
    }
    packed += 272
    tile += wordRecordBytes(8)
  }
  v128.store(result, f0)
  v128.store(result, f1, 16)
  v128.store(result, f2, 32)
  v128.store(result, f3, 48)
}

function tileWords8(
  tile: usize, stored: i32, blocks: i32, packed: usize, out: usize, outStride: usize, rows: i32, bias: usize, add: bool, result: usize,
): void {
  for (let half: usize = 0; half < 2; half++) {
    const to = result + (half << 6)
    if (stored > 2) halfTileWords(4, tile, half, blocks, packed, to)
    else halfTileWords(2, tile, half, blocks, packed, to)
  }
  storeTile(
    out, outStride, stored, rows,
    v128.load(result), v128.load(result, 64), v128.load(result, 16), v128.load(result, 80),
    v128.load(result, 32), v128.load(result, 96), v128.load(result, 48), v128.load(result, 112), bias, add,
  )
}

export function gemvQ8_0(
  x: usize, matrix: usize, bias: usize, out: usize, m: i32, n: i32, k: i32, add: bool, begin: i32, end: i32, scratch: usize,
): void {
  const padded = (k + 31) & ~31
  const blocks = padded >> 5
  const scales = x + padded
  const sums = scales + (<usize>blocks << 2)
  const outStride = <usize>n << 2
  const words = dotKind == WORDS || dotKind == SATURATING
  const offset = dotKind == SIGNED ? 0 : 128
  const flip = i8x16.splat(<i8>-offset)
  // Scratch: result of one tile | activations.
  const tiles = scratch + 128
  const tileStride = <usize>blocks * (words ? wordRecordBytes(8) : byteRecordBytes(8))
  if (m > 1) {
    if (words) packWords(x, m, padded, 0, m, 8, false, tiles)
    else packBytes(x, m, padded, 0, m, 8, 0, offset, tiles)
  } else if (words) widenActivations(x, tiles, padded)
  for (let panel = begin; panel < end; panel++) {
    const packed = matrix + <usize>panel * <usize>blocks * 272
    const at = <usize>panel << 5
    const panelBias = bias != 0 ? bias + at : 0
    const rows = n - (panel << 3)
    if (m == 1) {
      if (words) rowsQ8(true, tiles, scales, sums, blocks, packed, out + at, rows, panelBias, add)
      else rowsQ8(false, x, scales, sums, blocks, packed, out + at, rows, panelBias, add)
      continue
    }
    let tile = tiles
    for (let token = 0; token < m; token += 4) {
      const stored = min(4, m - token)
      const to = out + <usize>token * outStride + at
      if (words) tileWords8(tile, stored, blocks, packed, to, outStride, rows, panelBias, add, scratch)
      else if (stored > 2) tileBytes(4, tile, stored, flip, blocks, packed, to, outStride, rows, panelBias, add)
      else tileBytes(2, tile, stored, flip, blocks, packed, to, outStride, rows, panelBias, add)
      tile += tileStride
    }
  }
}
