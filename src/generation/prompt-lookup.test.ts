import { expect, it } from 'vitest'
import { LONGEST_MATCH, PromptLookup } from './prompt-lookup.ts'

it('guesses what followed the last tokens before', () => {
  const lookup = new PromptLookup([1, 2, 3, 4, 5, 9, 2, 3])
  expect(lookup.guess(2)).toEqual({ tokens: [4, 5], matchLength: 2 })
  expect(lookup.guess(9)).toEqual({ tokens: [4, 5, 9, 2, 3], matchLength: 2 })
  lookup.push(4)
  expect(lookup.guess(1)).toEqual({ tokens: [5], matchLength: 3 })
  lookup.push(8)
  expect(lookup.guess(1)).toBeUndefined()
})

it('prefers the longest match, and of equal ones the newest', () => {
  expect(new PromptLookup([7, 1, 2, 10, 0, 1, 2, 11, 7, 1, 2]).guess(1)).toEqual({
    tokens: [10],
    matchLength: 3,
  })
  expect(new PromptLookup([5, 1, 2, 10, 6, 1, 2, 11, 7, 1, 2]).guess(1)).toEqual({
    tokens: [11],
    matchLength: 2,
  })
})

it('counts no more than the longest match that tells something', () => {
  const text = Array.from({ length: 30 }, (_, index) => index)
  expect(new PromptLookup([...text, 99, ...text.slice(0, 20)]).guess(3)).toEqual({
    tokens: [20, 21, 22],
    matchLength: LONGEST_MATCH,
  })
})

it('sees a match with itself, as in a run of one token', () => {
  expect(new PromptLookup([4, 4, 4]).guess(3)).toEqual({ tokens: [4], matchLength: 2 })
})

it.each([[[]], [[1]], [[1, 2]], [[1, 1]], [[1, 2, 3, 1]]])('guesses nothing from %j', (ids) => {
  expect(new PromptLookup(ids).guess(4)).toBeUndefined()
})

it('tells pairs of large ids apart', () => {
  const most = 2 ** 26 - 1
  expect(new PromptLookup([0, most, 5, 1, 0, 6, 1, 0]).guess(1)).toEqual({ tokens: [6], matchLength: 2 })
  expect(new PromptLookup([most, most, 5, most - 1, most]).guess(1)).toBeUndefined()
})
