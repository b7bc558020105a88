// Rows as they lie in a model file into packed panels (layout.ts). Pure byte moves: nothing is rounded.

import {
  BF16, F16, F32, IQ4_NL, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0,
  blocksPerRow, fileBlockBytes, packedBlockBytes,
} from './layout'

/** `count` words (4, 8 or 16) of one row to every fourth word: one lane of `count` vectors. */
// @ts-ignore: decorator
@inline
function spreadWords(source: usize, target: usize, count: i32): void {
  for (let j: usize = 0; j < <usize>count; j += 4) {
    const words = v128.load(source + (j << 2))
    const to = target + (j << 4)
    v128.store32_lane(to, words, 0)
    v128.store32_lane(to, words, 1, 16)
    v128.store32_lane(to, words, 2, 32)
    v128.store32_lane(to, words, 3, 48)
  }
}

/** Bit 4j + i of a ggml `qh` word to bit j of byte i, so that one shift serves a whole vector of words. */
function regroupFifthBits(bits: u32): u32 {
  let grouped: u32 = 0
  for (let j: u32 = 0; j < 8; j++) {
    const nibble = (bits >> (4 * j)) & 15
    grouped |= ((nibble & 1) | ((nibble & 2) << 7) | ((nibble & 4) << 14) | ((nibble & 8) << 21)) << j
  }
  return grouped
}

/** 6-bit scale and minimum of sub-block j of a K-quant's twelve scale bytes. */
// @ts-ignore: decorator
@inline
function subScale(s: usize, j: usize): u8 {
  if (j < 4) return load<u8>(s + j) & 63
  return (load<u8>(s + j + 4) & 15) | ((load<u8>(s + j - 4) >> 6) << 4)
}

// @ts-ignore: decorator
@inline
function subMinimum(s: usize, j: usize): u8 {
  if (j < 4) return load<u8>(s + j + 4) & 63
  return (load<u8>(s + j + 4) >> 4) | ((load<u8>(s + j) >> 6) << 4)
}

function packKScales(source: usize, target: usize, row: usize): void {
  store<u16>(target + (row << 1), load<u16>(source))
  store<u16>(target + 16 + (row << 1), load<u16>(source, 2))
  for (let j: usize = 0; j < 8; j++) {
    store<u8>(target + 32 + (j << 3) + row, subScale(source + 4, j))
    store<u8>(target + 96 + (j << 3) + row, subMinimum(source + 4, j))
  }
}

/** One file block of `row` (0..7) into the packed block. */
// @ts-ignore: decorator
@inline
function packBlock(type: i32, source: usize, target: usize, row: usize): void {
  const half = row >> 2
  const lane = (row & 3) << 2
  const scale = row << 1
  switch (type) {
    case F32:
      store<u32>(target + (row << 2), load<u32>(source))
      break
    case F16:
    case BF16:
      store<u16>(target + scale, load<u16>(source))
      break
    case Q4_0:
    case IQ4_NL:
      spreadWords(source + 2, target + (half << 6) + lane, 4)
      store<u16>(target + 128 + scale, load<u16>(source))
      break
    case Q4_1:
      spreadWords(source + 4, target + (half << 6) + lane, 4)
      store<u16>(target + 128 + scale, load<u16>(source))
      store<u16>(target + 144 + scale, load<u16>(source, 2))
      break
    case Q5_0:
      spreadWords(source + 6, target + (half << 6) + lane, 4)
      store<u32>(target + 128 + (half << 4) + lane, regroupFifthBits(load<u32>(source, 2)))
      store<u16>(target + 160 + scale, load<u16>(source))
      break
    case Q5_1:
      spreadWords(source + 8, target + (half << 6) + lane, 4)
      store<u32>(target + 128 + (half << 4) + lane, regroupFifthBits(load<u32>(source, 4)))
      store<u16>(target + 160 + scale, load<u16>(source))
      store<u16>(target + 176 + scale, load<u16>(source, 2))
      break
    case Q8_0:
      spreadWords(source + 2, target + (half << 7) + lane, 8)
      store<u16>(target + 256 + scale, load<u16>(source))
      break
    case Q4_K:
      for (let pair: usize = 0; pair < 4; pair++) {
        spreadWords(source + 16 + (pair << 5), target + (pair << 8) + (half << 7) + lane, 8)
      }
      packKScales(source, target + 1024, row)
      break
    case Q5_K:
      for (let pair: usize = 0; pair < 4; pair++) {
        spreadWords(source + 48 + (pair << 5), target + (pair << 8) + (half << 7) + lane, 8)
      }
      spreadWords(source + 16, target + 1024 + (half << 7) + lane, 8)
      packKScales(source, target + 1280, row)
      break
    case Q6_K:
      for (let part: usize = 0; part < 2; part++) {
        spreadWords(source + (part << 6), target + (part << 9) + (half << 8) + lane, 16)
        spreadWords(source + 128 + (part << 5), target + 1024 + (part << 8) + (half << 7) + lane, 8)
      }
      for (let j: usize = 0; j < 16; j++) store<u8>(target + 1536 + (j << 3) + row, load<u8>(source + 192 + j))
      store<u16>(target + 1664 + scale, load<u16>(source, 208))
      break
    default:
      break
  }
}

// @ts-ignore: decorator
@inline
function packType(type: i32, source: usize, matrix: usize, rows: i32, columns: i32, firstRow: i32, begin: i32, end: i32): void {
  const blocks = <usize>blocksPerRow(type, columns)
  const fileBytes = <usize>fileBlockBytes(type)
  const packedBytes = <usize>packedBlockBytes(type)
  for (let panel = begin; panel < end; panel++) {
    const target = matrix + <usize>((firstRow >> 3) + panel) * blocks * packedBytes
    const valid = min(8, rows - (panel << 3))
    if (valid < 8) memory.fill(target, 0, blocks * packedBytes)
    let from = source + <usize>(panel << 3) * blocks * fileBytes
    for (let row = 0; row < valid; row++) {
      let to = target
      for (let block: usize = 0; block < blocks; block++) {
        packBlock(type, from, to, <usize>row)
        from += fileBytes
        to += packedBytes
      }
    }
  }
}

export function packRows(
  type: i32, source: usize, matrix: usize, rows: i32, columns: i32, firstRow: i32,
  begin: i32, end: i32, scratch: usize,
): void {
  // One call per type, so that the inner loop is compiled for it.
  switch (type) {
    case F32: packType(F32, source, matrix, rows, columns, firstRow, begin, end); break
    case F16: packType(F16, source, matrix, rows, columns, firstRow, begin, end); break
    case BF16: packType(BF16, source, matrix, rows, columns, firstRow, begin, end); break
    case Q4_0: packType(Q4_0, source, matrix, rows, columns, firstRow, begin, end); break
    case IQ4_NL: packType(IQ4_NL, source, matrix, rows, columns, firstRow, begin, end); break
    case Q4_1: packType(Q4_1, source, matrix, rows, columns, firstRow, begin, end); break
    case Q5_0: packType(Q5_0, source, matrix, rows, columns, firstRow, begin, end); break
    case Q5_1: packType(Q5_1, source, matrix, rows, columns, firstRow, begin, end); break
    case Q8_0: packType(Q8_0, source, matrix, rows, columns, firstRow, begin, end); break
    case Q4_K: packType(Q4_K, source, matrix, rows, columns, firstRow, begin, end); break
    case Q5_K: packType(Q5_K, source, matrix, rows, columns, firstRow, begin, end); break
    case Q6_K: packType(Q6_K, source, matrix, rows, columns, firstRow, begin, end); break
    default: break
  }
}
