// Scaled dot-product attention with an online softmax (Milakov & Gimelshein; FlashAttention). A piece of work is one
// key/value head and up to 128 queries, for all query heads that share it. Query rows go in groups of four; keys in
// tiles of 64. A tile's keys are widened and transposed once per piece, so that lanes are keys while scores are summed;
// scores are then turned so that lanes are the four rows, which makes maximum, sum and weights work without crossing
// lanes. Few queries, as in decoding, go their own way where keys are not float32 (attend-few.ts). Both ways add in the
// same order, and no row's sums depend on other rows: a query's result has the same bits in whatever company it is
// computed.

import { addValuesFew, queryFactorFew, scaleWeights, scoreFew } from './attend-few'
import { cacheRowBytes, loadFour, loadUnscaled } from './cache-rows'
import { F16, F32, Q8_0 } from './layout'
import { exp, madd } from './simd'
import { storeTransposed } from './transpose'

const QUERIES_PER_PIECE: i32 = 128
/** Scratch for the query rows of a piece and their sums; the tiles take at most 1.4 MB besides (src/models/head-sizes.ts). */
const GROUPS_BYTES: i32 = 1024 * 1024
/** Most rows (queries times heads that share a key) that go the way of few; for more, transposing pays. */
const FEW_ROWS: i32 = 8
const TILE: i32 = 64
const TILE_BYTES: usize = 256
const LOWEST = memory.data<f32>([-3.4e38, -3.4e38, -3.4e38, -3.4e38], 16)

/** `count` rows of values to float32 (count, headDim), without their scales. */
// @ts-ignore: decorator
@inline
function widenValues(type: i32, v: usize, strideBytes: usize, count: i32, headDim: i32, out: usize): void {
  const rowBytes = <usize>headDim << 2
  for (let key = 0; key < count; key++) {
    for (let i: usize = 0; i < <usize>headDim; i += 4) v128.store(out + (i << 2), loadUnscaled(type, v, i))
    v += strideBytes
    out += rowBytes
  }
}

/** `count` rows of keys to float32 (headDim, TILE). What lies behind `count` keys is left as it was. */
// @ts-ignore: decorator
@inline
function transposeKeys(type: i32, k: usize, strideBytes: usize, count: i32, headDim: i32, out: usize): void {
  for (let key = 0; key < count; key += 4) {
    // Past the last key the last one is repeated; its scores are hidden later.
    const k1 = k + (key + 1 < count ? strideBytes : 0)
    const k2 = k1 + (key + 2 < count ? strideBytes : 0)
    const k3 = k2 + (key + 3 < count ? strideBytes : 0)
    let to = out + (<usize>key << 2)
    for (let i: usize = 0; i < <usize>headDim; i += 4) {
      storeTransposed(
        to, TILE_BYTES, loadFour(type, k, i, headDim), loadFour(type, k1, i, headDim),
        loadFour(type, k2, i, headDim), loadFour(type, k3, i, headDim),
      )
      to += TILE_BYTES << 2
    }
    k = k3 + strideBytes
  }
}

/** Four query rows times `scale` as (headDim, 4). */
// @ts-ignore: decorator
@inline
function packQueries(q0: usize, q1: usize, q2: usize, q3: usize, headDim: i32, scale: f32, out: usize): void {
  const factor = f32x4.splat(scale)
  for (let at: usize = 0; at < <usize>headDim << 2; at += 16) {
    const a = f32x4.mul(v128.load(q0 + at), factor), b = f32x4.mul(v128.load(q1 + at), factor)
    const c = f32x4.mul(v128.load(q2 + at), factor), d = f32x4.mul(v128.load(q3 + at), factor)
    storeTransposed(out + (at << 2), 16, a, b, c, d)
  }
}

/** A query row times `scale`. */
// @ts-ignore: decorator
@inline
function scaleQuery(q: usize, headDim: i32, scale: f32, out: usize): void {
  const factor = f32x4.splat(scale)
  for (let at: usize = 0; at < <usize>headDim << 2; at += 16) v128.store(out + at, f32x4.mul(v128.load(q + at), factor))
}

/**
 * scores (TILE, 4) = keys (headDim, TILE)ᵀ · queries (headDim, 4), of the first `count` keys and a few more. Every fourth
 * element has a sum of its own, and the sums are added in pairs, as `attend-few.ts` does it. `parts`: 256 bytes.
 */
