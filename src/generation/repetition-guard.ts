/**
 * Notices an answer that has fallen into a loop, the commonest failure of small vision models: the last tokens are one
 * stretch repeated again and again.
 */

/** Longest stretch that is looked for, in tokens: about a long sentence. */
const MAX_PERIOD = 48
/** A loop is at least this many tokens and repeats long; rulers and tables of real text stay below. */
const MIN_LOOP_TOKENS = 96
const MIN_REPEATS = 4

export interface RepetitionGuard {
  /** Takes the next token; true when the answer loops. */
  push(id: number): boolean
}

export function createRepetitionGuard(): RepetitionGuard {
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
        if (run + period >= Math.max(MIN_LOOP_TOKENS, period * MIN_REPEATS)) loops = true
      }
      return loops
    },
  }
}
