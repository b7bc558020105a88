// One step of a long short-term memory, after the matrix products.

import { sigmoid, tanh } from './simd'

// @ts-ignore: decorator
@inline
function nextCell(input: v128, forget: v128, candidate: v128, cell: v128): v128 {
  return f32x4.add(f32x4.mul(sigmoid(forget), cell), f32x4.mul(sigmoid(input), tanh(candidate)))
}

export function lstmCell(gates: usize, state: usize, rows: i32, hidden: i32, begin: i32, end: i32, scratch: usize): void {
  const bytes = <usize>hidden << 2
  for (let row = begin; row < end; row++) {
    const gate = gates + <usize>row * (bytes << 2)
    const h = state + <usize>row * (bytes << 1)
    const c = h + bytes
    let at: usize = 0
    for (; at + 16 <= bytes; at += 16) {
      const cell = nextCell(
        v128.load(gate + at), v128.load(gate + bytes + at), v128.load(gate + (bytes << 1) + at), v128.load(c + at),
      )
      v128.store(c + at, cell)
      v128.store(h + at, f32x4.mul(sigmoid(v128.load(gate + bytes * 3 + at)), tanh(cell)))
    }
    for (; at < bytes; at += 4) {
      const cell = nextCell(
        v128.load32_splat(gate + at), v128.load32_splat(gate + bytes + at), v128.load32_splat(gate + (bytes << 1) + at),
        v128.load32_splat(c + at),
      )
      store<f32>(c + at, f32x4.extract_lane(cell, 0))
      store<f32>(h + at, f32x4.extract_lane(f32x4.mul(sigmoid(v128.load32_splat(gate + bytes * 3 + at)), tanh(cell)), 0))
    }
  }
}
