import { expect, test } from 'vitest'
import { opVector } from '../../../test/golden/ops/vectors.ts'
import { expectNearest, runFloatOp } from './run-op.case.ts'

test('extractPatches cuts off the rests and orders (channel, y, x)', async () => {
  const found = await runFloatOp(
    'extractPatches',
    {
      pixels: Float32Array.from({ length: 2 * 3 * 5 }, (_, i) => i),
      out: new Float32Array(2 * 8),
      channels: 2,
      height: 3,
      width: 5,
      patch: 2,
      patchRows: 1,
    },
    'out',
  )
  expect([...found]).toEqual([0, 1, 5, 6, 15, 16, 20, 21, 2, 3, 7, 8, 17, 18, 22, 23])
})

test('patches through a linear layer are the convolution of PyTorch: nearest float32', async () => {
  const vector = opVector('conv2d')
  const [channels, patch, patchRows] = [
    vector.number('channels'),
    vector.number('patch'),
    vector.number('patchRows'),
  ]
  const rows = patchRows * Math.floor(vector.number('width') / patch)
  const k = channels * patch * patch
  const n = vector.number('features')
  const x = await runFloatOp(
    'extractPatches',
    {
      pixels: vector.floats('pixels'),
      out: new Float32Array(rows * k),
      channels,
      height: vector.number('height'),
      width: vector.number('width'),
      patch,
      patchRows,
    },
    'out',
  )
  const found = await runFloatOp(
    'matmulFloat',
    {
      type: 'F32',
      x,
      matrix: vector.floats('weight'),
      bias: vector.floats('bias'),
      out: new Float32Array(rows * n),
      m: rows,
      n,
      k,
      accumulate: 0,
    },
    'out',
  )
  expectNearest(found, vector.doubles('expected'))
})

test.each([2, 3])('pixelShuffle by %i as in Transformers: identical', async (factor) => {
  const vector = opVector(`pixelShuffle ${factor}`)
  const x = vector.floats('x')
  const found = await runFloatOp(
    'pixelShuffle',
    {
      x,
      out: new Float32Array(x.length),
      gridRows: vector.number('gridRows'),
      gridColumns: vector.number('gridColumns'),
      columns: vector.number('columns'),
      factor,
    },
    'out',
  )
  expect([...found]).toEqual([...vector.floats('expected')])
})

test('pixelShuffle of a grid that is not square', async () => {
  const found = await runFloatOp(
    'pixelShuffle',
    {
      x: Float32Array.from({ length: 8 }, (_, i) => i),
      out: new Float32Array(8),
      gridRows: 2,
      gridColumns: 4,
      columns: 1,
      factor: 2,
    },
    'out',
  )
  expect([...found]).toEqual([0, 1, 4, 5, 2, 3, 6, 7])
})

test.each(['24 by 2', '24 by 3', '4 by 4', '6 by 1'])(
  'poolRows of %s as avg_pool2d of PyTorch: identical',
  async (name) => {
    const vector = opVector(`poolRows ${name}`)
    const expected = vector.floats('expected')
    const found = await runFloatOp(
      'poolRows',
      {
        x: vector.floats('x'),
        out: new Float32Array(expected.length),
        rows: vector.number('rows'),
        gridColumns: vector.number('gridColumns'),
        columns: vector.number('columns'),
        factor: vector.number('factor'),
      },
      'out',
    )
    expect([...found]).toEqual([...expected])
  },
)
