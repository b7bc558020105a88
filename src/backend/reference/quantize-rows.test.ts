import { expect, test } from 'vitest'
import { opVector } from '../../../test/golden/ops/vectors.ts'
import { quantizedByteLength } from '../ops.ts'
import { quantizedRowsIn } from './quantize-rows.ts'
import { runOp } from './run-op.case.ts'

async function quantize(x: Float32Array, rows: number, columns: number) {
  const out = new Uint8Array(quantizedByteLength(rows, columns))
  return quantizedRowsIn(await runOp('quantizeRows', { x, out, rows, columns }, 'out'), rows, columns)
}

test('halves go to the even neighbour', async () => {
  const x = Float32Array.of(127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -127)
  const { values, scales, sums } = await quantize(x, 1, 8)
  expect([...values.subarray(0, 9)]).toEqual([127, 0, 2, 2, 0, -2, -2, -127, 0])
  expect([...scales]).toEqual([1])
  expect([...sums]).toEqual([0, 0])
})

test('NaN and infinity show in the scale of their block, whose codes are 0', async () => {
  const x = new Float32Array(96)
  x.set([Number.NaN, 254, -2])
  x.set([Number.NEGATIVE_INFINITY, 5], 32)
  x.set([254, -2], 64)
  const { values, scales, sums } = await quantize(x, 1, 96)
  expect([...values.subarray(0, 64)]).toEqual(new Array(64).fill(0))
  expect([...values.subarray(64, 66)]).toEqual([127, -1])
  expect([...scales]).toEqual([Number.NaN, Number.POSITIVE_INFINITY, 2])
  expect([...sums]).toEqual([0, 0, 0, 0, 126, 0])
})

test('every step as in NumPy float32: identical bits', async () => {
  const vector = opVector('quantizeRows')
  const { values, scales, sums } = await quantize(
    vector.floats('x'),
    vector.number('rows'),
    vector.number('columns'),
  )
  expect([...values]).toEqual([...new Int8Array(vector.bytes('codes').buffer)])
  expect([...scales]).toEqual([...vector.floats('scales')])
  expect([...sums]).toEqual([...new Int32Array(vector.bytes('sums').buffer)])
})
