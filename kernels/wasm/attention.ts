// Scaled dot-product attention with an online softmax (Milakov & Gimelshein; FlashAttention). A piece of work is one
// key/value head and up to 128 queries, for all query heads that share it. Query rows go in groups of four; keys in
// tiles of 64. Scores lie with the four rows in four lanes, so that maximum, sum and weights need no crossing. Many
// queries (attend-tiles.ts) and few, as in decoding (attend-few.ts), multiply in ways of their own that add in the same
// order, and no row's sums depend on other rows: a query's result has the same bits in whatever company it is computed.

import { addValuesFew, queryFactorFew, scaleQuery, scoreFew } from './attend-few'
import { addScaledValues, addValues, packQueries, scoreTile, TILE, TILE_BYTES, transposeKeys, widenValues } from './attend-tiles'
import { cacheRowBytes } from './cache-rows'
import { F16, F32, Q8_0 } from './layout'
import { exp, madd } from './simd'

const QUERIES_PER_PIECE: i32 = 128
/** Scratch for the query rows of a piece and their sums; the tiles take at most 1.4 MB besides (src/models/head-sizes.ts). */
const GROUPS_BYTES: i32 = 1024 * 1024
/** Most rows (queries times heads that share a key) that go the way of few; for more, transposing pays. */
const FEW_ROWS: i32 = 8
const LOWEST = memory.data<f32>([-3.4e38, -3.4e38, -3.4e38, -3.4e38], 16)

/** Hides keys from the row's number of visible ones on. */
function hideKeys(scores: usize, count: i32, visible: v128): void {
  for (let key = 0; key < count; key++) {
    const at = scores + (<usize>key << 4)
    v128.store(at, v128.bitselect(v128.load(at), v128.load(LOWEST), i32x4.lt_s(i32x4.splat(key), visible)))
  }
}

/** Scores (count, 4) to weights e^(score - peak), which are summed. Those of hidden keys are exactly nothing. */
// @ts-ignore: decorator
@inline
function weigh(scores: usize, count: i32, hides: bool, visible: v128, peak: v128): v128 {
  let even = f32x4.splat(0), odd = even
  let key = 0
  // Two sums, so that they keep up with the exponentials.
  for (; key + 1 < count; key += 2) {
    const at = scores + (<usize>key << 4)
    let a = exp(f32x4.sub(v128.load(at), peak)), b = exp(f32x4.sub(v128.load(at, 16), peak))
    if (hides) {
      a = v128.and(a, i32x4.lt_s(i32x4.splat(key), visible))
      b = v128.and(b, i32x4.lt_s(i32x4.splat(key + 1), visible))
    }
    v128.store(at, a)
    v128.store(at, b, 16)
    even = f32x4.add(even, a)
    odd = f32x4.add(odd, b)
  }
  if (key < count) {
    const at = scores + (<usize>key << 4)
    let a = exp(f32x4.sub(v128.load(at), peak))
    if (hides) a = v128.and(a, i32x4.lt_s(i32x4.splat(key), visible))
    v128.store(at, a)
    even = f32x4.add(even, a)
  }
  return f32x4.add(even, odd)
}

/**
 * One step of the online softmax for four rows in the four lanes: scores (count, 4) become weights. `state`: four
 * maximums, four sums. Returns the factors for what was summed so far.
 */
function softmaxStep(scores: usize, count: i32, hides: bool, visible: v128, state: usize): v128 {
  if (hides) hideKeys(scores, count, visible)
  const end = scores + (<usize>count << 4)
  const before = v128.load(state)
  let peak = before
  for (let at = scores; at < end; at += 16) peak = f32x4.pmax(peak, v128.load(at))
  const sum = hides ? weigh(scores, count, true, visible, peak) : weigh(scores, count, false, visible, peak)
  const keep = exp(f32x4.sub(before, peak))
  v128.store(state, peak)
  v128.store(state, madd(v128.load(state, 16), keep, sum), 16)
  return keep
}

