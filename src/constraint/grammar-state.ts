/**
 * How far a text has come in a grammar: all ways to read it, each a place within a word and a stack of what follows.
 * States never change; a byte leads to a new one.
 */
import type { Alternative, Place } from './grammar.ts'

/** Values within values that may be open at once, so that nobody's parser of the answer overflows. */
const MAX_LEVELS = 64

/**
 * Ways to read a text that are followed. Schemas that allow the same in several ways may double them with each level;
 * each way by itself can be completed, so the others can be left out.
 */
const MAX_READINGS = 2048

/** A word that may come next, or is being written, and what is below it. */
export interface Head {
  readonly id: number
  readonly alternative: Alternative
  readonly below: Stack | undefined
}

/** A place with those that follow when it is complete. The same stacks are the same objects. */
export interface Stack {
  readonly below: Stack | undefined
  readonly heads: readonly Head[]
}

/** One way to read the text so far. */
export interface Reading {
  readonly head: Head
  readonly state: number
  /** Characters of a text of limited length. */
  readonly count: number
  /** Bytes of the word, where what follows depends on them. */
  readonly text: string
}

export interface GrammarState {
  readonly readings: readonly Reading[]
  /** The text may end here. */
  readonly canEnd: boolean
}

export class Grammar {
  readonly start: GrammarState
  readonly #stacks = new Map<Place, Map<Stack | undefined, Stack>>()
  #heads = 0

  constructor(root: Place) {
    this.start = { readings: readingsOf(this.#push(root, undefined)), canEnd: false }
  }

  /** Undefined where the byte may not come. */
  advance({ readings }: GrammarState, byte: number): GrammarState | undefined {
    const next = new Map<string, Reading>()
    const add = (reading: Reading): void => {
      if (next.size === MAX_READINGS) return
      next.set(`${reading.head.id} ${reading.state} ${reading.count} ${reading.text}`, reading)
    }
    let canEnd = false
    for (const { head, state, count, text } of readings) {
      const { lexeme, tracksText } = head.alternative
      const after = lexeme.step(state, count, byte)
      if (after < 0) continue
      const written = tracksText ? text + String.fromCharCode(byte) : ''
      if (lexeme.goesOn[after] === 1) {
        add({ head, state: after, count: lexeme.countAt(state, after, count), text: written })
      }
      if (!lexeme.accepts(after)) continue
      const follow = this.follow(head, written)
      if (follow === 'end') canEnd = true
      else if (follow) for (const reading of readingsOf(follow)) add(reading)
    }
    return next.size > 0 || canEnd ? { readings: [...next.values()], canEnd } : undefined
  }

  /** What comes behind a complete word; `end` behind the whole text, undefined where the word may not stand. */
  follow({ alternative, below }: Head, text: string): Stack | 'end' | undefined {
    const places = alternative.follow(text)
    if (!places) return undefined
    let stack = below
    for (const place of places) stack = this.#push(place, stack)
    return stack ?? 'end'
  }

  #push(place: Place, below: Stack | undefined): Stack {
    let known = this.#stacks.get(place)
    if (!known) {
      known = new Map()
      this.#stacks.set(place, known)
    }
    let stack = known.get(below)
    if (!stack) {
      stack = this.#createStack(place, below)
      known.set(below, stack)
    }
    return stack
  }

  #createStack(place: Place, below: Stack | undefined): Stack {
    let level = 1
    for (let stack = below; stack; stack = stack.below) level++
    const nextHead = (alternative: Alternative): Head => ({ id: this.#heads++, alternative, below })
    let heads: readonly Head[] | undefined
    return {
      below,
      // Listed when asked for: a place may follow itself without end.
      get heads() {
        heads ??= place.alternatives.filter(({ height }) => level + height <= MAX_LEVELS).map(nextHead)
        return heads
      },
    }
  }
}

function readingsOf({ heads }: Stack): Reading[] {
  return heads.map((head) => ({ head, state: 0, count: 0, text: '' }))
}
