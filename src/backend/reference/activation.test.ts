import { expect, test } from 'vitest'
import { opVector } from '../../../test/golden/ops/vectors.ts'
import { ACTIVATIONS, type Activation } from '../ops.ts'
import { erf } from './erf.ts'
import { expectNearest, runFloatOp } from './run-op.case.ts'

test.each(Object.keys(ACTIVATIONS) as Activation[])('%s as in PyTorch', async (name) => {
  const vector = opVector(name)
  const x = vector.floats('x')
  const found = await runFloatOp('activate', { x, kind: ACTIVATIONS[name], rows: 1, columns: x.length }, 'x')
  // Where the two factors of a GELU nearly cancel, double itself is only good to 1e-16 of x.
  const expected = vector.doubles('expected')
  const far = [...found.keys()].filter((i) => x[i]! < -4)
  for (const i of far)
    expect(Math.abs(found[i]! - expected[i]!)).toBeLessThanOrEqual(
      2e-15 * -x[i]! + 2 ** -24 * Math.abs(expected[i]!),
    )
  const near = [...found.keys()].filter((i) => !(x[i]! < -4))
  expectNearest(
    Float32Array.from(near, (i) => found[i]!),
    Float64Array.from(near, (i) => expected[i]!),
  )
})

test('siluMul as in PyTorch: nearest float32', async () => {
  const vector = opVector('siluMul')
  const gate = vector.floats('gate')
  const found = await runFloatOp(
    'siluMul',
    { gate, up: vector.floats('up'), out: new Float32Array(gate.length), rows: 1, columns: gate.length },
    'out',
  )
  expectNearest(found, vector.doubles('expected'))
})

test('the ends: large inputs pass or vanish', async () => {
  const bounded: readonly number[] = [ACTIVATIONS.tanh, ACTIVATIONS.sigmoid]
  for (const kind of Object.values(ACTIVATIONS).filter((one) => !bounded.includes(one))) {
    const x = Float32Array.of(1e30, -1e30, Number.POSITIVE_INFINITY, Number.NaN, 0)
    const found = await runFloatOp('activate', { x, kind, rows: 1, columns: 5 }, 'x')
    // The sign of a zero is nobody's business.
    expect([...found].map((value) => value + 0)).toEqual([
      Math.fround(1e30),
      0,
      Number.POSITIVE_INFINITY,
      Number.NaN,
      0,
    ])
  }
})

test('erf within 1e-15 of the C library', () => {
  const vector = opVector('erf')
  const expected = vector.doubles('expected')
  vector.doubles('x').forEach((x, i) => {
    expect(Math.abs(erf(x) - expected[i]!), `erf(${x})`).toBeLessThanOrEqual(1e-15 * Math.abs(expected[i]!))
  })
  expect(erf(Number.POSITIVE_INFINITY)).toBe(1)
  expect(erf(Number.NaN)).toBeNaN()
})
