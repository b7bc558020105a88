import { expect, it } from 'vitest'
import { bootstrapInterval } from './bootstrap.ts'

it('is a point where all values are equal', () => {
  expect(bootstrapInterval([2, 2, 2], ['a', 'b', 'c'])).toEqual({ low: 2, high: 2 })
})

it('is the same for the same values, and about two standard errors wide', () => {
  const values = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 1 : 0))
  const groups = values.map((_, index) => String(index))
  const interval = bootstrapInterval(values, groups)
  expect(bootstrapInterval(values, groups)).toEqual(interval)
  // Half a point on either side of the mean: 1.96 · 0.5 / 10.
  expect(interval).toEqual({ low: 0.4, high: 0.6 })
})

it('draws whole groups: copies of a value add no certainty', () => {
  const single = bootstrapInterval([0, 1, 0, 1], ['a', 'b', 'c', 'd'])
  const doubled = bootstrapInterval([0, 0, 1, 1, 0, 0, 1, 1], ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd'])
  expect(doubled).toEqual(single)
})
