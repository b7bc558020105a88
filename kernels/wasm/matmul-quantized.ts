// Linear layer on int8 activations and quantised weights. Each panel of 8 rows is unpacked once to bytes in the
// thread's scratch and multiplied with tiles of four tokens. Few tokens are multiplied with the commonest types while
// these are unpacked, without a detour through memory.

import { dotKind, SATURATING, WORDS } from './dot-kind'
import { gemvQ4_K } from './gemv-q4k'
import { gemvQ4_0 } from './gemv-q4'
import { gemvQ8_0 } from './gemv-q8'
import { IQ4_NL, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0, blocksPerRow, packedBlockBytes } from './layout'
import { byteRecordBytes, packBytes, packWords, wordRecordBytes } from './pack-activations'
import { rowDot, tileDot } from './tile-dot'
import { rowWords, tileWords, widenActivations, widenPanel } from './tile-words'
import { hasMinimum, unpackPanel, unpackedOffset } from './unpack-panel'

/** Most tokens that are multiplied while unpacking; more are worth packing. */
const FEW: i32 = 8
/** Activations packed at a time: half a core's usual second-level cache. */
const PACKED_BYTES: i32 = 512 * 1024

/** How many tokens of tiles of this size are packed at a time, a multiple of 4. */
// @ts-ignore: decorator
@inline
function tokensPerChunk(tileBytes: usize): i32 {
  return max(4, (PACKED_BYTES / <i32>tileBytes) << 2)
}

// @ts-ignore: decorator
@inline
function multiplyDot(
  vectors: usize, step: usize, minimum: bool, type: i32, x: usize, matrix: usize, bias: usize, out: usize,
  m: i32, n: i32, k: i32, add: bool, begin: i32, end: i32, scratch: usize,
): void {
  const padded = (k + 31) & ~31
  const blocks = blocksPerRow(type, k)
  const panelBytes = <usize>blocks * packedBlockBytes(type)
  const units = padded / (<i32>vectors << 2)
  const offset = unpackedOffset(type)
  const outStride = <usize>n << 2
  if (m == 1) {
    const scales = x + padded
    const sums = scales + (padded >> 3)
    for (let panel = begin; panel < end; panel++) {
      unpackPanel(type, matrix + <usize>panel * panelBytes, scratch, blocks)
      const at = <usize>panel << 5
      rowDot(
        vectors, step, minimum, scratch, units, offset, x, scales, sums, out + at, n - (panel << 3),
        bias != 0 ? bias + at : 0, add,
      )
    }
    return
  }
  // Scratch: byte panel | packed activations.
  const packed = scratch + <usize>units * ((vectors << 5) + 64)
  const tileBytes = <usize>units * byteRecordBytes(vectors)
  const chunk = tokensPerChunk(tileBytes)
  for (let first = 0; first < m; first += chunk) {
    const count = min(chunk, m - first)
    packBytes(x, m, padded, first, count, vectors, step, offset, packed)
    for (let panel = begin; panel < end; panel++) {
      unpackPanel(type, matrix + <usize>panel * panelBytes, scratch, blocks)
      const at = <usize>panel << 5
      let to = out + <usize>first * outStride + at
      let tile = packed
      for (let token = 0; token < count; token += 4) {
        tileDot(
          vectors, step, minimum, scratch, units, tile, to, outStride, count - token, n - (panel << 3),
          bias != 0 ? bias + at : 0, add,
        )
        tile += tileBytes
        to += outStride << 2
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function multiplyWords(
  vectors: usize, type: i32, x: usize, matrix: usize, bias: usize, out: usize,
  m: i32, n: i32, k: i32, add: bool, begin: i32, end: i32, scratch: usize,
): void {
  const padded = (k + 31) & ~31
  const blocks = blocksPerRow(type, k)
  const panelBytes = <usize>blocks * packedBlockBytes(type)
  const units = padded / (<i32>vectors << 2)
  const offset = unpackedOffset(type)
  const minimum = hasMinimum(type)
  const outStride = <usize>n << 2
  // Scratch: byte panel | word panel | packed activations.
  const bytePanel = scratch
  const wordPanel = bytePanel + <usize>units * ((vectors << 5) + 64)
  const packed = wordPanel + <usize>units * ((vectors << 6) + 64)
  if (m == 1) {
    widenActivations(x, packed, padded)
    const scales = x + padded
    const sums = scales + (padded >> 3)
    for (let panel = begin; panel < end; panel++) {
      unpackPanel(type, matrix + <usize>panel * panelBytes, bytePanel, blocks)
      const at = <usize>panel << 5
      rowWords(
        vectors, bytePanel, units, offset, minimum, packed, scales, sums, out + at, n - (panel << 3),
        bias != 0 ? bias + at : 0, add,
      )
    }
    return
  }
  const tileBytes = <usize>units * wordRecordBytes(vectors)
  const chunk = tokensPerChunk(tileBytes)
  for (let first = 0; first < m; first += chunk) {
    const count = min(chunk, m - first)
    packWords(x, m, padded, first, count, vectors, true, packed)
    for (let panel = begin; panel < end; panel++) {
      unpackPanel(type, matrix + <usize>panel * panelBytes, bytePanel, blocks)
      widenPanel(bytePanel, wordPanel, units, vectors, offset)
      const at = <usize>panel << 5
      let to = out + <usize>first * outStride + at
      let tile = packed
      for (let token = 0; token < count; token += 4) {
        tileWords(
          vectors, wordPanel, units, minimum, tile, to, outStride, count - token, n - (panel << 3),
          bias != 0 ? bias + at : 0, add,
        )
        tile += tileBytes
        to += outStride << 2
      }
    }
  }
}

export function matmulQuantized(
  type: i32, x: usize, matrix: usize, bias: usize, out: usize, m: i32, n: i32, k: i32, accumulate: i32,
  begin: i32, end: i32, scratch: usize,
): void {
  const add = accumulate != 0
  if (m <= FEW && type == Q8_0) {
    gemvQ8_0(x, matrix, bias, out, m, n, k, add, begin, end, scratch)
    return
  }
  if (dotKind == WORDS || (dotKind == SATURATING && (type == Q8_0 || type == IQ4_NL))) {
    if (type == Q6_K) multiplyWords(4, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch)
    else multiplyWords(8, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch)
    return
  }
  if (!ASC_FEATURE_RELAXED_SIMD) return
  if (m <= FEW && type == Q4_0) {
    gemvQ4_0(x, matrix, bias, out, m, n, k, add, begin, end, scratch)
    return
  }
  if (m == 1 && type == Q4_K) {
    gemvQ4_K(x, matrix, bias, out, n, k, add, begin, end)
    return
  }
  if (dotKind == SATURATING) {
    // Second argument of each: how many vectors fit in 16 bits, 2 * 127 * (15, 31 or 63) * step < 32768.
    switch (type) {
      case Q4_0: multiplyDot(8, 8, false, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch); break
      case Q4_1:
      case Q4_K: multiplyDot(8, 8, true, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch); break
      case Q5_0: multiplyDot(8, 4, false, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch); break
      case Q5_1:
      case Q5_K: multiplyDot(8, 4, true, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch); break
      case Q6_K: multiplyDot(4, 2, false, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch); break
      default: break
    }
  } else if (type == Q6_K) {
    multiplyDot(4, 0, false, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch)
  } else if (hasMinimum(type)) {
    multiplyDot(8, 0, true, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch)
  } else {
    multiplyDot(8, 0, false, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch)
  }
}
