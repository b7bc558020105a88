import { describe, expect, it } from 'vitest'
import { normalizeAnswer, scoreAnswer } from './metrics.ts'

describe('scoreAnswer', () => {
  it.each([
    ['A cat.', ['A cat.'], 1, 1, 1],
    [' A cat.\n', ['A cat.'], 1, 1, 1],
    ['the Cat', ['A cat.'], 0, 1, 0],
    ['A bat.', ['A cat.', 'A bat.'], 1, 1, 1],
    ['A bat.', ['A cat.'], 0, 0, 1 - 1 / 6],
    ['EXIT', ['exit'], 0, 1, 1],
    ['一只猫', ['一只狗'], 0, 0, 1 - 1 / 3],
    ['', ['A cat.'], 0, 0, 0],
    ['anything', [], 0, 0, 0],
  ])('%j against %j', (text, answers, exact, normalized, anls) => {
    expect(scoreAnswer(text, answers)).toEqual({ exact, normalized, anls })
  })
})

it('normalizeAnswer leaves articles inside words', () => {
  expect(normalizeAnswer('The  anthem, a theatre – ＡＢＣ。')).toBe('anthem theatre abc')
})
