import { expect, test } from 'vitest'
import { opVector } from '../../../test/golden/ops/vectors.ts'
import { ROPE_PAIRINGS } from '../ops.ts'
import { expectNearest, runFloatOp } from './run-op.case.ts'

test.each([
  ['half', [-3, -4, 1, 2]], // pairs (1, 3) and (2, 4)
  ['adjacent', [-2, 1, -4, 3]], // pairs (1, 2) and (3, 4)
] as const)('a quarter turn with pairing %s', async (pairing, expected) => {
  const x = Float32Array.of(1, 2, 3, 4)
  const table = Float32Array.of(0, 0, 1, 1)
  const found = await runFloatOp(
    'rope',
    { x, table, rows: 1, heads: 1, headDim: 4, rotaryDim: 4, pairing: ROPE_PAIRINGS[pairing] },
    'x',
  )
  expect([...found]).toEqual(expected)
})

test.each(['half', 'adjacent'] as const)(
  'pairing %s as in Transformers or by complex numbers: nearest float32',
  async (pairing) => {
    const vector = opVector(`rope ${pairing}`)
    const found = await runFloatOp(
      'rope',
      {
        x: vector.floats('x'),
        table: vector.floats('table'),
        rows: vector.number('rows'),
        heads: vector.number('heads'),
        headDim: vector.number('headDim'),
        rotaryDim: vector.number('headDim'),
        pairing: ROPE_PAIRINGS[pairing],
      },
      'x',
    )
    expectNearest(found, vector.doubles('expected'))
  },
)