function scoreTile(queries: usize, keys: usize, headDim: i32, count: i32, scores: usize, parts: usize): void {
  const end = queries + (<usize>headDim << 4)
  for (let first = 0; first < count; first += 8) {
    for (let turn: usize = 0; turn < 4; turn++) {
      // Elements 0, 4, …; 2, 6, …; 1, 5, …; 3, 7, ….
      const start = ((turn & 1) << 1) | (turn >> 1)
      const zero = f32x4.splat(0)
      let a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero
      let key = keys + (<usize>first << 2) + start * TILE_BYTES
      let query = queries + (start << 4)
      while (query < end) {
        const w = v128.load(key)
        const v = v128.load(key, 16)
        let y = v128.load32_splat(query)
        a0 = madd(y, w, a0); b0 = madd(y, v, b0)
        y = v128.load32_splat(query, 4)
        a1 = madd(y, w, a1); b1 = madd(y, v, b1)
        y = v128.load32_splat(query, 8)
        a2 = madd(y, w, a2); b2 = madd(y, v, b2)
        y = v128.load32_splat(query, 12)
        a3 = madd(y, w, a3); b3 = madd(y, v, b3)
        key += TILE_BYTES << 2
        query += 64
      }
      const part = parts + ((turn >> 1) << 7)
      if (turn & 1) {
        a0 = f32x4.add(a0, v128.load(part)); b0 = f32x4.add(b0, v128.load(part, 64))
        a1 = f32x4.add(a1, v128.load(part, 16)); b1 = f32x4.add(b1, v128.load(part, 80))
        a2 = f32x4.add(a2, v128.load(part, 32)); b2 = f32x4.add(b2, v128.load(part, 96))
        a3 = f32x4.add(a3, v128.load(part, 48)); b3 = f32x4.add(b3, v128.load(part, 112))
      }
      v128.store(part, a0); v128.store(part, b0, 64)
      v128.store(part, a1, 16); v128.store(part, b1, 80)
      v128.store(part, a2, 32); v128.store(part, b2, 96)
      v128.store(part, a3, 48); v128.store(part, b3, 112)
    }
    const to = scores + (<usize>first << 4)
    // @unroll HALF 2
    storeTransposed(
      to + 64 * HALF, 16,
      f32x4.add(v128.load(parts, 64 * HALF), v128.load(parts, 64 * HALF + 128)),
      f32x4.add(v128.load(parts, 64 * HALF + 16), v128.load(parts, 64 * HALF + 144)),
      f32x4.add(v128.load(parts, 64 * HALF + 32), v128.load(parts, 64 * HALF + 160)),
      f32x4.add(v128.load(parts, 64 * HALF + 48), v128.load(parts, 64 * HALF + 176)),
    )
    // @end
  }
}

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

/**
 * sums (4, headDim) = sums * keep + weights (count, 4)ᵀ · values (count, headDim), for `columns` from those at `sums` and
 * `values` on.
 */
function addValues(
  weights: usize, values: usize, strideBytes: usize, count: i32, columns: i32, headDim: i32, sums: usize, keep: v128,
): void {
  const rowBytes = <usize>headDim << 2
  const columnBytes = <usize>columns << 2
  const k0 = v128.shuffle<i32>(keep, keep, 0, 0, 0, 0), k1 = v128.shuffle<i32>(keep, keep, 1, 1, 1, 1)
  const k2 = v128.shuffle<i32>(keep, keep, 2, 2, 2, 2), k3 = v128.shuffle<i32>(keep, keep, 3, 3, 3, 3)
  const end = weights + (<usize>count << 4)
  let column: usize = 0
  for (; column + 32 <= columnBytes; column += 32) {
    const s0 = sums + column, s1 = s0 + rowBytes, s2 = s1 + rowBytes, s3 = s2 + rowBytes
    let a0 = f32x4.mul(v128.load(s0), k0), b0 = f32x4.mul(v128.load(s0, 16), k0)
    let a1 = f32x4.mul(v128.load(s1), k1), b1 = f32x4.mul(v128.load(s1, 16), k1)
    let a2 = f32x4.mul(v128.load(s2), k2), b2 = f32x4.mul(v128.load(s2, 16), k2)
    let a3 = f32x4.mul(v128.load(s3), k3), b3 = f32x4.mul(v128.load(s3, 16), k3)
    let value = values + column
    for (let weight = weights; weight < end; weight += 16) {
      const w = v128.load(value)
      const v = v128.load(value, 16)
      let y = v128.load32_splat(weight)
      a0 = madd(y, w, a0); b0 = madd(y, v, b0)
      y = v128.load32_splat(weight, 4)
      a1 = madd(y, w, a1); b1 = madd(y, v, b1)
      y = v128.load32_splat(weight, 8)
      a2 = madd(y, w, a2); b2 = madd(y, v, b2)
      y = v128.load32_splat(weight, 12)
      a3 = madd(y, w, a3); b3 = madd(y, v, b3)
      value += strideBytes
    }
    v128.store(s0, a0); v128.store(s0, b0, 16)
    v128.store(s1, a1); v128.store(s1, b1, 16)
    v128.store(s2, a2); v128.store(s2, b2, 16)
    v128.store(s3, a3); v128.store(s3, b3, 16)
  }
  // Heads whose size is no multiple of 8.
  for (; column < columnBytes; column += 16) {
    const s0 = sums + column, s1 = s0 + rowBytes, s2 = s1 + rowBytes, s3 = s2 + rowBytes
    let a0 = f32x4.mul(v128.load(s0), k0), a1 = f32x4.mul(v128.load(s1), k1)
    let a2 = f32x4.mul(v128.load(s2), k2), a3 = f32x4.mul(v128.load(s3), k3)
    let value = values + column
    for (let weight = weights; weight < end; weight += 16) {
      const w = v128.load(value)
      a0 = madd(v128.load32_splat(weight), w, a0)
      a1 = madd(v128.load32_splat(weight, 4), w, a1)
      a2 = madd(v128.load32_splat(weight, 8), w, a2)
      a3 = madd(v128.load32_splat(weight, 12), w, a3)
      value += strideBytes
    }
    v128.store(s0, a0); v128.store(s1, a1); v128.store(s2, a2); v128.store(s3, a3)
  }
}

/** As `addValues` for 8-bit values, whose scales go with the weights: `rows` has them, `values` the bytes as floats. */
function addScaledValues(
  weights: usize, scaled: usize, rows: usize, strideBytes: usize, values: usize, count: i32, headDim: i32, sums: usize, keep: v128,
): void {
  let scale = rows + <usize>headDim
  for (let column = 0; column < headDim; column += 32) {
    const shift = <usize>column << 2
    scaleWeights(Q8_0, weights, count, scale, strideBytes, scaled)
    addValues(scaled, values + shift, <usize>headDim << 2, count, min(32, headDim - column), headDim, sums + shift, keep)
    scale += 2
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
