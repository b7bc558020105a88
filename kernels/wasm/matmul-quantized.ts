// Linear layer on int8 activations and quantised weights. Each panel of 8 rows is unpacked once to bytes in the
// thread's scratch and then multiplied with all tokens; a single token goes through a fused kernel where there is one.

import { dotKind, SATURATING, WORDS } from './dot-kind'
import { gemvQ4_0, gemvQ8_0 } from './gemv'
import { IQ4_NL, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0, blocksPerRow, packedBlockBytes } from './layout'
import { tileDot1, tileDot4 } from './tile-dot'
import { tileWords1, tileWords4, widenActivations, widenPanel } from './tile-words'
import { hasMinimum, unpackPanel, unpackedOffset } from './unpack-panel'

/** Activations widened at a time: half a core's usual second-level cache. */
const WIDE_BYTES: i32 = 512 * 1024

// @ts-ignore: decorator
@inline
function isByteWide(type: i32): bool {
  return type == Q8_0 || type == IQ4_NL
}

// @ts-ignore: decorator
@inline
function multiplyDot(
  vectors: usize, step: usize, minimum: bool, type: i32, x: usize, matrix: usize, bias: usize, out: usize,
  m: i32, n: i32, k: i32, accumulate: bool, begin: i32, end: i32, scratch: usize,
): void {
  const padded = (k + 31) & ~31
  const scales = x + <usize>m * padded
  const scaleStride = <usize>(padded >> 5) << 2
  const sums = scales + <usize>m * scaleStride
  const sumStride = scaleStride << 1
  const blocks = blocksPerRow(type, k)
  const panelBytes = <usize>blocks * packedBlockBytes(type)
  const units = padded / (<i32>vectors * 4)
  const offset = unpackedOffset(type)
  const outStride = <usize>n << 2
  for (let panel = begin; panel < end; panel++) {
    unpackPanel(type, matrix + <usize>panel * panelBytes, scratch, blocks)
    const rows = n - (panel << 3)
    const panelBias = bias != 0 ? bias + (<usize>panel << 5) : 0
    let to = out + (<usize>panel << 5)
    let token = 0
    for (; token + 4 <= m; token += 4) {
      const t = <usize>token
      tileDot4(
        scratch, units, vectors, step, offset, minimum, x + t * padded, padded, scales + t * scaleStride, scaleStride,
        sums + t * sumStride, sumStride, to, outStride, rows, panelBias, accumulate,
      )
      to += outStride << 2
    }
    for (; token < m; token++) {
      const t = <usize>token
      tileDot1(
        scratch, units, vectors, step, offset, minimum, x + t * padded, scales + t * scaleStride,
        sums + t * sumStride, to, rows, panelBias, accumulate,
      )
      to += outStride
    }
  }
}

// @ts-ignore: decorator
@inline
function multiplyWords(
  vectors: usize, type: i32, x: usize, matrix: usize, bias: usize, out: usize,
  m: i32, n: i32, k: i32, accumulate: bool, begin: i32, end: i32, scratch: usize,
): void {
  const padded = (k + 31) & ~31
  const scales = x + <usize>m * padded
  const scaleStride = <usize>(padded >> 5) << 2
  const sums = scales + <usize>m * scaleStride
  const sumStride = scaleStride << 1
  const blocks = blocksPerRow(type, k)
  const panelBytes = <usize>blocks * packedBlockBytes(type)
  const units = padded / (<i32>vectors * 4)
  const unitBytes = (vectors << 5) + 64
  const offset = unpackedOffset(type)
  const minimum = hasMinimum(type)
  const outStride = <usize>n << 2
  // Scratch: result of one tile | byte panel | word panel | widened activations.
  const bytePanel = scratch + 128
  const wordPanel = bytePanel + <usize>units * unitBytes
  const wideX = wordPanel + <usize>units * ((vectors << 6) + 64)
  const wideStride = <usize>padded << 1
  const chunk = max(4, (WIDE_BYTES / (padded << 1)) & ~3)
  for (let first = 0; first < m; first += chunk) {
    const count = min(chunk, m - first)
    widenActivations(x + <usize>first * padded, wideX, count * padded)
    for (let panel = begin; panel < end; panel++) {
      unpackPanel(type, matrix + <usize>panel * panelBytes, bytePanel, blocks)
      if (count >= 4) widenPanel(bytePanel, wordPanel, units, vectors, offset)
      const rows = n - (panel << 3)
      const panelBias = bias != 0 ? bias + (<usize>panel << 5) : 0
      let to = out + <usize>first * outStride + (<usize>panel << 5)
      let token = 0
      for (; token + 4 <= count; token += 4) {
        const t = <usize>(first + token)
        tileWords4(
          wordPanel, units, vectors, minimum, wideX + <usize>token * wideStride, wideStride,
          scales + t * scaleStride, scaleStride, sums + t * sumStride, sumStride, to, outStride, rows, panelBias,
          accumulate, scratch,
        )
        to += outStride << 2
      }
      for (; token < count; token++) {
        const t = <usize>(first + token)
        tileWords1(
          bytePanel, units, vectors, offset, minimum, wideX + <usize>token * wideStride, scales + t * scaleStride,
          sums + t * sumStride, to, rows, panelBias, accumulate,
        )
        to += outStride
      }
    }
  }
}

export function matmulQuantized(
  type: i32, x: usize, matrix: usize, bias: usize, out: usize, m: i32, n: i32, k: i32, accumulate: i32,
  begin: i32, end: i32, scratch: usize,
): void {
  const add = accumulate != 0
  if (m == 1 && type == Q8_0) {
    gemvQ8_0(x, matrix, bias, out, n, k, add, begin, end, scratch)
    return
  }
  if (dotKind == WORDS || (dotKind == SATURATING && isByteWide(type))) {
    if (type == Q6_K) multiplyWords(4, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch)
    else multiplyWords(8, type, x, matrix, bias, out, m, n, k, add, begin, end, scratch)
    return
  }
  if (!ASC_FEATURE_RELAXED_SIMD) return
  if (m == 1 && type == Q4_0) {
    gemvQ4_0(x, matrix, bias, out, n, k, add, begin, end)
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
