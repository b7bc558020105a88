import { expect, test } from 'vitest'
import { planImageTokens } from './image-budget.ts'

test.each([
  // budget, tokens of a frame, frames, pool
  [undefined, 576, Number.POSITIVE_INFINITY, 1],
  [576, 576, 1, 1],
  [575, 576, 1, 2],
  [144, 576, 1, 2],
  [143, 576, 1, 3],
  [64, 576, 1, 3],
  [63, 576, 1, 4],
  [35, 576, 1, 6],
  [1, 576, 1, 24],
  [1088, 64, 17, 1],
  [1087, 64, 16, 1],
  [63, 64, 1, 2],
  [15, 64, 1, 4],
  [3, 64, 1, 8],
  [80, 81, 1, 3],
  [8, 81, 1, 9],
  [5, 1, 5, 1],
] as const)(
  '%s tokens, %i a frame: %s frames, pooled by %i',
  (imageTokens, tokensPerFrame, maxFrames, pool) => {
    expect(planImageTokens(imageTokens, tokensPerFrame)).toEqual({ maxFrames, pool })
  },
)

test('never takes more than the budget, whatever the frame', () => {
  for (let side = 1; side <= 32; side++) {
    for (let budget = 1; budget <= side * side + 3; budget++) {
      const { maxFrames, pool } = planImageTokens(budget, side * side)
      expect(side % pool).toBe(0)
      expect(maxFrames * (side / pool) ** 2).toBeLessThanOrEqual(budget)
    }
  }
})
