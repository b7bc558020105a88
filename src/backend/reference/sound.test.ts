import { describe, expect, test } from 'vitest'
import { type OpVector, opVector } from '../../../test/golden/ops/vectors.ts'
import { ROPE_PAIRINGS } from '../ops.ts'
import { expectNearest, runFloatOp } from './run-op.case.ts'

const numbers = (vector: OpVector, ...names: string[]): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, vector.number(name)]))
const arrays = (vector: OpVector, ...names: string[]): Record<string, Float32Array> =>
  Object.fromEntries(names.map((name) => [name, vector.floats(name)]))
const room = (vector: OpVector) => new Float32Array(vector.doubles('expected').length)

/** Weights (out, in, kernel) as the rows of a linear layer over windows, (out, kernel, in). */
function tapsFirst(weight: Float32Array, columns: number, kernel: number): Float32Array {
  return Float32Array.from({ length: weight.length }, (_, i) => {
    const row = Math.floor(i / (kernel * columns))
    const tap = Math.floor(i / columns) % kernel
    return weight[(row * columns + (i % columns)) * kernel + tap]!
  })
}

function expectClose(found: Float32Array, expected: Float64Array): void {
  found.forEach((value, i) => {
    expect(Math.abs(value - expected[i]!), `element ${i}`).toBeLessThanOrEqual(1e-6)
  })
  expect(found.length).toBe(expected.length)
}

describe('as in PyTorch', () => {
  test.each(['plain', 'strided', 'dilated', 'causal'])(
    'conv1d, %s: unfoldRows and a linear layer',
    async (name) => {
      const vector = opVector(`conv1d ${name}`)
      const shape = numbers(vector, 'rows', 'columns', 'outRows', 'kernel', 'stride', 'dilation', 'padding')
      const { outRows, kernel, columns } = shape as { outRows: number; kernel: number; columns: number }
      const windows = await runFloatOp(
        'unfoldRows',
        { ...arrays(vector, 'x'), out: new Float32Array(outRows * kernel * columns), ...shape, firstRow: 0 },
        'out',
      )
      const out = vector.number('out')
      const matrix = tapsFirst(vector.floats('weight'), columns, kernel)
      const found = await runFloatOp(
        'matmulFloat',
        {
          ...{ type: 'F32', x: windows, matrix, bias: vector.floats('bias'), out: room(vector) },
          ...{ m: outRows, n: out, k: kernel * columns, accumulate: 0 },
        },
        'out',
      )
      expectNearest(found, vector.doubles('expected'))
    },
  )

  test.each(['double', 'odd'])('convTranspose1d, %s: a linear layer and foldRows', async (name) => {
    const vector = opVector(`convTranspose1d ${name}`)
    const shape = numbers(vector, 'rows', 'outRows', 'kernel', 'stride', 'padding')
    const [rows, columns, out, kernel] = ['rows', 'columns', 'out', 'kernel'].map((key) =>
      vector.number(key),
    ) as [number, number, number, number]
    // (in, out, kernel) as rows (kernel, out) of a linear layer.
    const weight = vector.floats('weight')
    const matrix = Float32Array.from({ length: weight.length }, (_, i) => {
      const row = Math.floor(i / columns)
      return weight[((i % columns) * out + (row % out)) * kernel + Math.floor(row / out)]!
    })
    const windows = await runFloatOp(
      'matmulFloat',
      {
        ...{ type: 'F32', x: vector.floats('x'), matrix, bias: undefined },
        ...{
          out: new Float32Array(rows * kernel * out),
          m: rows,
          n: kernel * out,
          k: columns,
          accumulate: 0,
        },
      },
      'out',
    )
    const found = await runFloatOp(
      'foldRows',
      {
        ...{ x: windows, bias: vector.floats('bias'), out: room(vector), ...shape, columns: out },
        ...{ firstRow: 0, firstInput: 0 },
      },
      'out',
    )
    expectClose(found, vector.doubles('expected'))
  })

  test('depthwiseConv', async () => {
    const vector = opVector('depthwiseConv')
    const found = await runFloatOp(
      'depthwiseConv',
      {
        ...arrays(vector, 'x', 'weight', 'bias'),
        out: room(vector),
        ...numbers(vector, 'rows', 'columns', 'kernel', 'dilation', 'padding'),
      },
      'out',
    )
    expectNearest(found, vector.doubles('expected'))
  })

  test('tanhSigmoidMul', async () => {
    const vector = opVector('tanhSigmoidMul')
    const args = { ...arrays(vector, 'x'), out: room(vector), ...numbers(vector, 'rows', 'columns') }
    expectNearest(await runFloatOp('tanhSigmoidMul', args, 'out'), vector.doubles('expected'))
  })

  test('lstmCell', async () => {
    const vector = opVector('lstmCell')
    const args = { ...arrays(vector, 'gates', 'state'), ...numbers(vector, 'rows', 'hidden') }
    expectNearest(await runFloatOp('lstmCell', args, 'state'), vector.doubles('expected'))
  })

  test('groupNorm', async () => {
    const vector = opVector('groupNorm')
    const args = {
      ...arrays(vector, 'x', 'weight', 'bias'),
      out: room(vector),
      ...numbers(vector, 'rows', 'columns', 'groups', 'epsilon'),
    }
    expectNearest(await runFloatOp('groupNorm', args, 'out'), vector.doubles('expected'))
  })

  test.each(['distances 9', 'distances 3', 'window'])('localAttention, %s', async (name) => {
    const vector = opVector(`localAttention ${name}`)
    const distances = name === 'window' ? {} : arrays(vector, 'relativeKeys', 'relativeValues')
    const args = {
      ...arrays(vector, 'q', 'k', 'v'),
      ...{ relativeKeys: undefined, relativeValues: undefined, ...distances },
      out: room(vector),
      ...numbers(vector, 'rows', 'heads', 'headDim', 'scale', 'left', 'right', 'reach'),
    }
    expectNearest(await runFloatOp('localAttention', args, 'out'), vector.doubles('expected'))
  })

  test('rope of a part of each head, by neighbours, as Moonshine', async () => {
    const vector = opVector('rope partial')
    const args = {
      ...arrays(vector, 'x', 'table'),
      ...numbers(vector, 'rows', 'heads', 'headDim', 'rotaryDim'),
      pairing: ROPE_PAIRINGS.adjacent,
    }
    expectNearest(await runFloatOp('rope', args, 'x'), vector.doubles('expected'))
  })

  test('leakyRelu', async () => {
    const vector = opVector('leakyRelu')
    const x = vector.floats('x')
    const args = { x, rows: 1, columns: x.length, slope: vector.number('slope') }
    expectNearest(await runFloatOp('leakyRelu', args, 'x'), vector.doubles('expected'))
  })
})
