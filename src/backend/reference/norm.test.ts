import { expect, test } from 'vitest'
import { opVector } from '../../../test/golden/ops/vectors.ts'
import { expectNearest, runFloatOp } from './run-op.case.ts'

test('rmsNorm of 3 and 4: the mean square is 12.5', async () => {
  const out = await runFloatOp(
    'rmsNorm',
    {
      x: Float32Array.of(3, 4),
      weight: Float32Array.of(1, 2),
      out: new Float32Array(2),
      rows: 1,
      columns: 2,
      epsilon: 0,
    },
    'out',
  )
  expect([...out]).toEqual([Math.fround(3 / Math.sqrt(12.5)), Math.fround(8 / Math.sqrt(12.5))])
})

test('layerNorm of 1, 2, 3: mean 2, variance 2/3, and epsilon 1/3 makes the deviation 1', async () => {
  const out = await runFloatOp(
    'layerNorm',
    {
      x: Float32Array.of(1, 2, 3),
      weight: Float32Array.of(1, 1, 10),
      bias: Float32Array.of(0, 5, 7),
      out: new Float32Array(3),
      rows: 1,
      columns: 3,
      epsilon: 1 / 3,
    },
    'out',
  )
  expect([...out]).toEqual([-1, 5, 17])
})

test.each(['rmsNorm', 'layerNorm'] as const)('%s as in PyTorch: nearest float32', async (op) => {
  const vector = opVector(op)
  const x = vector.floats('x')
  const found = await runFloatOp(
    op,
    {
      x,
      weight: vector.floats('weight'),
      ...(op === 'layerNorm' ? { bias: vector.floats('bias') } : {}),
      out: new Float32Array(x.length),
      rows: vector.number('rows'),
      columns: vector.number('columns'),
      epsilon: vector.number('epsilon'),
    },
    'out',
  )
  expectNearest(found, vector.doubles('expected'))
})
