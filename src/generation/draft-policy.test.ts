import { expect, it } from 'vitest'
import { DraftPolicy, MOST_DRAFTED } from './draft-policy.ts'

/** A policy that has seen `count` guesses behind matches of `length`, all right or all wrong. */
function experienced(length: number, isRight: boolean, count = 40): DraftPolicy {
  const policy = new DraftPolicy()
  policy.measure(1, 10)
  for (let index = 0; index < count; index++) policy.judge(length, isRight)
  return policy
}

it('drafts nothing before it knows what a token costs', () => {
  const policy = new DraftPolicy()
  expect(policy.draftLength(8, 7)).toBe(0)
})

it('drafts as much as it can where guesses are right and tokens nearly free', () => {
  const policy = experienced(8, true)
  for (const size of [1, 2, 3, 5, 7]) policy.measure(size + 1, 11)
  expect(policy.draftLength(8, MOST_DRAFTED)).toBe(7)
  expect(policy.draftLength(8, 4)).toBe(3)
  expect(policy.draftLength(8, 0)).toBe(0)
})

it('drafts nothing where guesses are wrong, and again once they are right', () => {
  const policy = experienced(2, false)
  expect(policy.draftLength(2, MOST_DRAFTED)).toBe(0)
  for (let index = 0; index < 40; index++) policy.judge(2, true)
  expect(policy.draftLength(2, MOST_DRAFTED)).toBeGreaterThan(0)
})

it('drafts nothing where passes over several tokens cost as much as so many passes', () => {
  const policy = experienced(8, true)
  for (const size of [1, 2, 3, 5, 7]) policy.measure(size + 1, 10 * (size + 1))
  expect(policy.draftLength(8, MOST_DRAFTED)).toBe(0)
})

it('chooses the length that gives most tokens for the time', () => {
  const policy = experienced(8, true)
  policy.measure(2, 13)
  policy.measure(3, 17)
  policy.measure(4, 20)
  policy.measure(6, 40)
  policy.measure(8, 60)
  expect(policy.draftLength(8, MOST_DRAFTED)).toBe(3) // 4 tokens in 20 against 8 in 60
})

it('is not misled by a single time that something else disturbed', () => {
  const policy = experienced(8, true)
  for (const size of [1, 2, 3, 5, 7]) policy.measure(size + 1, 12)
  policy.measure(8, 4000)
  expect(policy.draftLength(8, MOST_DRAFTED)).toBe(7)
})

it('believes long matches more than short ones before it has seen any', () => {
  const policy = new DraftPolicy()
  policy.measure(1, 10)
  expect(policy.draftLength(2, MOST_DRAFTED)).toBe(0)
  expect(policy.draftLength(8, MOST_DRAFTED)).toBeGreaterThan(0)
})
