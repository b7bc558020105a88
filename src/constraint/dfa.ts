/** Deterministic automata over bytes: built by exploring, trimmed of dead ends, combined. */
import { EngineError } from '../shared/errors.ts'

export interface Dfa {
  /** Bytes that no state tells apart share a class. */
  readonly classOf: Uint8Array // (256)
  readonly classes: number
  /** Next state, -1 where nothing accepted could follow. State 0 is the start. */
  readonly table: Int32Array // (states, classes)
  readonly accepts: Uint8Array // (states)
  /** 1 for states in the middle of a character. */
  readonly inside: Uint8Array // (states)
}

/** States of one automaton: a table of some megabytes. Real ones have tens to hundreds. */
const MAX_STATES = 20_000

export interface Partition {
  readonly classOf: Uint8Array // (256)
  /** One byte of each class. */
  readonly samples: readonly number[]
}

/** A class for each stretch of bytes between bounds. */
export function partitionAt(bounds: readonly number[]): Partition {
  const starts = new Set(bounds)
  let start = 0
  return partitionBy((byte) => {
    if (starts.has(byte)) start = byte
    return start
  })
}

/** The coarsest partition that tells apart what either of two does. */
export function refine(a: Uint8Array, b: Uint8Array): Partition {
  return partitionBy((byte) => (a[byte] as number) * 256 + (b[byte] as number))
}

/** @param labelOf Asked for each byte in order. */
function partitionBy(labelOf: (byte: number) => number): Partition {
  const classOf = new Uint8Array(256)
  const samples: number[] = []
  const known = new Map<number, number>()
  for (let byte = 0; byte < 256; byte++) {
    const label = labelOf(byte)
    let index = known.get(label)
    if (index === undefined) {
      index = samples.push(byte) - 1
      known.set(label, index)
    }
    classOf[byte] = index
  }
  return { classOf, samples }
}

export interface Exploration<State> {
  readonly partition: Partition
  readonly start: State
  readonly keyOf: (state: State) => string | number
  readonly step: (state: State, byte: number) => State | undefined
  readonly accepts: (state: State, isStart: boolean) => boolean
  readonly isInside?: (state: State) => boolean
}

/** Undefined when nothing is accepted. Throws `option/schema` when there are too many states. */
export function buildDfa<State>(exploration: Exploration<State>): Dfa | undefined {
  const { partition, start, keyOf, step, accepts, isInside } = exploration
  const { classOf, samples } = partition
  const states = [start]
  // The start is a state of its own: what holds at the start of a text need not hold when the same states come again.
  const known = new Map<string | number, number>()
  const rows: number[] = []
  for (let index = 0; index < states.length; index++) {
    for (const byte of samples) {
      const next = step(states[index] as State, byte)
      if (next === undefined) {
        rows.push(-1)
        continue
      }
      const key = keyOf(next)
      let target = known.get(key)
      if (target === undefined) {
        if (states.length === MAX_STATES) throw tooLarge()
        target = states.push(next) - 1
        known.set(key, target)
      }
      rows.push(target)
    }
  }
  return trim({
    classOf,
    classes: samples.length,
    table: Int32Array.from(rows),
    accepts: Uint8Array.from(states, (state, index) => (accepts(state, index === 0) ? 1 : 0)),
    inside: Uint8Array.from(states, (state) => (isInside?.(state) ? 1 : 0)),
  })
}

/** Cuts the ways to states from which nothing is accepted. */
function trim(dfa: Dfa): Dfa | undefined {
  const { table, classes, accepts } = dfa
  const sources: number[][] = Array.from(accepts, () => [])
  for (let index = 0; index < table.length; index++) {
    const target = table[index] as number
    if (target >= 0) sources[target]?.push(Math.floor(index / classes))
  }
  const alive = new Set<number>()
  for (let state = 0; state < accepts.length; state++) if (accepts[state]) alive.add(state)
  for (const state of alive) for (const source of sources[state] ?? []) alive.add(source)
  if (!alive.has(0)) return undefined
  return { ...dfa, table: table.map((target) => (alive.has(target) ? target : -1)) }
}

