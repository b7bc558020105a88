/** Counts the characters of a text and tells which ways still lead to an allowed length. */
import { type Dfa, tooLarge } from './dfa.ts'

/** Entries of the table of lengths: some megabytes. */
const MAX_ENTRIES = 2_000_000

export class LengthRule {
  readonly least: number
  readonly most: number
  /** Any length can be reached from everywhere, as in free text. */
  readonly isFree: boolean
  /** Characters that are enough to come to an end from everywhere. */
  readonly #slack: number
  readonly #inside: Uint8Array
  readonly #end: number
  /** More characters than this are never looked ahead for. */
  readonly #columns: number
  /** For each state, how many of the numbers below a column are characters that may still come before an end. */
  readonly #ways: Uint32Array // (states, columns + 1)

  /** @param dfa A quoted text: state 0 before it, `end` behind it. */
  constructor(dfa: Dfa, end: number, least: number, most: number) {
    this.least = least
    this.most = most
    this.#inside = dfa.inside
    this.#end = end
    this.isFree = isFree(dfa, end)
    // Without an upper limit, longer ways can be shortened by leaving out loops, each no longer than all states.
    this.#columns = (most === Number.POSITIVE_INFINITY ? least + dfa.accepts.length : most) + 1
    this.#ways = this.isFree ? new Uint32Array(0) : this.#countWays(dfa)
    this.#slack = this.isFree ? 1 : this.#findSlack(dfa.accepts.length)
  }

  get size(): number {
    return this.#ways.length
  }

  /** Whether the limits change nothing within the next `characters`. */
  isFar(count: number, characters: number): boolean {
    return count >= this.least && this.most - count >= characters + this.#slack
  }

  /** Characters behind the step from `state` to `next`. */
  countAt(state: number, next: number, count: number): number {
    const now = this.#isCharacter(state, next) ? count + 1 : count
    // Without an upper limit nothing depends on what is beyond the lower one.
    return this.most === Number.POSITIVE_INFINITY ? Math.min(this.least, now) : now
  }

  /** Whether an allowed length can be reached from `state` behind `count` characters. */
  allows(state: number, count: number): boolean {
    const { least, most } = this
    if (state === this.#end) return count >= least && count <= most
    // A character that has begun takes its place.
    if (this.isFree) return count + (this.#inside[state] as number) <= most && least <= most
    const from = Math.max(0, least - count)
    const to = Math.min(this.#columns, most - count + 1)
    if (from >= to) return false
    const row = state * (this.#columns + 1)
    return (this.#ways[row + to] as number) > (this.#ways[row + from] as number)
  }

  #isCharacter(state: number, next: number): boolean {
    return state !== 0 && next !== this.#end && this.#inside[next] === 0
  }

  #countWays({ table, classes, accepts }: Dfa): Uint32Array {
    const states = accepts.length
    const width = this.#columns + 1
    if (states * width > MAX_ENTRIES) throw tooLarge()
    const sources: number[][] = Array.from({ length: states }, () => [])
    for (let index = 0; index < table.length; index++) {
      const target = table[index] as number
      if (target >= 0) sources[target]?.push(Math.floor(index / classes))
    }
    const ways = new Uint32Array(states * width)
    // States that reach the end with exactly `column` more characters.
    let reaching = new Set<number>([this.#end])
    for (let column = 0; column < this.#columns; column++) {
      const withOneMore = new Set<number>()
      for (const state of reaching) {
        for (const source of sources[state] ?? []) {
          if (this.#isCharacter(source, state)) withOneMore.add(source)
          else reaching.add(source)
        }
      }
      for (let state = 0; state < states; state++) {
        const index = state * width + column
        ways[index + 1] = (ways[index] as number) + (reaching.has(state) ? 1 : 0)
      }
      reaching = withOneMore
    }
    return ways
  }

  #findSlack(states: number): number {
    const width = this.#columns + 1
    let slack = 0
    for (let state = 0; state < states; state++) {
      const first = this.#ways.subarray(state * width, (state + 1) * width).indexOf(1)
      slack = Math.max(slack, first) // -1 for states from which no allowed length is reached
    }
    return slack
  }
}

/** One state between characters, to which every character leads, and which the text may end and go on from. */
function isFree({ table, classes, inside }: Dfa, end: number): boolean {
  let between: number | undefined
  for (let index = classes; index < table.length; index++) {
    const next = table[index] as number
    if (next < 0 || next === end || inside[next] === 1) continue
    if (between !== undefined && between !== next) return false
    between = next
  }
  if (between === undefined) return false
  return [1, between].every((state) => {
    const nexts = table.subarray(state * classes, (state + 1) * classes)
    return nexts.includes(end) && nexts.some((next) => next >= 0 && next !== end)
  })
}
