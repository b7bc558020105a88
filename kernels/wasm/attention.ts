// Scaled dot-product attention with an online softmax (Milakov & Gimelshein; FlashAttention). A piece of work is one
// key/value head and up to 128 queries, for all query heads that share it. Keys are taken in tiles of 64: the tile is
// widened to float32 once, keys transposed so that lanes are keys, then 4 query rows at a time are scored, their
// running maximum and sum updated, and the weighted values added. Decoding goes its own way: attend-few.ts.

import { addValuesFew, scaleQuery, SCORE_FACTOR, scoreFew } from './attend-few'
import { F16 } from './layout'
import { exp, loadHalves, madd, maxLanes, sumLanes } from './simd'

const QUERIES_PER_PIECE: i32 = 128
const TILE: i32 = 64
const LOWEST: f32 = -3.4e38

/** Four elements of a key or value row. */
// @ts-ignore: decorator
@inline
function loadFour(type: i32, row: usize, element: usize): v128 {
  return type == F16 ? loadHalves(row + (element << 1)) : v128.load(row + (element << 2))
}

/** `count` rows of values to float32 (TILE, headDim); rows beyond are zeros, so that their weight of 0 adds nothing. */
function widenValues(type: i32, v: usize, strideBytes: usize, count: i32, headDim: i32, out: usize): void {
  const rowBytes = <usize>headDim << 2
  for (let key = 0; key < count; key++) {
    for (let i: usize = 0; i < <usize>headDim; i += 4) v128.store(out + (i << 2), loadFour(type, v, i))
    v += strideBytes
    out += rowBytes
  }
}

/** `count` rows of keys to float32 (headDim, TILE). */
function transposeKeys(type: i32, k: usize, strideBytes: usize, count: i32, headDim: i32, out: usize): void {
  const line = <usize>TILE << 2
  let key = 0
  for (; key + 4 <= count; key += 4) {
    const k1 = k + strideBytes
    const k2 = k1 + strideBytes
    const k3 = k2 + strideBytes
    let to = out + (<usize>key << 2)
    for (let i: usize = 0; i < <usize>headDim; i += 4) {
      const a = loadFour(type, k, i), b = loadFour(type, k1, i), c = loadFour(type, k2, i), d = loadFour(type, k3, i)
      const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5), cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5)
      const ef = v128.shuffle<i32>(a, b, 2, 6, 3, 7), gh = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
      v128.store(to, v128.shuffle<i32>(ab, cd, 0, 1, 4, 5))
      v128.store(to + line, v128.shuffle<i32>(ab, cd, 2, 3, 6, 7))
      v128.store(to + line * 2, v128.shuffle<i32>(ef, gh, 0, 1, 4, 5))
      v128.store(to + line * 3, v128.shuffle<i32>(ef, gh, 2, 3, 6, 7))
      to += line << 2
    }
    k = k3 + strideBytes
  }
  for (; key < count; key++) {
    let to = out + (<usize>key << 2)
    for (let i: usize = 0; i < <usize>headDim; i += 4) {
      const a = loadFour(type, k, i)
      v128.store32_lane(to, a, 0)
      v128.store32_lane(to + line, a, 1)
      v128.store32_lane(to + line * 2, a, 2)
      v128.store32_lane(to + line * 3, a, 3)
      to += line << 2
    }
    k += strideBytes
  }
}

/** scores (4, TILE) = q rows (4, headDim) · keys (headDim, TILE) * scale. */
// @ts-ignore: decorator
@inline
function scoreTile(q0: usize, q1: usize, q2: usize, q3: usize, keys: usize, headDim: i32, scale: v128, scores: usize): void {
  const line = <usize>TILE << 2
  for (let first: usize = 0; first < line; first += 32) {
    const zero = f32x4.splat(0)
    let a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero
    let key = keys + first
    const end = <usize>headDim << 2
    for (let at: usize = 0; at < end; at += 4) {
      const w = v128.load(key)
      const v = v128.load(key, 16)
      let y = v128.load32_splat(q0 + at)
      a0 = madd(y, w, a0); b0 = madd(y, v, b0)
      y = v128.load32_splat(q1 + at)
      a1 = madd(y, w, a1); b1 = madd(y, v, b1)
      y = v128.load32_splat(q2 + at)
      a2 = madd(y, w, a2); b2 = madd(y, v, b2)
      y = v128.load32_splat(q3 + at)
      a3 = madd(y, w, a3); b3 = madd(y, v, b3)
      key += line
    }
    const to = scores + first
    v128.store(to, f32x4.mul(a0, scale)); v128.store(to, f32x4.mul(b0, scale), 16)
    v128.store(to + line, f32x4.mul(a1, scale)); v128.store(to + line, f32x4.mul(b1, scale), 16)
    v128.store(to + line * 2, f32x4.mul(a2, scale)); v128.store(to + line * 2, f32x4.mul(b2, scale), 16)
    v128.store(to + line * 3, f32x4.mul(a3, scale)); v128.store(to + line * 3, f32x4.mul(b3, scale), 16)
  }
}

