/** Non-deterministic automata over bytes, as they are put together; `determinize` makes them runnable. */
import { buildDfa, type Dfa, partitionAt, tooLarge } from './dfa.ts'

/** States of one automaton. Real patterns have tens to hundreds; counted repeats of large sets come to thousands. */
const MAX_STATES = 60_000

interface Edge {
  readonly from: number
  readonly to: number
  readonly target: number
}

export class Nfa {
  readonly #edges: Edge[][] = []
  /** Steps that take no byte: always, only at the start of the text, only at its end. */
  readonly #free: number[][] = []
  readonly #atStart: number[][] = []
  readonly #atEnd: number[][] = []
  readonly #isInside: boolean[] = []

  /** @param isInside The state stands in the middle of a character. */
  addState(isInside = false): number {
    if (this.#edges.length === MAX_STATES) throw tooLarge()
    this.#free.push([])
    this.#atStart.push([])
    this.#atEnd.push([])
    this.#isInside.push(isInside)
    return this.#edges.push([]) - 1
  }

  addEdge(state: number, [from, to]: readonly [number, number], target: number): void {
    this.#edges[state]?.push({ from, to, target })
  }

  addFree(state: number, target: number, where: 'anywhere' | 'start' | 'end' = 'anywhere'): void {
    const lists = { anywhere: this.#free, start: this.#atStart, end: this.#atEnd }[where]
    lists[state]?.push(target)
  }

  /** Undefined when it accepts nothing. */
  determinize(start: number, accepting: number): Dfa | undefined {
    const bounds = this.#edges.flat().flatMap(({ from, to }) => [from, to + 1])
    return buildDfa<readonly number[]>({
      partition: partitionAt(bounds),
      start: this.#close([start], { isStart: true, isEnd: false }),
      keyOf: (states) => states.join(),
      step: (states, byte) => {
        const next: number[] = []
        for (const state of states) {
          for (const { from, to, target } of this.#edges[state] ?? []) {
            if (byte >= from && byte <= to) next.push(target)
          }
        }
        return next.length === 0 ? undefined : this.#close(next, { isStart: false, isEnd: false })
      },
      accepts: (states, isStart) => this.#close(states, { isStart, isEnd: true }).includes(accepting),
      isInside: (states) => this.#isInside[states[0] as number] === true,
    })
  }

  #close(states: readonly number[], { isStart, isEnd }: { isStart: boolean; isEnd: boolean }): number[] {
    const reached = new Set(states)
    for (const state of reached) {
      for (const target of this.#free[state] ?? []) reached.add(target)
      if (isStart) for (const target of this.#atStart[state] ?? []) reached.add(target)
      if (isEnd) for (const target of this.#atEnd[state] ?? []) reached.add(target)
    }
    return [...reached].sort((a, b) => a - b)
  }
}
