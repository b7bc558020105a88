/**
 * Notices tokens that have fallen into a loop, the commonest failure of small models that see or hear: the last of them
 * are one stretch repeated again and again.
 */

/** Longest stretch that is looked for, in tokens: about a long sentence. */
const MAX_PERIOD = 48
/** What counts as a loop: this many tokens at least, and its stretch this often. */
export interface LoopSize {
  readonly minTokens: number
  readonly minRepeats: number
}

/** Rulers and tables of real text stay below. */
const WRITTEN_LOOP: LoopSize = { minTokens: 96, minRepeats: 4 }

export interface RepetitionGuard {
  /** Takes the next token; true when the answer loops. */
  push(id: number): boolean
}

export function createRepetitionGuard({ minTokens, minRepeats }: LoopSize = WRITTEN_LOOP): RepetitionGuard {
  const ids: number[] = []
  /** For each period: how many of the last tokens equal the token one period before. */
  const runs = new Array<number>(MAX_PERIOD + 1).fill(0)
  return {
    push(id) {
      ids.push(id)
      let loops = false
      for (let period = 1; period <= MAX_PERIOD; period++) {
        const run = ids[ids.length - 1 - period] === id ? (runs[period] as number) + 1 : 0
        runs[period] = run
        if (run + period >= Math.max(minTokens, period * minRepeats)) loops = true
      }
      return loops
    },
  }
}
