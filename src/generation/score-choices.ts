/** The answer as one of a few texts, with the model's exact probabilities of each. */
import { isAbortError } from '../shared/abort.ts'
import { checkLogits } from './check-logits.ts'
import type { GenerateEvent } from './generate.ts'
import { createRandom } from './random.ts'
import { splitLogSumExp } from './token-scores.ts'
import type { Prompt, TokenSession } from './token-session.ts'

export interface AnswerChoice {
  readonly text: string
  /** Ways to write it; their probabilities add up. None is a beginning of another one of the same choice. */
  readonly spellings: readonly (readonly number[])[]
}

export interface ChoiceProbability {
  readonly text: string
  /** All of them add up to 1. */
  readonly probability: number
}

export interface ScoreChoicesRequest {
  readonly session: Pick<TokenSession, 'prefill' | 'length'>
  readonly prompt: Prompt
  readonly choices: readonly AnswerChoice[]
  /** Tokens that end the answer, one of which must follow a choice; none: whatever follows. */
  readonly stopTokens: ReadonlySet<number>
  readonly options: {
    /** 0: the likeliest choice; else one is drawn, with probabilities to the power of its inverse. */
    readonly temperature: number
    readonly seed: number
    readonly signal: AbortSignal | undefined
  }
}

/**
 * Computes each token of each choice once: choices that begin alike share their beginning. Aborting ends it, it never
 * throws for that.
 */
export async function* scoreChoices(
  request: ScoreChoicesRequest,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const { prompt, choices, options } = request
  try {
    const scorer = new ChoiceScorer(request)
    const passes = request.session.prefill(prompt, options.signal)
    let step = await passes.next()
    for (; !step.done; step = await passes.next()) yield { type: 'prompt-progressed', ...step.value }
    await scorer.visit(scorer.root, step.value)
    const spelled = choices.map(({ spellings }) => spellings.map((ids) => scorer.logprobOf(ids)))
    const logprobs = spelled.map(logSumExp)
    const total = logSumExp(logprobs)
    const chosen = choose(logprobs, options)
    const choice = choices[chosen] as AnswerChoice
    const best = largestOf(spelled[chosen] as number[])
    for (const [index, id] of (choice.spellings[best] as readonly number[]).entries()) {
      yield { type: 'token', id, text: index === 0 ? choice.text : '' }
    }
    yield {
      type: 'ended',
      reason: 'stop',
      text: '',
      choices: choices.map(({ text }, index) => ({
        text,
        probability: Math.exp((logprobs[index] as number) - total),
      })),
    }
  } catch (error) {
    if (!isAbortError(error)) throw error
    yield { type: 'ended', reason: 'aborted', text: '' }
  }
}

/** A place that spellings share. */
interface Place {
  readonly path: readonly number[]
  readonly next: Map<number, Place>
  isEnd: boolean
  /** Of the path, and of the path when the answer ends behind it. */
  logprob: number
  endLogprob: number
}

function createPlace(path: readonly number[]): Place {
  return { path, next: new Map(), isEnd: false, logprob: 0, endLogprob: 0 }
}

class ChoiceScorer {
  readonly root: Place = createPlace([])
  readonly #request: ScoreChoicesRequest

  constructor(request: ScoreChoicesRequest) {
    this.#request = request
    for (const ids of request.choices.flatMap(({ spellings }) => spellings)) this.#placeOf(ids).isEnd = true
  }

  /** @param logits What the model expects at the place. */
  async visit(place: Place, logits: Float32Array): Promise<void> {
    const { session, prompt, stopTokens, options } = this.#request
    checkLogits(logits, session.length)
    const { highest, logOfRest } = splitLogSumExp(logits)
    const scoreOf = (id: number): number => (logits[id] as number) - highest - logOfRest
    if (place.isEnd && stopTokens.size > 0) {
      place.endLogprob = place.logprob + logSumExp([...stopTokens].map(scoreOf))
    }
    for (const [id, next] of place.next) {
      next.logprob = place.logprob + scoreOf(id)
      next.endLogprob = next.logprob
    }
    for (const next of place.next.values()) {
      // What follows the last token matters only for whether the answer ends there.
      if (next.next.size === 0 && stopTokens.size === 0) continue
      const passes = session.prefill({ ...prompt, ids: [...prompt.ids, ...next.path] }, options.signal)
      let step = await passes.next()
      while (!step.done) step = await passes.next()
      await this.visit(next, step.value)
    }
  }

  logprobOf(ids: readonly number[]): number {
    return this.#placeOf(ids).endLogprob
  }

  #placeOf(ids: readonly number[]): Place {
    let place = this.root
    for (const id of ids) {
      let next = place.next.get(id)
      if (!next) {
        next = createPlace([...place.path, id])
        place.next.set(id, next)
      }
      place = next
    }
    return place
  }
}

function choose(
  logprobs: readonly number[],
  { temperature, seed }: { readonly temperature: number; readonly seed: number },
): number {
  if (temperature === 0) return largestOf(logprobs)
  const highest = Math.max(...logprobs)
  const weights = logprobs.map((logprob) => Math.exp((logprob - highest) / temperature))
  let rest = createRandom(seed)() * weights.reduce((sum, weight) => sum + weight, 0)
  const drawn = weights.findIndex((weight) => {
    rest -= weight
    return rest < 0
  })
  return drawn < 0 ? largestOf(logprobs) : drawn
}

/** The first of equal ones. */
function largestOf(values: readonly number[]): number {
  return values.indexOf(Math.max(...values))
}

function logSumExp(values: readonly number[]): number {
  const highest = Math.max(...values)
  return highest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - highest), 0))
}