/** How many of `count` keys from `firstKey` on the query at `position` sees. */
// @ts-ignore: decorator
@inline
function visibleKeys(causal: bool, position: i32, firstKey: i32, count: i32): i32 {
  return causal ? max(0, min(count, position + 1 - firstKey)) : count
}

export function attention(
  type: i32, q: usize, k: usize, v: usize, out: usize, queries: i32, keys: i32, heads: i32, kvHeads: i32, headDim: i32,
  positionStride: i32, headStride: i32, scale: f32, causal: i32, firstPosition: i32, begin: i32, end: i32, scratch: usize,
): void {
  const pieces = (queries + QUERIES_PER_PIECE - 1) / QUERIES_PER_PIECE
  const rowBytes = cacheRowBytes(type, headDim)
  const stride = <usize>positionStride * rowBytes
  const group = heads / kvHeads
  const few = type != F32 && queries * group <= FEW_ROWS && headDim % 8 == 0
  const fitting = max(1, GROUPS_BYTES / ((headDim + 1) * 8 * group))
  for (let piece = begin; piece < end; piece++) {
    const kvHead = piece / pieces
    const shift = <usize>kvHead * <usize>headStride * rowBytes
    const stop = min(queries, (piece % pieces + 1) * QUERIES_PER_PIECE)
    for (let first = (piece % pieces) * QUERIES_PER_PIECE; first < stop; first += fitting) {
      const count = min(fitting, stop - first)
      if (type == F32) {
        attend(F32, false, q, k + shift, v + shift, stride, out, first, count, keys, heads, group, kvHead, headDim, scale, causal != 0, firstPosition, scratch)
      } else if (type == F16) {
        if (few) attend(F16, true, q, k + shift, v + shift, stride, out, first, count, keys, heads, group, kvHead, headDim, scale, causal != 0, firstPosition, scratch)
        else attend(F16, false, q, k + shift, v + shift, stride, out, first, count, keys, heads, group, kvHead, headDim, scale, causal != 0, firstPosition, scratch)
      } else {
        if (few) attend(Q8_0, true, q, k + shift, v + shift, stride, out, first, count, keys, heads, group, kvHead, headDim, scale, causal != 0, firstPosition, scratch)
        else attend(Q8_0, false, q, k + shift, v + shift, stride, out, first, count, keys, heads, group, kvHead, headDim, scale, causal != 0, firstPosition, scratch)
      }
    }
  }
}

