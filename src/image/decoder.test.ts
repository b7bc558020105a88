import { expect, test } from 'vitest'
import { fitPixels } from './decoder.ts'

test.each([
  [100, 50, 5000, 100, 50],
  [100, 50, 4999, 99, 49],
  [400, 200, 5000, 100, 50],
  [4000, 3000, 1_000_000, 1154, 866],
  [100_000, 1, 100, 3162, 1],
  [1, 100_000, 100, 1, 3162],
  [1, 1, 1, 1, 1],
])('%i x %i in %i pixels: %i x %i', (width, height, maxPixels, fitWidth, fitHeight) => {
  expect(fitPixels(width, height, maxPixels)).toEqual([fitWidth, fitHeight])
})
