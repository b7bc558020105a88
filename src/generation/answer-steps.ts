/** The steps of an answer, several at a time where what comes next can be guessed. */
import { DraftPolicy, MOST_DRAFTED } from './draft-policy.ts'
import { PromptLookup } from './prompt-lookup.ts'
import type { TokenSession } from './token-session.ts'

/** `auto`: guesses are computed while that pays. Answers are the same, token by token. */
export type Speculation = 'auto' | 'off'

export interface DraftCounts {
  /** Guesses that were computed … */
  readonly draftedTokens: number
  /** … and of these, tokens that then came. */
  readonly acceptedTokens: number
}

export class AnswerSteps {
  readonly #session: TokenSession
  readonly #contextLength: number
  readonly #policy = new DraftPolicy()
  #lookup: PromptLookup | undefined
  #drafted = 0
  #accepted = 0

  constructor(
    session: TokenSession,
    promptIds: readonly number[],
    { contextLength, speculation }: { contextLength: number; speculation: Speculation },
  ) {
    this.#session = session
    this.#contextLength = contextLength
    if (speculation === 'auto') this.#lookup = new PromptLookup(promptIds)
  }

  get counts(): DraftCounts {
    return { draftedTokens: this.#drafted, acceptedTokens: this.#accepted }
  }

  /** The conversation is another now. */
  restart(promptIds: readonly number[]): void {
    if (this.#lookup) this.#lookup = new PromptLookup(promptIds)
  }

  /** Appends a token and returns the logits that follow it. */
  async next(id: number, signal: AbortSignal | undefined): Promise<Float32Array> {
    const draft = this.#draft(id)
    const { logits, pass } = await this.#session.step(id, draft, signal)
    if (pass) {
      this.#policy.measure(pass.tokens, pass.milliseconds)
      this.#drafted += pass.tokens - 1
    } else this.#accepted++
    return logits
  }

  #draft(id: number): readonly number[] {
    if (!this.#lookup) return []
    const before = this.#lookup.guess(1)
    if (before) this.#policy.judge(before.matchLength, before.tokens[0] === id)
    this.#lookup.push(id)
    const room = Math.min(MOST_DRAFTED, this.#contextLength - this.#session.length - 1)
    const guess = room > 0 ? this.#lookup.guess(room) : undefined
    if (!guess) return []
    return guess.tokens.slice(0, this.#policy.draftLength(guess.matchLength, guess.tokens.length))
  }
}
