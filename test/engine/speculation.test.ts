/** Guessing ahead changes how long an answer takes and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GenerationOptions, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

const PICTURE = goldenPath('tiny-cases/pictures/000.png')

let tiny: Model
let textOnly: Model
beforeAll(async () => {
  tiny = await loadModel(goldenPath('../../models/tiny'))
  textOnly = await loadModel(goldenPath('llama3'), { kv: 'q8' })
})
afterAll(() => Promise.all([tiny, textOnly].map((model) => model.dispose())))

const OPTIONS: readonly (readonly [string, GenerationOptions])[] = [
  ['greedy', { maxTokens: 300 }],
  ['with a repetition penalty', { maxTokens: 120, repetitionPenalty: 1.05 }],
  ['drawn with a seed', { maxTokens: 200, temperature: 0.7, topP: 0.9, seed: 11 }],
  ['scored', { maxTokens: 60, logprobs: 3 }],
]

describe.each(OPTIONS)('answers %s', (_, options) => {
  it.each(['text', 'picture'])('are the same with and without, about a %s', async (subject) => {
    const model = subject === 'text' ? textOnly : tiny
    const images = subject === 'text' ? [] : [PICTURE]
    const answers = []
    for (const speculation of ['off', 'auto'] as const) {
      const chat = model.chat()
      const message = { text: 'What is it? Say it again and again.', images }
      const first = await ask(chat, message, { ...options, ignoreEos: true, speculation })
      const second = await ask(chat, { text: 'Again.' }, { ...options, ignoreEos: true, speculation })
      chat.dispose()
      answers.push(
        [first, second].map(({ tokenIds, text, finishReason, logprobs }) => [
          tokenIds,
          text,
          finishReason,
          logprobs,
        ]),
      )
      const drafted = [first, second].map(({ usage }) => usage.draftedTokens)
      if (speculation === 'off') expect(drafted).toEqual([0, 0])
    }
    expect(answers[1]).toEqual(answers[0])
  })
})

it('computes ahead where an answer repeats itself, and says how much of it was right', async () => {
  const { usage, tokenIds } = await ask(
    textOnly.chat(),
    { text: 'Once more.' },
    { maxTokens: 400, ignoreEos: true },
  )
  const { draftedTokens = 0, acceptedTokens = 0 } = usage
  expect(draftedTokens).toBeGreaterThan(0)
  expect(acceptedTokens).toBeGreaterThan(0)
  expect(acceptedTokens).toBeLessThanOrEqual(Math.min(draftedTokens, tokenIds.length))
})

it('refuses other values', async () => {
  const answer = ask(textOnly.chat(), { text: 'Hi' }, { speculation: 'always' as 'auto' })
  await expect(answer).rejects.toMatchObject({ code: 'option/invalid' })
})
