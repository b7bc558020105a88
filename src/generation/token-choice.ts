/** One token after the other from logits: checked, scored, restricted, sampled. */
import { checkLogits } from './check-logits.ts'
import { createSampler, type SamplingOptions } from './sampler.ts'
import { type ScoredToken, scoreTokens } from './token-scores.ts'

/** What an answer may be, followed token by token. */
export interface TokenConstraint {
  /** The answer is whole and nothing may follow it. */
  readonly isComplete: boolean
  /** Sets the logits of all tokens that may not come next to -Infinity; stop tokens stay where the answer may end. */
  restrict(logits: Float32Array): void
  /** Takes the token that was chosen, which must be one that may come; stop tokens are not passed on. */
  accept(id: number): void
}

export interface ChoiceOptions extends SamplingOptions {
  /** How many of the likeliest tokens are scored beside the chosen one; undefined: no scores. */
  readonly logprobs: number | undefined
}

export interface ChosenToken {
  readonly id: number
  readonly isStop: boolean
  readonly score: ScoredToken | undefined
}

export class TokenChooser {
  readonly #options: ChoiceOptions
  readonly #sampler: ReturnType<typeof createSampler>
  readonly #constraint: TokenConstraint | undefined
  readonly #stopTokens: ReadonlySet<number>
  /** Ids that stand in the conversation, for the repetition penalty. */
  #seen: Set<number>

  constructor(
    options: ChoiceOptions,
    context: {
      readonly promptIds: readonly number[]
      readonly stopTokens: ReadonlySet<number>
      readonly constraint: TokenConstraint | undefined
    },
  ) {
    this.#options = options
    this.#sampler = createSampler(options)
    this.#constraint = context.constraint
    this.#stopTokens = context.stopTokens
    this.#seen = new Set(context.promptIds)
  }

  /** The answer is whole: nothing may follow what was chosen. */
  get isComplete(): boolean {
    return this.#constraint?.isComplete ?? false
  }

  /** The conversation is another now; these ids stand in it. */
  see(ids: readonly number[]): void {
    this.#seen = new Set(ids)
  }

  /** @param position Tokens before the one that is chosen, for messages. `logits` may be changed. */
  next(logits: Float32Array, position: number): ChosenToken {
    const { logprobs } = this.#options
    checkLogits(logits, position)
    const scoreOf = logprobs === undefined ? undefined : scoreTokens(logits, logprobs)
    this.#constraint?.restrict(logits)
    const id = this.#sampler.next(logits, this.#seen)
    this.#seen.add(id)
    const isStop = this.#stopTokens.has(id)
    if (!isStop) this.#constraint?.accept(id)
    return { id, isStop, score: scoreOf?.(id) }
  }
}
