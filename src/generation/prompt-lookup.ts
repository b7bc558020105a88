/**
 * Guesses what comes next from what came before: where the last tokens stand in the text already, what followed them
 * there is likely to follow again. Answers that read, copy or fill a form repeat themselves and their prompt.
 */

/** Fewest tokens that must agree; a single one agrees too often by chance. */
const LEAST_MATCH = 2
/** Longer agreement tells no more. */
export const LONGEST_MATCH = 8
/** Earlier places that are compared, newest first. Keeps the cost at microseconds where one pair is all over a text. */
const MOST_PLACES = 16
/** Ids are below this, so that a pair is one exact number. */
const ID_LIMIT = 2 ** 26

export interface Guess {
  readonly tokens: readonly number[]
  /** Tokens before the guess that agree, from 2 to `LONGEST_MATCH`. */
  readonly matchLength: number
}

export class PromptLookup {
  readonly #ids: number[] = []
  /** Where each pair of neighbours ended last … */
  readonly #latest = new Map<number, number>()
  /** … and where the same pair ended before that, by place; -1 for the first. */
  readonly #earlier: number[] = []

  constructor(ids: readonly number[]) {
    for (const id of ids) this.push(id)
  }

  push(id: number): void {
    const place = this.#ids.length
    this.#ids.push(id)
    const pair = this.#pairAt(place)
    this.#earlier.push(pair === undefined ? -1 : (this.#latest.get(pair) ?? -1))
    if (pair !== undefined) this.#latest.set(pair, place)
  }

  /** Up to `count` tokens that may follow; undefined where the last tokens are new. */
  guess(count: number): Guess | undefined {
    const last = this.#ids.length - 1
    let best = -1
    let bestLength = LEAST_MATCH - 1
    let place = this.#earlier[last] ?? -1
    for (let compared = 0; place >= 0 && compared < MOST_PLACES; compared++) {
      const length = this.#agreement(place, last)
      if (length > bestLength) {
        best = place
        bestLength = length
        if (length === LONGEST_MATCH) break
      }
      place = this.#earlier[place] as number
    }
    if (best < 0) return undefined
    return { tokens: this.#ids.slice(best + 1, best + 1 + count), matchLength: bestLength }
  }

  #agreement(place: number, last: number): number {
    let length = LEAST_MATCH
    while (
      length < LONGEST_MATCH &&
      length <= place &&
      this.#ids[place - length] === this.#ids[last - length]
    )
      length++
    return length
  }

  #pairAt(place: number): number | undefined {
    const first = this.#ids[place - 1]
    return first === undefined ? undefined : first * ID_LIMIT + (this.#ids[place] as number)
  }
}
