import { expect, it } from 'vitest'
import { AnswerSteps } from './answer-steps.ts'
import type { Step, TokenSession } from './token-session.ts'

/** A session that keeps what it is asked for; logits name the token they follow. */
function fakeSession(length: number) {
  const calls: { id: number; draft: readonly number[] }[] = []
  let ahead: readonly number[] = []
  const session = {
    get length() {
      return length
    },
    async step(id: number, draft: readonly number[] = []): Promise<Step> {
      length++
      const logits = Float32Array.of(id)
      if (ahead[0] === id) {
        ahead = ahead.slice(1)
        return { logits, pass: undefined }
      }
      calls.push({ id, draft })
      ahead = draft
      return { logits, pass: { tokens: draft.length + 1, milliseconds: 10 + draft.length } }
    },
  } as unknown as TokenSession
  return { session, calls }
}

const TEXT = Array.from({ length: 40 }, (_, index) => 100 + index)

async function answer(steps: AnswerSteps, ids: readonly number[]): Promise<number[]> {
  const followed: number[] = []
  for (const id of ids) followed.push((await steps.next(id, undefined))[0] as number)
  return followed
}

it('copies in few passes, gives the logits behind each token, and counts', async () => {
  const { session, calls } = fakeSession(TEXT.length)
  const steps = new AnswerSteps(session, TEXT, { contextLength: 2048, speculation: 'auto' })
  expect(await answer(steps, TEXT)).toEqual(TEXT)
  expect(calls.length).toBeLessThan(14)
  const drafted = calls.reduce((sum, { draft }) => sum + draft.length, 0)
  expect(steps.counts).toEqual({ draftedTokens: drafted, acceptedTokens: TEXT.length - calls.length })
})

it('never guesses when it is off', async () => {
  const { session, calls } = fakeSession(TEXT.length)
  const steps = new AnswerSteps(session, TEXT, { contextLength: 2048, speculation: 'off' })
  await answer(steps, TEXT)
  expect(calls).toEqual(TEXT.map((id) => ({ id, draft: [] })))
  expect(steps.counts).toEqual({ draftedTokens: 0, acceptedTokens: 0 })
})

it('guesses no further than the context goes', async () => {
  const { session, calls } = fakeSession(TEXT.length)
  const contextLength = TEXT.length + 12
  const steps = new AnswerSteps(session, TEXT, { contextLength, speculation: 'auto' })
  await answer(steps, TEXT.slice(0, 12))
  let length = TEXT.length
  for (const { id, draft } of calls) {
    length = TEXT.length + TEXT.indexOf(id) + 1 + draft.length
    expect(length).toBeLessThanOrEqual(contextLength)
  }
  expect(length).toBe(contextLength)
})

it('looks things up in the new conversation when it starts again', async () => {
  const { session, calls } = fakeSession(TEXT.length)
  const steps = new AnswerSteps(session, TEXT, { contextLength: 2048, speculation: 'auto' })
  await answer(steps, TEXT.slice(0, 20))
  calls.length = 0
  steps.restart([1, 2, 3])
  await answer(steps, TEXT.slice(20, 30))
  expect(calls.filter(({ draft }) => draft.length > 0)).toEqual([])
})
