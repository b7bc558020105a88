// Normalisation of rows. Sums run in four vectors of float32 lanes: 16 partial sums keep the error near that of
// float64 for rows of a few thousand.

import { madd, sumLanes } from './simd'

// @ts-ignore: decorator
@inline
function sumRow(x: usize, columns: i32): f32 {
  let a = f32x4.splat(0), b = a, c = a, d = a
  let i = 0
  for (; i + 16 <= columns; i += 16) {
    const at = x + (<usize>i << 2)
    a = f32x4.add(a, v128.load(at))
    b = f32x4.add(b, v128.load(at, 16))
    c = f32x4.add(c, v128.load(at, 32))
    d = f32x4.add(d, v128.load(at, 48))
  }
  let sum = sumLanes(f32x4.add(f32x4.add(a, b), f32x4.add(c, d)))
  for (; i < columns; i++) sum += load<f32>(x + (<usize>i << 2))
  return sum
}

/** Sum of (x - mean)². */
// @ts-ignore: decorator
@inline
function sumSquares(x: usize, columns: i32, mean: f32): f32 {
  const m = f32x4.splat(mean)
  let a = f32x4.splat(0), b = a, c = a, d = a
  let i = 0
  for (; i + 16 <= columns; i += 16) {
    const at = x + (<usize>i << 2)
    let y = f32x4.sub(v128.load(at), m)
    a = madd(y, y, a)
    y = f32x4.sub(v128.load(at, 16), m)
    b = madd(y, y, b)
    y = f32x4.sub(v128.load(at, 32), m)
    c = madd(y, y, c)
    y = f32x4.sub(v128.load(at, 48), m)
    d = madd(y, y, d)
  }
  let sum = sumLanes(f32x4.add(f32x4.add(a, b), f32x4.add(c, d)))
  for (; i < columns; i++) {
    const y = load<f32>(x + (<usize>i << 2)) - mean
    sum += y * y
  }
  return sum
}

export function rmsNorm(
  x: usize, weight: usize, out: usize, rows: i32, columns: i32, epsilon: f32, begin: i32, end: i32, scratch: usize,
): void {
  for (let row = begin; row < end; row++) {
    const shift = (<usize>row * columns) << 2
    const from = x + shift
    const to = out + shift
    const factor: f32 = 1 / sqrt(sumSquares(from, columns, 0) / <f32>columns + epsilon)
    const f = f32x4.splat(factor)
    let i = 0
    for (; i + 4 <= columns; i += 4) {
      const at = <usize>i << 2
      v128.store(to + at, f32x4.mul(f32x4.mul(v128.load(from + at), f), v128.load(weight + at)))
    }
    for (; i < columns; i++) {
      const at = <usize>i << 2
      store<f32>(to + at, load<f32>(from + at) * factor * load<f32>(weight + at))
    }
  }
}

export function layerNorm(
  x: usize, weight: usize, bias: usize, out: usize, rows: i32, columns: i32, epsilon: f32,
  begin: i32, end: i32, scratch: usize,
): void {
  for (let row = begin; row < end; row++) {
    const shift = (<usize>row * columns) << 2
    const from = x + shift
    const to = out + shift
    const mean: f32 = sumRow(from, columns) / <f32>columns
    const factor: f32 = 1 / sqrt(sumSquares(from, columns, mean) / <f32>columns + epsilon)
    const m = f32x4.splat(mean)
    const f = f32x4.splat(factor)
    let i = 0
    for (; i + 4 <= columns; i += 4) {
      const at = <usize>i << 2
      const y = f32x4.mul(f32x4.sub(v128.load(from + at), m), f)
      v128.store(to + at, madd(y, v128.load(weight + at), v128.load(bias + at)))
    }
    for (; i < columns; i++) {
      const at = <usize>i << 2
      store<f32>(to + at, (load<f32>(from + at) - mean) * factor * load<f32>(weight + at) + load<f32>(bias + at))
    }
  }
}

export function groupNorm(
  x: usize, weight: usize, bias: usize, out: usize, rows: i32, columns: i32, groups: i32, epsilon: f32,
  begin: i32, end: i32, scratch: usize,
): void {
  const width = columns / groups
  const rowBytes = <usize>columns << 2
  const count = <f64>rows * <f64>width
  for (let group = begin; group < end; group++) {
    const shift = (<usize>group * width) << 2
    // Over minutes of sound float32 sums would lose their last digits; those of a row are exact enough.
    let sum: f64 = 0
    for (let row = 0; row < rows; row++) sum += <f64>sumRow(x + <usize>row * rowBytes + shift, width)
    const mean = <f32>(sum / count)
    let squares: f64 = 0
    for (let row = 0; row < rows; row++) squares += <f64>sumSquares(x + <usize>row * rowBytes + shift, width, mean)
    const factor = <f32>(1 / sqrt(squares / count + <f64>epsilon))
    for (let row = 0; row < rows; row++) {
      const from = x + <usize>row * rowBytes + shift
      const to = out + <usize>row * rowBytes + shift
      for (let i = 0; i < width; i++) {
        const at = <usize>i << 2
        store<f32>(to + at, (load<f32>(from + at) - mean) * factor * load<f32>(weight + shift + at) + load<f32>(bias + shift + at))
      }
    }
  }
}
