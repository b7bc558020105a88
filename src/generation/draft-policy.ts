/**
 * How many guessed tokens are worth computing along with the next one. A pass over several tokens costs more than one
 * over a single token, and what it gains depends on how often guesses are right; both are measured while an answer is
 * made. Guesses are judged also where none were computed, so that trying costs nothing where it would not pay.
 */
import { LONGEST_MATCH } from './prompt-lookup.ts'

/** Tokens of one pass that may be guesses: the row that is sure is not among them. Some sizes, so that each is known soon. */
const DRAFT_SIZES = [1, 2, 3, 5, 7]
export const MOST_DRAFTED = 7
/** What a further token of a pass is taken to cost before any was measured, in passes of one token. */
const ASSUMED_TOKEN_COST = 0.4
/** A pass with guesses must promise this much more, since what is expected is never exact. */
const LEAST_GAIN = 1.15
/** Weight of a new time in its estimate. */
const TIME_WEIGHT = 0.25
/** A time above this many times its estimate was a disturbance and counts as that. */
const LARGEST_JUMP = 2
/** Guesses that an estimate of their rightness looks back on. */
const MEMORY = 24
/** What is assumed before anything was seen counts as so many guesses. */
const PRIOR_WEIGHT = 4

export class DraftPolicy {
  /** Share of right guesses by the length of the match. */
  readonly #rightness = Array.from({ length: LONGEST_MATCH + 1 }, (_, length) => ({
    share: 1 - 0.75 ** Math.max(0, length - 1),
    weight: PRIOR_WEIGHT,
  }))
  /** Milliseconds of a pass by its tokens. */
  readonly #times = new Map<number, number>()

  /** A guess that followed a match of this length was right or wrong. */
  judge(matchLength: number, isRight: boolean): void {
    const entry = this.#rightness[Math.min(matchLength, LONGEST_MATCH)]
    if (!entry) return
    entry.weight = Math.min(MEMORY, entry.weight + 1)
    entry.share += ((isRight ? 1 : 0) - entry.share) / entry.weight
  }

  /** A pass over `tokens` took so long. */
  measure(tokens: number, milliseconds: number): void {
    const known = this.#times.get(tokens)
    if (known === undefined) {
      this.#times.set(tokens, milliseconds)
      return
    }
    const time = Math.min(milliseconds, known * LARGEST_JUMP)
    this.#times.set(tokens, known + (time - known) * TIME_WEIGHT)
  }

  /** How many of the guessed tokens behind a match of this length to compute; 0: none. */
  draftLength(matchLength: number, available: number): number {
    const single = this.#times.get(1)
    if (single === undefined || single <= 0) return 0
    let best = 0
    let bestRate = LEAST_GAIN
    for (const size of DRAFT_SIZES) {
      if (size > available) break
      const rate = (this.#expected(matchLength, size) * single) / this.#timeOf(size + 1, single)
      if (rate > bestRate) {
        best = size
        bestRate = rate
      }
    }
    return best
  }

  /** Of a size that was not measured: as if further tokens cost what those of the next smaller size that was do. */
  #timeOf(tokens: number, single: number): number {
    const known = this.#times.get(tokens)
    if (known !== undefined) return known
    for (let smaller = tokens - 1; smaller > 1; smaller--) {
      const time = this.#times.get(smaller)
      if (time !== undefined) return single + ((time - single) * (tokens - 1)) / (smaller - 1)
    }
    return single * (1 + (tokens - 1) * ASSUMED_TOKEN_COST)
  }

  /** Tokens that a pass with `size` guesses is expected to give. */
  #expected(matchLength: number, size: number): number {
    let tokens = 1
    let chance = 1
    for (let index = 0; index < size; index++) {
      chance *= this.#rightness[Math.min(matchLength + index, LONGEST_MATCH)]?.share ?? 0
      tokens += chance
    }
    return tokens
  }
}
