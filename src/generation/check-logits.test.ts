import { expect, it } from 'vitest'
import { checkLogits } from './check-logits.ts'

it('accepts finite numbers', () => {
  expect(checkLogits(Float32Array.of(1, -3.4e38, 3.4e38, 0), 9)).toBeUndefined()
})

it.each([
  [[Number.NaN, 1, Number.NaN], 2],
  [[1, Number.POSITIVE_INFINITY], 1],
  [[Number.NEGATIVE_INFINITY], 1],
])('refuses %j', (logits, broken) => {
  expect(() => checkLogits(Float32Array.from(logits), 9)).toThrow(
    expect.objectContaining({
      code: 'model/not-a-number',
      message: `After 9 tokens ${broken} of the ${logits.length} logits are infinite or not a number (NaN); no answer can be chosen from them.`,
    }),
  )
})
