// Single rows of a packed matrix as float32: embedding look-up.

import { BF16, F16, F32, IQ4_NL, Q6_K, Q8_0, blocksPerRow, packedBlockBytes } from './layout'
import { widenFloatPanel } from './matmul-float'
import { hasMinimum, unpackPanel, unpackedOffset } from './unpack-panel'
import { dotKind, SIGNED } from './dot-kind'

function gatherFloats(floats: usize, row: usize, out: usize, columns: i32): void {
  for (let c: usize = 0; c < <usize>columns; c++) store<f32>(out + (c << 2), load<f32>(floats + (c << 5) + (row << 2)))
}

function gatherUnits(type: i32, unit: usize, row: usize, out: usize, columns: i32): void {
  const vectors: usize = type == Q6_K ? 4 : 8
  const length = <i32>vectors << 2
  const offset = unpackedOffset(type)
  const signed = dotKind == SIGNED && (type == Q8_0 || type == IQ4_NL)
  const minimum = hasMinimum(type)
  for (let first = 0; first < columns; first += length) {
    const words = unit + (row >> 2) * (vectors << 4) + ((row & 3) << 2)
    const scale = load<f32>(unit + (vectors << 5) + (row << 2))
    const low: f32 = minimum ? load<f32>(unit + (vectors << 5) + 32 + (row << 2)) : 0
    const count = min(length, columns - first)
    for (let c = 0; c < count; c++) {
      const at = words + (<usize>(c >> 2) << 4) + <usize>(c & 3)
      const q = signed ? <i32>load<i8>(at) : <i32>load<u8>(at) - offset
      store<f32>(out + (<usize>(first + c) << 2), scale * <f32>q + low)
    }
    unit += (vectors << 5) + 64
  }
}

export function gatherRows(type: i32, matrix: usize, ids: usize, out: usize, count: i32, columns: i32, begin: i32, end: i32, scratch: usize): void {
  const blocks = blocksPerRow(type, columns)
  const panelBytes = <usize>blocks * packedBlockBytes(type)
  for (let i = begin; i < end; i++) {
    const id = load<i32>(ids + (<usize>i << 2))
    const panel = matrix + <usize>(id >> 3) * panelBytes
    const row = <usize>(id & 7)
    const to = out + ((<usize>i * columns) << 2)
    if (type == F32) {
      gatherFloats(panel, row, to, columns)
    } else if (type == F16 || type == BF16) {
      widenFloatPanel(type, panel, scratch, columns)
      gatherFloats(scratch, row, to, columns)
    } else {
      unpackPanel(type, panel, scratch, blocks)
      gatherUnits(type, scratch, row, to, columns)
    }
  }
}
