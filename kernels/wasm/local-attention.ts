// Attention that looks at neighbours, or knows how far away they are. One query and head at a time: sequences are short.

import { exp, madd, sumLanes } from './simd'

// @ts-ignore: decorator
@inline
function dot(a: usize, b: usize, length: i32): f32 {
  let sum = f32x4.splat(0)
  let i = 0
  for (; i + 4 <= length; i += 4) sum = madd(v128.load(a + (<usize>i << 2)), v128.load(b + (<usize>i << 2)), sum)
  let total = sumLanes(sum)
  for (; i < length; i++) total += load<f32>(a + (<usize>i << 2)) * load<f32>(b + (<usize>i << 2))
  return total
}

/** out += weight * x. */
// @ts-ignore: decorator
@inline
function addScaled(out: usize, x: usize, weight: f32, length: i32): void {
  const w = f32x4.splat(weight)
  let i = 0
  for (; i + 4 <= length; i += 4) {
    const at = <usize>i << 2
    v128.store(out + at, madd(v128.load(x + at), w, v128.load(out + at)))
  }
  for (; i < length; i++) {
    const at = <usize>i << 2
    store<f32>(out + at, load<f32>(out + at) + load<f32>(x + at) * weight)
  }
}

/** e^x of one number. */
// @ts-ignore: decorator
@inline
function expOne(x: f32): f32 {
  return f32x4.extract_lane(exp(f32x4.splat(x)), 0)
}

export function localAttention(
  q: usize, k: usize, v: usize, relativeKeys: usize, relativeValues: usize, out: usize,
  rows: i32, heads: i32, headDim: i32, scale: f32, left: i32, right: i32, reach: i32, begin: i32, end: i32, scratch: usize,
): void {
  const headBytes = <usize>headDim << 2
  const rowBytes = <usize>heads * headBytes
  for (let row = begin; row < end; row++) {
    // Keys from `first` to `last`; a window of 0 and 0 is none.
    let first = left == 0 && right == 0 ? 0 : row - left + 1
    let last = left == 0 && right == 0 ? rows - 1 : row + right - 1
    if (last < row) last = row
    if (first > row) first = row
    if (first < 0) first = 0
    if (last >= rows) last = rows - 1
    for (let head = 0; head < heads; head++) {
      const shift = <usize>head * headBytes
      const query = q + <usize>row * rowBytes + shift
      const to = out + <usize>row * rowBytes + shift
      memory.fill(to, 0, headBytes)
      let largest: f32 = -Infinity
      let total: f32 = 0
      // Online softmax: what was summed is scaled down whenever a larger score comes.
      for (let key = first; key <= last; key++) {
        const distance = key - row
        const isNear = distance >= -reach && distance <= reach
        let score = dot(query, k + <usize>key * rowBytes + shift, headDim)
        if (relativeKeys != 0 && isNear) score += dot(query, relativeKeys + <usize>(distance + reach) * headBytes, headDim)
        score *= scale
        if (score > largest) {
          const shrink = expOne(largest - score)
          total *= shrink
          let i = 0
          for (; i + 4 <= headDim; i += 4) {
            const at = to + (<usize>i << 2)
            v128.store(at, f32x4.mul(v128.load(at), f32x4.splat(shrink)))
          }
          for (; i < headDim; i++) store<f32>(to + (<usize>i << 2), load<f32>(to + (<usize>i << 2)) * shrink)
          largest = score
        }
        const weight = expOne(score - largest)
        total += weight
        addScaled(to, v + <usize>key * rowBytes + shift, weight, headDim)
        if (relativeValues != 0 && isNear) addScaled(to, relativeValues + <usize>(distance + reach) * headBytes, weight, headDim)
      }
      const factor = f32x4.splat(1 / total)
      let i = 0
      for (; i + 4 <= headDim; i += 4) {
        const at = to + (<usize>i << 2)
        v128.store(at, f32x4.mul(v128.load(at), factor))
      }
      for (; i < headDim; i++) store<f32>(to + (<usize>i << 2), load<f32>(to + (<usize>i << 2)) / total)
    }
  }
}