/** `count` queries from `first` on, for the `group` heads that share the key/value head at `k` and `v`. */
// @ts-ignore: decorator
@inline
function attend(
  type: i32, few: bool, q: usize, k: usize, v: usize, strideBytes: usize, out: usize, first: i32, count: i32, keys: i32,
  heads: i32, group: i32, kvHead: i32, headDim: i32, scale: f32, causal: bool, firstPosition: i32, scratch: usize,
): void {
  // Rows run query by query, heads inside, in groups of four; past the end the last row is repeated and not stored.
  const rows = count * group
  const groups = (rows + 3) >> 2
  const rowBytes = <usize>headDim << 2
  // Scratch: keys | values | scores | scaled weights | per group: state, queries, sums (4, headDim).
  const tileKeys = scratch
  const tileValues = tileKeys + rowBytes * TILE
  const scores = tileValues + rowBytes * TILE
  const scaled = scores + (TILE_BYTES << 2)
  const groupStates = scaled + (TILE_BYTES << 2)
  const groupBytes = 32 + (rowBytes << 3)
  const queryStride = <usize>heads * rowBytes
  const queryBase = q + <usize>first * queryStride + <usize>(kvHead * group) * rowBytes
  for (let index = 0; index < groups; index++) {
    const state = groupStates + <usize>index * groupBytes
    const row = index << 2
    const r1 = min(row + 1, rows - 1), r2 = min(row + 2, rows - 1), r3 = min(row + 3, rows - 1)
    const q0 = queryBase + <usize>(row / group) * queryStride + <usize>(row % group) * rowBytes
    const q1 = queryBase + <usize>(r1 / group) * queryStride + <usize>(r1 % group) * rowBytes
    const q2 = queryBase + <usize>(r2 / group) * queryStride + <usize>(r2 % group) * rowBytes
    const q3 = queryBase + <usize>(r3 / group) * queryStride + <usize>(r3 % group) * rowBytes
    v128.store(state, v128.load(LOWEST))
    v128.store(state, f32x4.splat(0), 16)
    if (few) {
      const factor = scale * queryFactorFew(type)
      scaleQuery(q0, headDim, factor, state + 32)
      scaleQuery(q1, headDim, factor, state + 32 + rowBytes)
      scaleQuery(q2, headDim, factor, state + 32 + (rowBytes << 1))
      scaleQuery(q3, headDim, factor, state + 32 + rowBytes * 3)
    } else packQueries(q0, q1, q2, q3, headDim, scale, state + 32)
    memory.fill(state + 32 + (rowBytes << 2), 0, rowBytes << 2)
  }
  const lastSeen = causal ? min(keys, firstPosition + first + count) : keys
  for (let firstKey = 0; firstKey < lastSeen; firstKey += TILE) {
    const here = min(TILE, lastSeen - firstKey)
    const keyRow = k + <usize>firstKey * strideBytes
    const valueRow = v + <usize>firstKey * strideBytes
    if (!few) {
      transposeKeys(type, keyRow, strideBytes, here, headDim, tileKeys)
      if (type != F32) widenValues(type, valueRow, strideBytes, here, headDim, tileValues)
    }
    for (let index = 0; index < groups; index++) {
      const state = groupStates + <usize>index * groupBytes
      const row = index << 2
      const position = firstPosition + first
      const last = visibleKeys(causal, position + min(row + 3, rows - 1) / group, firstKey, here)
      if (last == 0) continue
      const v0 = visibleKeys(causal, position + row / group, firstKey, here)
      const v1 = visibleKeys(causal, position + min(row + 1, rows - 1) / group, firstKey, here)
      const v2 = visibleKeys(causal, position + min(row + 2, rows - 1) / group, firstKey, here)
      const visible = i32x4.replace_lane(i32x4.replace_lane(i32x4.replace_lane(i32x4.splat(v0), 1, v1), 2, v2), 3, last)
      if (few) scoreFew(type, min(4, rows - row), state + 32, keyRow, strideBytes, last, headDim, scores)
      else scoreTile(state + 32, tileKeys, headDim, last, scores, scaled)
      const keep = softmaxStep(scores, last, v0 < last, visible, state)
      const sums = state + 32 + (rowBytes << 2)
      if (few) addValuesFew(type, min(4, rows - row), scores, scaled, valueRow, strideBytes, last, headDim, sums, keep)
      else if (type == F32) addValues(scores, valueRow, strideBytes, last, headDim, headDim, sums, keep)
      else if (type == F16) addValues(scores, tileValues, rowBytes, last, headDim, headDim, sums, keep)
      else addScaledValues(scores, scaled, valueRow, strideBytes, tileValues, last, headDim, sums, keep)
    }
  }
  for (let row = 0; row < rows; row++) {
    const state = groupStates + <usize>(row >> 2) * groupBytes
    const lane = <usize>(row & 3)
    const to = out + <usize>(first + row / group) * queryStride + <usize>(kvHead * group + row % group) * rowBytes
    const from = state + 32 + (rowBytes << 2) + lane * rowBytes
    const inverse = f32x4.splat(1 / load<f32>(state + 16 + (lane << 2)))
    for (let at: usize = 0; at < rowBytes; at += 16) v128.store(to + at, f32x4.mul(v128.load(from + at), inverse))
  }
}
