import { expect, it } from 'vitest'
import type { QuestionResult } from './result-log.ts'
import { summarize } from './summary.ts'

function result(item: string, exact: number, klSum: number): QuestionResult {
  return {
    variant: '',
    item,
    turn: 0,
    text: '',
    exact,
    normalized: exact,
    anls: exact,
    klSum,
    sameTop: 3,
    positions: 4,
  }
}

it('compares each variant with the baseline, question by question', () => {
  const full = { name: 'f16', byteLength: 200, results: [result('a', 1, 0), result('b', 1, 0)] }
  const small = { name: 'q4', byteLength: 50, results: [result('a', 1, 2), result('b', 0, 6)] }
  expect(summarize([full, small], full)).toEqual([
    {
      ...{ name: 'f16', byteLength: 200, sizeRatio: 1, questions: 2 },
      ...{ exact: 1, normalized: 1, anls: 1, meanKl: 0, sameTop: 0.75 },
    },
    {
      ...{ name: 'q4', byteLength: 50, sizeRatio: 0.25, questions: 2 },
      ...{ exact: 0.5, normalized: 0.5, anls: 0.5, meanKl: 1, sameTop: 0.75 },
      loss: { points: 50, low: 0, high: 100 },
    },
  ])
})
