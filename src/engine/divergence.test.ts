import { expect, it } from 'vitest'
import { addDivergence, measureDivergence, NO_DIVERGENCE } from './divergence.ts'

it('is nothing between equal distributions, whatever is added to their logits', () => {
  const found = measureDivergence(
    Float32Array.of(1, 2, 3, 0, 5, 0),
    Float32Array.of(11, 12, 13, -5, 0, -5),
    3,
  )
  expect(found).toEqual({ klSum: expect.closeTo(0, 6), sameTop: 2, positions: 2 })
})

it('is the sum of p ln(p / q) and counts equal likeliest tokens', () => {
  // p = (3/4, 1/4), q = (1/4, 3/4): 3/4 ln 3 + 1/4 ln 1/3 = 1/2 ln 3.
  const p = Float32Array.of(Math.log(3), 0)
  const q = Float32Array.of(0, Math.log(3))
  expect(measureDivergence(p, q, 2)).toEqual({
    klSum: expect.closeTo(Math.log(3) / 2, 6),
    sameTop: 0,
    positions: 1,
  })
})

it('adds up', () => {
  const one = { klSum: 0.5, sameTop: 1, positions: 2 }
  expect(addDivergence(addDivergence(NO_DIVERGENCE, one), one)).toEqual({
    klSum: 1,
    sameTop: 2,
    positions: 4,
  })
})