/** One step of the online softmax on a row of scores, which become weights. Returns the factor for what was summed so far. */
// @ts-ignore: decorator
@inline
function softmaxStep(scores: usize, visible: i32, state: usize): f32 {
  const end = scores + (<usize>TILE << 2)
  for (let i = visible; i < TILE; i++) store<f32>(scores + (<usize>i << 2), LOWEST)
  let highest = f32x4.splat(load<f32>(state))
  for (let at = scores; at < end; at += 16) highest = f32x4.pmax(highest, v128.load(at))
  const peak = maxLanes(highest)
  const shift = f32x4.splat(peak)
  let sum = f32x4.splat(0)
  for (let at = scores; at < end; at += 16) {
    const weight = exp(f32x4.sub(v128.load(at), shift))
    v128.store(at, weight)
    sum = f32x4.add(sum, weight)
  }
  // exp is clamped at e^-87, so hidden keys are set to exactly nothing.
  let hidden: f32 = 0
  for (let i = visible; i < TILE; i++) {
    hidden += load<f32>(scores + (<usize>i << 2))
    store<f32>(scores + (<usize>i << 2), 0)
  }
  const keep = f32x4.extract_lane(exp(f32x4.splat(load<f32>(state) - peak)), 0)
  store<f32>(state, peak)
  store<f32>(state, load<f32>(state, 4) * keep + (sumLanes(sum) - hidden), 4)
  return keep
}

/** sums (4, headDim) = sums * keep + weights (4, TILE) · values (TILE, headDim). */
// @ts-ignore: decorator
@inline
function addValues(
  weights: usize, values: usize, valueStride: usize, count: i32, headDim: i32, sums: usize,
  keep0: f32, keep1: f32, keep2: f32, keep3: f32,
): void {
  const line = <usize>TILE << 2
  const rowBytes = <usize>headDim << 2
  const k0 = f32x4.splat(keep0), k1 = f32x4.splat(keep1), k2 = f32x4.splat(keep2), k3 = f32x4.splat(keep3)
  let column: usize = 0
  for (; column + 32 <= rowBytes; column += 32) {
    const s0 = sums + column, s1 = s0 + rowBytes, s2 = s1 + rowBytes, s3 = s2 + rowBytes
    let a0 = f32x4.mul(v128.load(s0), k0), b0 = f32x4.mul(v128.load(s0, 16), k0)
    let a1 = f32x4.mul(v128.load(s1), k1), b1 = f32x4.mul(v128.load(s1, 16), k1)
    let a2 = f32x4.mul(v128.load(s2), k2), b2 = f32x4.mul(v128.load(s2, 16), k2)
    let a3 = f32x4.mul(v128.load(s3), k3), b3 = f32x4.mul(v128.load(s3, 16), k3)
    let value = values + column
    let weight = weights
    const end = weights + (<usize>count << 2)
    while (weight < end) {
      const w = v128.load(value)
      const v = v128.load(value, 16)
      let y = v128.load32_splat(weight)
      a0 = madd(y, w, a0); b0 = madd(y, v, b0)
      y = v128.load32_splat(weight, 256)
      a1 = madd(y, w, a1); b1 = madd(y, v, b1)
      y = v128.load32_splat(weight, 512)
      a2 = madd(y, w, a2); b2 = madd(y, v, b2)
      y = v128.load32_splat(weight, 768)
      a3 = madd(y, w, a3); b3 = madd(y, v, b3)
      value += valueStride
      weight += 4
    }
    v128.store(s0, a0); v128.store(s0, b0, 16)
    v128.store(s1, a1); v128.store(s1, b1, 16)
    v128.store(s2, a2); v128.store(s2, b2, 16)
    v128.store(s3, a3); v128.store(s3, b3, 16)
  }
  for (; column < rowBytes; column += 16) {
    for (let row: usize = 0; row < 4; row++) {
      const keep = row == 0 ? k0 : row == 1 ? k1 : row == 2 ? k2 : k3
      const to = sums + row * rowBytes + column
      let a = f32x4.mul(v128.load(to), keep)
      for (let key: usize = 0; key < <usize>count; key++) {
        a = madd(v128.load32_splat(weights + row * line + (key << 2)), v128.load(values + key * valueStride + column), a)
      }
      v128.store(to, a)
    }
  }
}

