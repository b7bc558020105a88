import { expect, test } from 'vitest'
import { opVector } from '../../../test/golden/ops/vectors.ts'
import { isFloatMatrixType, MATRIX_TYPES, type MatrixType } from '../ops.ts'
import { expectNearest, runFloatOp } from './run-op.case.ts'

const TYPES = Object.keys(MATRIX_TYPES) as MatrixType[]

test.each([
  [0, [1 * 3 + 2 * 4 + 10, 1 * 5 + 2 * 6 + 20]],
  [1, [1 * 3 + 2 * 4 + 10 + 100, 1 * 5 + 2 * 6 + 20 + 200]],
])('bias, and accumulate %i', async (accumulate, expected) => {
  const found = await runFloatOp(
    'matmulFloat',
    {
      type: 'F32',
      x: Float32Array.of(1, 2),
      matrix: Float32Array.of(3, 4, 5, 6),
      bias: Float32Array.of(10, 20),
      out: Float32Array.of(100, 200),
      m: 1,
      n: 2,
      k: 2,
      accumulate,
    },
    'out',
  )
  expect([...found]).toEqual(expected)
})

test.each(TYPES.filter(isFloatMatrixType))('%s matrix as in PyTorch: nearest float32', async (type) => {
  const vector = opVector(`matmulFloat ${type}`)
  const [m, n, k] = [vector.number('m'), vector.number('n'), vector.number('k')]
  const found = await runFloatOp(
    'matmulFloat',
    {
      type,
      x: vector.floats('x'),
      matrix: vector.bytes('matrix'),
      bias: vector.floats('bias'),
      out: new Float32Array(m * n),
      m,
      n,
      k,
      accumulate: 0,
    },
    'out',
  )
  expectNearest(found, vector.doubles('expected'))
})

test.each(TYPES.filter((type) => !isFloatMatrixType(type)))(
  '%s matrix, decoded by gguf, as in NumPy: nearest float32',
  async (type) => {
    const vector = opVector(`matmulQuantized ${type}`)
    const [m, n, k] = [vector.number('m'), vector.number('n'), vector.number('k')]
    const found = await runFloatOp(
      'matmulQuantized',
      {
        type,
        x: new Uint8Array(['codes', 'scales', 'sums'].flatMap((part) => [...vector.bytes(part)])),
        matrix: vector.bytes('matrix'),
        bias: vector.floats('bias'),
        out: new Float32Array(m * n),
        m,
        n,
        k,
        accumulate: 0,
      },
      'out',
    )
    expectNearest(found, vector.doubles('expected'))
  },
)
