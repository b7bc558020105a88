// Convolutions over time, as rearranging around a matrix product, and the kinds whose channels do not mix.

import { madd } from './simd'

export function unfoldRows(
  x: usize, out: usize, rows: i32, columns: i32, outRows: i32, kernel: i32, stride: i32, dilation: i32, padding: i32,
  firstRow: i32, begin: i32, end: i32, scratch: usize,
): void {
  const bytes = <usize>columns << 2
  for (let row = begin; row < end; row++) {
    let to = out + <usize>row * <usize>kernel * bytes
    let from = (firstRow + row) * stride - padding
    if (dilation == 1 && from >= 0 && from + kernel <= rows) {
      memory.copy(to, x + <usize>from * bytes, <usize>kernel * bytes)
      continue
    }
    for (let tap = 0; tap < kernel; tap++) {
      if (from >= 0 && from < rows) memory.copy(to, x + <usize>from * bytes, bytes)
      else memory.fill(to, 0, bytes)
      to += bytes
      from += dilation
    }
  }
}

/** out += x. */
// @ts-ignore: decorator
@inline
function addRow(out: usize, x: usize, columns: i32): void {
  let i = 0
  for (; i + 4 <= columns; i += 4) {
    const at = <usize>i << 2
    v128.store(out + at, f32x4.add(v128.load(out + at), v128.load(x + at)))
  }
  for (; i < columns; i++) {
    const at = <usize>i << 2
    store<f32>(out + at, load<f32>(out + at) + load<f32>(x + at))
  }
}

export function foldRows(
  x: usize, bias: usize, out: usize, rows: i32, columns: i32, outRows: i32, kernel: i32, stride: i32, padding: i32,
  firstRow: i32, firstInput: i32, begin: i32, end: i32, scratch: usize,
): void {
  const bytes = <usize>columns << 2
  for (let row = begin; row < end; row++) {
    const to = out + <usize>row * bytes
    if (bias != 0) memory.copy(to, bias, bytes)
    else memory.fill(to, 0, bytes)
    const position = firstRow + row + padding
    // Inputs i with 0 <= position - i * stride < kernel, in ascending order.
    let input = position - kernel + 1
    input = input <= 0 ? 0 : (input + stride - 1) / stride
    if (input < firstInput) input = firstInput
    for (; input * stride <= position && input < firstInput + rows; input++) {
      const tap = position - input * stride
      addRow(to, x + (<usize>(input - firstInput) * <usize>kernel + <usize>tap) * bytes, columns)
    }
  }
}

export function depthwiseConv(
  x: usize, weight: usize, bias: usize, out: usize, rows: i32, columns: i32, kernel: i32, dilation: i32, padding: i32,
  begin: i32, end: i32, scratch: usize,
): void {
  const bytes = <usize>columns << 2
  for (let row = begin; row < end; row++) {
    const first = row - padding
    const to = out + <usize>row * bytes
    let i = 0
    for (; i + 4 <= columns; i += 4) {
      const at = <usize>i << 2
      let sum = bias != 0 ? v128.load(bias + at) : f32x4.splat(0)
      for (let tap = 0, from = first; tap < kernel; tap++, from += dilation) {
        if (from < 0 || from >= rows) continue
        sum = madd(v128.load(x + <usize>from * bytes + at), v128.load(weight + <usize>tap * bytes + at), sum)
      }
      v128.store(to + at, sum)
    }
    for (; i < columns; i++) {
      const at = <usize>i << 2
      let sum: f32 = bias != 0 ? load<f32>(bias + at) : 0
      for (let tap = 0, from = first; tap < kernel; tap++, from += dilation) {
        if (from < 0 || from >= rows) continue
        sum += load<f32>(x + <usize>from * bytes + at) * load<f32>(weight + <usize>tap * bytes + at)
      }
      store<f32>(to + at, sum)
    }
  }
}