export function stepDfa({ table, classes, classOf }: Dfa, state: number, byte: number): number {
  return table[state * classes + (classOf[byte] as number)] as number
}

/** Whether any byte may follow. */
export function hasNext({ table, classes }: Dfa, state: number): boolean {
  for (let index = state * classes; index < (state + 1) * classes; index++) {
    if ((table[index] as number) >= 0) return true
  }
  return false
}

/** What both accept, or what the first accepts and the second does not. */
export function combine(a: Dfa, b: Dfa, how: 'both' | 'first-only'): Dfa | undefined {
  return buildDfa<readonly [number, number]>({
    partition: refine(a.classOf, b.classOf),
    start: [0, 0],
    keyOf: ([first, second]) => first * (MAX_STATES + 1) + second + 1,
    step: ([first, second], byte) => {
      const next = stepDfa(a, first, byte)
      const other = second < 0 ? -1 : stepDfa(b, second, byte)
      if (next < 0 || (how === 'both' && other < 0)) return undefined
      return [next, other]
    },
    accepts: ([first, second]) =>
      a.accepts[first] === 1 && (second >= 0 && b.accepts[second] === 1) === (how === 'both'),
    isInside: ([first]) => a.inside[first] === 1,
  })
}

const QUOTE = 0x22

/**
 * A text of JSON: quotes around what `content` accepts. State 0 is before the opening quote, 1 at the start of the
 * content; `end` is behind the closing quote.
 */
export function quote(content: Dfa): { dfa: Dfa; end: number } {
  const onlyQuote = new Uint8Array(256)
  onlyQuote[QUOTE] = 1
  const { classOf, samples } = refine(content.classOf, onlyQuote)
  const count = content.accepts.length
  const end = count + 1
  const table = new Int32Array((count + 2) * samples.length).fill(-1)
  for (const [index, byte] of samples.entries()) {
    for (let state = 0; state < count; state++) {
      const next = stepDfa(content, state, byte)
      const target = byte === QUOTE && content.accepts[state] ? end : next < 0 ? -1 : next + 1
      table[(state + 1) * samples.length + index] = target
    }
    if (byte === QUOTE) table[index] = 1
  }
  const accepts = new Uint8Array(count + 2)
  accepts[end] = 1
  const inside = new Uint8Array(count + 2)
  inside.set(content.inside, 1)
  return { dfa: { classOf, classes: samples.length, table, accepts, inside }, end }
}

/** The texts of a list, as bytes. */
export function literalsDfa(texts: readonly Uint8Array[]): Dfa {
  const children: Map<number, number>[] = [new Map()]
  const ends = new Set<number>()
  for (const text of texts) {
    let node = 0
    for (const byte of text) {
      const siblings = children[node] as Map<number, number>
      let next = siblings.get(byte)
      if (next === undefined) {
        if (children.length === MAX_STATES) throw tooLarge()
        next = children.push(new Map()) - 1
        siblings.set(byte, next)
      }
      node = next
    }
    ends.add(node)
  }
  const used = [...new Set(texts.flatMap((text) => [...text]))]
  const { classOf, samples } = partitionAt(used.flatMap((byte) => [byte, byte + 1]))
  const table = children.flatMap((next) => samples.map((byte) => next.get(byte) ?? -1))
  return {
    classOf,
    classes: samples.length,
    table: Int32Array.from(table),
    accepts: Uint8Array.from(children, (_, node) => (ends.has(node) ? 1 : 0)),
    inside: new Uint8Array(children.length),
  }
}

export function tooLarge(): EngineError {
  return new EngineError('option/schema', {
    message: 'needs too many states',
    hint: 'Anchor patterns with ^ and $, repeat less, list fewer values.',
  })
}
