/** Probabilities of choices, held against multiplying them out token by token. */
import { describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { loadOnBackend } from '../../test/support/load-on-backend.ts'
import { createReferenceBackend } from '../backend/reference/reference-backend.ts'
import { createAbortError } from '../shared/abort.ts'
import { createRandom } from './random.ts'
import {
  type AnswerChoice,
  type ChoiceProbability,
  type ScoreChoicesRequest,
  scoreChoices,
} from './score-choices.ts'
import { type PrefillProgress, type Prompt, TokenSession } from './token-session.ts'

const VOCABULARY = 12
const STOPS = new Set([0, 1])
const PROMPT: Prompt = { ids: [5, 6, 7], images: [] }

/** Random logits that depend on all tokens before. */
function logitsBehind(ids: readonly number[]): Float32Array {
  const random = createRandom(ids.reduce((hash, id) => Math.imul(hash, 31) + id + 1, 7))
  return Float32Array.from({ length: VOCABULARY }, () => random() * 8 - 4)
}

function createFakeSession(): { session: ScoreChoicesRequest['session']; computed: number[][] } {
  const computed: number[][] = []
  return {
    computed,
    session: {
      length: 3,
      async *prefill({ ids }, signal): AsyncGenerator<PrefillProgress, Float32Array, undefined> {
        if (signal?.aborted) throw createAbortError()
        computed.push(ids.slice(PROMPT.ids.length))
        yield { tokens: 1, totalTokens: 1 }
        return logitsBehind(ids)
      },
    },
  }
}

function logSoftmax(logits: Float32Array): number[] {
  const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0))
  return Array.from(logits, (logit) => logit - total)
}

/** Every factor of every spelling, one after the other. */
function multiplyOut(choices: readonly AnswerChoice[], stops: ReadonlySet<number>): number[] {
  const shares = choices.map(({ spellings }) =>
    spellings.reduce((sum, ids) => {
      const tokens = ids.map((id, index) =>
        Math.exp(logSoftmax(logitsBehind([...PROMPT.ids, ...ids.slice(0, index)]))[id]!),
      )
      const ends = logSoftmax(logitsBehind([...PROMPT.ids, ...ids])).filter((_, id) => stops.has(id))
      const end = stops.size === 0 ? 1 : ends.reduce((total, logprob) => total + Math.exp(logprob), 0)
      return sum + tokens.reduce((product, factor) => product * factor, end)
    }, 0),
  )
  const total = shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share) => share / total)
}

const CHOICES: AnswerChoice[] = [
  { text: 'a', spellings: [[2]] },
  { text: 'ab', spellings: [[2, 3], [4]] },
  {
    text: 'abc',
    spellings: [
      [2, 3, 8],
      [4, 8],
    ],
  },
  { text: 'z', spellings: [[9, 9, 9, 9]] },
]

interface Result {
  readonly ids: number[]
  readonly text: string
  readonly reason: string
  readonly probabilities: readonly ChoiceProbability[]
}

async function run(
  request: Partial<ScoreChoicesRequest> & { session: ScoreChoicesRequest['session'] },
): Promise<Result> {
  const result = {
    ids: [] as number[],
    text: '',
    reason: '',
    probabilities: [] as readonly ChoiceProbability[],
  }
  const options = { temperature: 0, seed: 0, signal: undefined }
  for await (const event of scoreChoices({
    prompt: PROMPT,
    choices: CHOICES,
    stopTokens: STOPS,
    options,
    ...request,
  })) {
    if (event.type === 'token') result.ids.push(event.id)
    if (event.type !== 'prompt-progressed') result.text += event.text
    if (event.type === 'ended') {
      result.reason = event.reason
      result.probabilities = event.choices ?? []
    }
  }
  return result
}

describe('probabilities', () => {
  it.each([
    ['with an end', STOPS],
    ['whatever follows', new Set<number>()],
  ])('are exact, %s', async (_, stopTokens) => {
    const { session, computed } = createFakeSession()
    const { probabilities } = await run({ session, stopTokens })
    const expected = multiplyOut(CHOICES, stopTokens)
    expect(probabilities.map(({ text }) => text)).toEqual(['a', 'ab', 'abc', 'z'])
    for (const [index, { probability }] of probabilities.entries())
      expect(probability).toBeCloseTo(expected[index]!, 10)
    // Nothing is computed twice, and no last token where it does not matter what follows.
    expect(new Set(computed.map(String)).size).toBe(computed.length)
    expect(computed).toHaveLength(stopTokens.size > 0 ? 1 + 9 : 1 + 6)
  })

  it('are those of the model', async () => {
    const backend = createReferenceBackend()
    const { model, queue } = await loadOnBackend(backend, goldenPath('qwen2'), { precision: 'f32' })
    const session = new TokenSession(model, queue)
    const prompt = { ids: [40, 41, 42, 43, 44, 45], images: [] }
    const choices = [[100], [100, 101], [7, 8, 9], [300]].map((ids) => ({
      text: ids.join(),
      spellings: [ids],
    }))
    const { probabilities } = await run({ session, prompt, choices, stopTokens: new Set([2]) })
    const shares: number[] = []
    for (const { spellings } of choices) {
      // Each time from nothing, without what is kept.
      const ids = [...spellings[0]!, 2]
      let share = 0
      for (const [index, id] of ids.entries()) {
        const fresh = new TokenSession(model, queue)
        const passes = fresh.prefill({ ids: [...prompt.ids, ...ids.slice(0, index)], images: [] })
        let step = await passes.next()
        while (!step.done) step = await passes.next()
        share += logSoftmax(step.value)[id]!
        fresh.dispose()
      }
      shares.push(Math.exp(share))
    }
    const total = shares.reduce((sum, share) => sum + share, 0)
    for (const [index, { probability }] of probabilities.entries()) {
      expect(Math.abs(probability - shares[index]! / total)).toBeLessThan(1e-4)
    }
    session.dispose()
    await backend.dispose()
  })
})

describe('the answer', () => {
  it('is the likeliest choice, in its likeliest spelling', async () => {
    const expected = multiplyOut(CHOICES, STOPS)
    const best = CHOICES[expected.indexOf(Math.max(...expected))]!
    const { ids, text, reason } = await run(createFakeSession())
    expect([text, reason]).toEqual([best.text, 'stop'])
    expect(best.spellings).toContainEqual(ids)
  })

  it.each([1, 2, 0.5])('is drawn by the probabilities at temperature %d', async (temperature) => {
    const draws = 2000
    const weights = multiplyOut(CHOICES, STOPS).map((probability) => probability ** (1 / temperature))
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const counts = new Map(CHOICES.map(({ text }) => [text, 0]))
    for (let seed = 0; seed < draws; seed++) {
      const { text } = await run({
        ...createFakeSession(),
        options: { temperature, seed, signal: undefined },
      })
      counts.set(text, counts.get(text)! + 1)
    }
    for (const [index, count] of [...counts.values()].entries()) {
      const share = weights[index]! / total
      expect(Math.abs(count - draws * share)).toBeLessThan(4 * Math.sqrt(draws * share * (1 - share)) + 1)
    }
  })

  it('ends when aborted', async () => {
    const options = { temperature: 0, seed: 0, signal: AbortSignal.abort() }
    expect(await run({ ...createFakeSession(), options })).toEqual({
      ids: [],
      text: '',
      reason: 'aborted',
      probabilities: [],
    })
  })
})
