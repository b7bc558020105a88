// Linear layer in float32 on F32, F16 or BF16 weights. A panel of 8 rows is widened once to [column][8 rows] float32
// in the thread's scratch (F32 panels already have that form) and multiplied with 4 tokens at a time.

import { BF16, F16, F32 } from './layout'
import { loadHalves, madd } from './simd'
import { storeOutputs } from './store-outputs'

/** `columns` x 8 packed 16-bit numbers to float32. */
export function widenFloatPanel(type: i32, packed: usize, out: usize, columns: i32): void {
  const end = packed + (<usize>columns << 4)
  if (type == F16) {
    while (packed < end) {
      v128.store(out, loadHalves(packed))
      v128.store(out, loadHalves(packed + 8), 16)
      packed += 16
      out += 32
    }
  } else {
    while (packed < end) {
      const words = v128.load(packed)
      v128.store(out, i32x4.shl(i32x4.extend_low_i16x8_u(words), 16))
      v128.store(out, i32x4.shl(i32x4.extend_high_i16x8_u(words), 16), 16)
      packed += 16
      out += 32
    }
  }
}

// @ts-ignore: decorator
@inline
function tile4(panel: usize, columns: i32, x: usize, xStride: usize, out: usize, outStride: usize, rows: i32, bias: usize, add: bool): void {
  const zero = f32x4.splat(0)
  let a0 = zero, a1 = zero, a2 = zero, a3 = zero
  let b0 = zero, b1 = zero, b2 = zero, b3 = zero
  const end = panel + (<usize>columns << 5)
  while (panel < end) {
    const w = v128.load(panel)
    const v = v128.load(panel, 16)
    let y = v128.load32_splat(x)
    a0 = madd(y, w, a0); b0 = madd(y, v, b0)
    y = v128.load32_splat(x + xStride)
    a1 = madd(y, w, a1); b1 = madd(y, v, b1)
    y = v128.load32_splat(x + xStride * 2)
    a2 = madd(y, w, a2); b2 = madd(y, v, b2)
    y = v128.load32_splat(x + xStride * 3)
    a3 = madd(y, w, a3); b3 = madd(y, v, b3)
    panel += 32
    x += 4
  }
  storeOutputs(out, rows, a0, b0, bias, add)
  storeOutputs(out + outStride, rows, a1, b1, bias, add)
  storeOutputs(out + outStride * 2, rows, a2, b2, bias, add)
  storeOutputs(out + outStride * 3, rows, a3, b3, bias, add)
}

// @ts-ignore: decorator
@inline
function tile1(panel: usize, columns: i32, x: usize, out: usize, rows: i32, bias: usize, add: bool): void {
  let a = f32x4.splat(0), b = a
  const end = panel + (<usize>columns << 5)
  while (panel < end) {
    const y = v128.load32_splat(x)
    a = madd(y, v128.load(panel), a)
    b = madd(y, v128.load(panel, 16), b)
    panel += 32
    x += 4
  }
  storeOutputs(out, rows, a, b, bias, add)
}

export function matmulFloat(
  type: i32, x: usize, matrix: usize, bias: usize, out: usize, m: i32, n: i32, k: i32, accumulate: i32,
  begin: i32, end: i32, scratch: usize,
): void {
  const add = accumulate != 0
  const panelBytes = <usize>k * (type == F32 ? 32 : 16)
  const outStride = <usize>n << 2
  const xStride = <usize>k << 2
  for (let panel = begin; panel < end; panel++) {
    let floats = matrix + <usize>panel * panelBytes
    if (type == F16 || type == BF16) {
      widenFloatPanel(type, floats, scratch, k)
      floats = scratch
    }
    const rows = n - (panel << 3)
    const panelBias = bias != 0 ? bias + (<usize>panel << 5) : 0
    let to = out + (<usize>panel << 5)
    let token = 0
    for (; token + 4 <= m; token += 4) {
      tile4(floats, k, x + <usize>token * xStride, xStride, to, outStride, rows, panelBias, add)
      to += outStride << 2
    }
    for (; token < m; token++) {
      tile1(floats, k, x + <usize>token * xStride, to, rows, panelBias, add)
      to += outStride
    }
  }
}
