/** Log-probabilities of an answer's tokens, held against Transformers (test/golden/generation/make_score_vectors.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ChatEvent, loadModel, type ScoredAnswerToken } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

interface Step {
  readonly id: number
  readonly logprob: number
  readonly top: readonly (readonly [id: number, logprob: number])[]
}

const { greedy } = JSON.parse(readFileSync(goldenPath('generation/scores.json'), 'utf8')) as {
  greedy: Record<string, readonly Step[]>
}
const PROMPT = 'Hello, who are you? 12 cats, 3 dogs.'
/** The engine rounds keys and values to half precision unless told otherwise; here everything is float32. */
const TOLERANCE = 2e-4

describe.each(Object.entries(greedy))('%s', (name, steps) => {
  it('scores as the reference does, whatever changes the choice', async () => {
    const model = await loadModel(goldenPath(name), { precision: 'f32' })
    try {
      const options = { maxTokens: steps.length, logprobs: 5, ignoreEos: true }
      const plain = await ask(model.chat({ template: false }), PROMPT, options)
      expectScores(plain.logprobs!, steps)
      const events: ChatEvent[] = []
      const drawn = await ask(
        model.chat({ template: false }),
        PROMPT,
        { ...options, maxTokens: 1, temperature: 3, repetitionPenalty: 1.9, seed: 8 },
        (event) => events.push(event),
      )
      const [first] = drawn.logprobs!
      expect(first!.top.map(({ logprob }) => logprob)).toEqual(
        plain.logprobs![0]!.top.map(({ logprob }) => expect.closeTo(logprob, 3)),
      )
      expect(events.filter(({ type }) => type === 'token-scored')).toEqual([
        { type: 'token-scored', token: first },
      ])
    } finally {
      await model.dispose()
    }
  })
})

function expectScores(actual: readonly ScoredAnswerToken[], steps: readonly Step[]): void {
  expect(actual.map(({ id }) => id)).toEqual(steps.map(({ id }) => id))
  for (const [index, step] of steps.entries()) {
    const found = actual[index]!
    expect(Math.abs(found.logprob - step.logprob), `step ${index}`).toBeLessThan(TOLERANCE)
    expect(found.top.map(({ id }) => id)).toEqual(step.top.map(([id]) => id))
    for (const [place, [, logprob]] of step.top.entries()) {
      expect(Math.abs(found.top[place]!.logprob - logprob), `step ${index}, ${place}`).toBeLessThan(TOLERANCE)
    }
  }
}

it('leaves out the stop token and says nothing unasked', async () => {
  const model = await loadModel(goldenPath('../../models/tiny'))
  try {
    const message = { text: 'What is it?', images: [goldenPath('tiny-cases/pictures/000.png')] }
    const scored = await ask(model.chat(), message, { logprobs: 0 })
    expect(scored.finishReason).toBe('stop')
    expect(scored.logprobs!.map(({ id }) => id)).toEqual(scored.tokenIds.slice(0, -1))
    expect(scored.logprobs!.map(({ text }) => text).join('')).toBe(` ${scored.text}`)
    expect(scored.logprobs!.every(({ top }) => top.length === 0)).toBe(true)
    expect(new TextDecoder().decode(scored.logprobs![0]!.bytes)).toBe(scored.logprobs![0]!.text)
    expect(await ask(model.chat(), message)).not.toHaveProperty('logprobs')
    await expect(ask(model.chat(), 'Hi', { logprobs: 21 })).rejects.toMatchObject({ code: 'option/invalid' })
  } finally {
    await model.dispose()
  }
})
