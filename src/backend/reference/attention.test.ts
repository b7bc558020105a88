import { expect, test } from 'vitest'
import { opVector } from '../../../test/golden/ops/vectors.ts'
import { expectNearest, runFloatOp } from './run-op.case.ts'

test('equal scores give the mean of the visible values', async () => {
  const found = await runFloatOp(
    'attention',
    {
      type: 'F32',
      q: new Float32Array(2),
      k: Float32Array.of(5, -7, 9),
      v: Float32Array.of(1, 3, 100),
      out: new Float32Array(2),
      queries: 2,
      keys: 3,
      heads: 1,
      kvHeads: 1,
      headDim: 1,
      positionStride: 1,
      headStride: 3,
      scale: 1,
      causal: 1,
      firstPosition: 0,
    },
    'out',
  )
  expect([...found]).toEqual([1, 2])
})

test.each([
  ['bidirectional', 'F32'],
  ['causal from the start', 'F32'],
  ['causal continued, grouped', 'F32'],
  ['one query, half cache', 'F16'],
  ['one query, 8-bit cache', 'Q8_0'],
] as const)('%s as in PyTorch: nearest float32', async (name, type) => {
  const vector = opVector(`attention ${name}`)
  const q = vector.floats('q')
  const kvHeads = vector.number('kvHeads')
  const strides =
    type === 'Q8_0'
      ? { positionStride: 1, headStride: vector.number('keys') }
      : { positionStride: kvHeads, headStride: 1 }
  const numbers = ['queries', 'keys', 'heads', 'kvHeads', 'headDim', 'scale', 'causal', 'firstPosition']
  const found = await runFloatOp(
    'attention',
    {
      type,
      q,
      k: vector.bytes('k'),
      v: vector.bytes('v'),
      out: new Float32Array(q.length),
      ...strides,
      ...Object.fromEntries(numbers.map((key) => [key, vector.number(key)])),
    },
    'out',
  )
  expectNearest(found, vector.doubles('expected'))
})
