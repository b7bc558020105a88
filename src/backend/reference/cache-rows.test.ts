import { expect, test } from 'vitest'
import { opVector } from '../../../test/golden/ops/vectors.ts'
import { cacheRowByteLength } from '../cache-rows.ts'
import { runOp } from './run-op.case.ts'

test('halves are rounded to even', async () => {
  // 2049 lies between the halves 2048 and 2050, 2051 between 2050 and 2052; 65520 is where infinity begins.
  const x = Float32Array.of(1, 2049, 2051, -65519, 65520)
  const sizes = { type: 'F16', rows: 1, heads: 1, headDim: 5, headStride: 1 }
  const found = await runOp('storeRows', { ...sizes, x, out: new Uint8Array(10) }, 'out')
  expect([...new Uint16Array(found.buffer)]).toEqual([0x3c00, 0x6800, 0x6802, 0xfbff, 0x7c00])
})

test('rows of a head lie together', async () => {
  const x = Float32Array.from({ length: 12 }, (_, index) => index) // 2 rows, 3 heads of 2
  const out = new Float32Array(16).fill(-1)
  const sizes = { type: 'F32', rows: 2, heads: 3, headDim: 2, headStride: 3 }
  const found = await runOp('storeRows', { ...sizes, x, out }, 'out')
  expect([...new Float32Array(found.buffer)]).toEqual([
    ...[0, 1, 6, 7, -1, -1],
    ...[2, 3, 8, 9, -1, -1],
    ...[4, 5, 10, 11],
  ])
})

test('8 bits: a scale for each 32, rounded up, elements half to even, filled to 4 bytes', async () => {
  const x = new Float32Array(36)
  x.set([127, -127, 0.5, 1.5, -2.5, 3.4])
  x.set([-1, 0.5], 32) // 1 / 127 = 0x3c010204, so the next bfloat16 is 0x3c02 = 0.0079345703125
  const sizes = { type: 'Q8_0', rows: 1, heads: 1, headDim: 36, headStride: 1 }
  const found = await runOp('storeRows', { ...sizes, x, out: new Uint8Array(40).fill(9) }, 'out')
  const codes = new Int8Array(found.buffer, 0, 36)
  expect([...codes.subarray(0, 7)]).toEqual([127, -127, 0, 2, -2, 3, 0])
  expect([...codes.subarray(32)]).toEqual([-126, 63, 0, 0])
  expect([...found.subarray(36)]).toEqual([0x80, 0x3f, 0x02, 0x3c])
})

test('8 bits: every step as in NumPy float32, identical bits', async () => {
  const vector = opVector('storeRows 8 bits')
  const rows = vector.number('rows')
  const headDim = vector.number('headDim')
  const found = await runOp(
    'storeRows',
    {
      ...{ type: 'Q8_0', rows, heads: 1, headDim, headStride: rows },
      x: vector.floats('x'),
      out: new Uint8Array(rows * cacheRowByteLength('Q8_0', headDim)).fill(9),
    },
    'out',
  )
  expect([...found]).toEqual([...vector.bytes('expected')])
})