/** How many of `count` keys from `firstKey` on the query at `position` sees. */
// @ts-ignore: decorator
@inline
function visibleKeys(causal: bool, position: i32, firstKey: i32, count: i32): i32 {
  return causal ? max(0, min(count, position + 1 - firstKey)) : count
}

export function attention(
  type: i32, q: usize, k: usize, v: usize, out: usize, queries: i32, keys: i32, heads: i32, kvHeads: i32, headDim: i32,
  scale: f32, causal: i32, firstPosition: i32, begin: i32, end: i32, scratch: usize,
): void {
  const pieces = (queries + QUERIES_PER_PIECE - 1) / QUERIES_PER_PIECE
  for (let piece = begin; piece < end; piece++) {
    const kvHead = piece / pieces
    const first = (piece % pieces) * QUERIES_PER_PIECE
    const count = min(QUERIES_PER_PIECE, queries - first)
    if (type == F16) attend(F16, q, k, v, out, first, count, keys, heads, kvHeads, kvHead, headDim, scale, causal != 0, firstPosition, scratch)
    else attend(0, q, k, v, out, first, count, keys, heads, kvHeads, kvHead, headDim, scale, causal != 0, firstPosition, scratch)
  }
}

// @ts-ignore: decorator
@inline
function attend(
  type: i32, q: usize, k: usize, v: usize, out: usize, first: i32, count: i32, keys: i32, heads: i32, kvHeads: i32,
  kvHead: i32, headDim: i32, scale: f32, causal: bool, firstPosition: i32, scratch: usize,
): void {
  const group = heads / kvHeads
  const rows = count * group
  const rowBytes = <usize>headDim << 2
  const elementBytes: usize = type == F16 ? 2 : 4
  const kvStride = <usize>(kvHeads * headDim) * elementBytes
  const kvShift = <usize>(kvHead * headDim) * elementBytes
  // Scratch: keys | values | 4 rows of scores and a spare vector | per row (maximum, sum) | per row of `rows` rounded up to 4: headDim sums.
  const tileKeys = scratch
  const tileValues = tileKeys + rowBytes * TILE
  const scores = tileValues + rowBytes * TILE
  const state = scores + (<usize>TILE << 4) + 16
  const paddedRows = (rows + 3) & ~3
  const sums = state + (<usize>paddedRows << 3)
  for (let row: usize = 0; row < <usize>paddedRows; row++) {
    store<f32>(state + (row << 3), LOWEST)
    store<f32>(state + (row << 3), 0, 4)
  }
  memory.fill(sums, 0, <usize>paddedRows * rowBytes)
  const lastSeen = causal ? min(keys, firstPosition + first + count) : keys
  const queryStride = <usize>heads * rowBytes
  const queryBase = q + <usize>first * queryStride + <usize>(kvHead * group) * rowBytes
  const scales = f32x4.splat(scale)
  // Decoding: the scaled queries take the place of the tile of keys.
  const isFew = type == F16 && rows <= 4 && headDim % 8 == 0
  if (isFew) {
    for (let row = 0; row < 4; row++) {
      const r = min(row, rows - 1)
      scaleQuery(queryBase + <usize>(r / group) * queryStride + <usize>(r % group) * rowBytes, tileKeys + <usize>row * rowBytes, headDim)
    }
  }
  for (let firstKey = 0; firstKey < lastSeen; firstKey += TILE) {
    const here = min(TILE, lastSeen - firstKey)
    const keyRow = k + <usize>firstKey * kvStride + kvShift
    const valueRow = v + <usize>firstKey * kvStride + kvShift
    if (rows > 4) transposeKeys(type, keyRow, kvStride, here, headDim, tileKeys)
    if (type == F16 && !isFew) widenValues(type, valueRow, kvStride, here, headDim, tileValues)
    for (let row = 0; row < rows; row += 4) {
      // Rows run query by query, heads inside; rows past the end repeat the last one and are not stored.
      const r1 = min(row + 1, rows - 1), r2 = min(row + 2, rows - 1), r3 = min(row + 3, rows - 1)
      const q0 = queryBase + <usize>(row / group) * queryStride + <usize>(row % group) * rowBytes
      const q1 = queryBase + <usize>(r1 / group) * queryStride + <usize>(r1 % group) * rowBytes
      const q2 = queryBase + <usize>(r2 / group) * queryStride + <usize>(r2 % group) * rowBytes
      const q3 = queryBase + <usize>(r3 / group) * queryStride + <usize>(r3 % group) * rowBytes
      const position = firstPosition + first
      const v3 = visibleKeys(causal, position + r3 / group, firstKey, here)
      if (v3 == 0) continue
      const v0 = visibleKeys(causal, position + row / group, firstKey, here)
      const v1 = visibleKeys(causal, position + r1 / group, firstKey, here)
      const v2 = visibleKeys(causal, position + r2 / group, firstKey, here)
      if (isFew) scoreFew(tileKeys, keyRow, kvStride, here, headDim, scale * SCORE_FACTOR, scores)
      else if (rows > 4) scoreTile(q0, q1, q2, q3, tileKeys, headDim, scales, scores)
      else scoreRows(type, q0, q1, q2, q3, keyRow, kvStride, here, headDim, scale, scores)
      const line = <usize>TILE << 2
      const at = state + (<usize>row << 3)
      const keep0 = softmaxStep(scores, v0, at)
      const keep1 = softmaxStep(scores + line, v1, at + 8)
      const keep2 = softmaxStep(scores + line * 2, v2, at + 16)
      const keep3 = softmaxStep(scores + line * 3, v3, at + 24)
      const to = sums + <usize>row * rowBytes
      if (isFew) addValuesFew(scores, valueRow, kvStride, v3, headDim, to, keep0, keep1, keep2, keep3)
      else if (type == F16) addValues(scores, tileValues, rowBytes, v3, headDim, to, keep0, keep1, keep2, keep3)
      else addValues(scores, valueRow, kvStride, v3, headDim, to, keep0, keep1, keep2, keep3)
    }
  }
  for (let row = 0; row < rows; row++) {
    const to = out + <usize>(first + row / group) * queryStride + <usize>(kvHead * group + row % group) * rowBytes
    const from = sums + <usize>row * rowBytes
    const inverse = f32x4.splat(1 / load<f32>(state + (<usize>row << 3), 4))
    for (let at: usize = 0; at < rowBytes; at += 16) v128.store(to + at, f32x4.mul(v128.load(from + at), inverse))
  }
}

/** Scores of up to 4 query rows against keys as they lie in the cache: no transposition, sums across lanes. */
// @ts-ignore: decorator
@inline
function scoreRows(
  type: i32, q0: usize, q1: usize, q2: usize, q3: usize, k: usize, strideBytes: usize, count: i32, headDim: i32,
  scale: f32, scores: usize,
): void {
  const line = <usize>TILE << 2
  const zero = f32x4.splat(0)
  for (let key = 0; key < count; key++) {
    let a = zero, b = zero, c = zero, d = zero
    for (let i: usize = 0; i < <usize>headDim; i += 4) {
      const w = loadFour(type, k, i)
      const at = i << 2
      a = madd(v128.load(q0 + at), w, a)
      b = madd(v128.load(q1 + at), w, b)
      c = madd(v128.load(q2 + at), w, c)
      d = madd(v128.load(q3 + at), w, d)
    }
    const to = scores + (<usize>key << 2)
    store<f32>(to, sumLanes(a) * scale)
    store<f32>(to + line, sumLanes(b) * scale)
    store<f32>(to + line * 2, sumLanes(c) * scale)
    store<f32>(to + line * 3, sumLanes(d) * scale)
    k += strideBytes
  }
}
