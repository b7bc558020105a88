/** The words of the language: what is written without another value inside, each an automaton over bytes. */
import { type Dfa, hasNext, literalsDfa, quote, stepDfa } from './dfa.ts'
import { LengthRule } from './length-rule.ts'
import { isPlainByte } from './token-trie.ts'

let lexemes = 0
const PLAIN = Array.from({ length: 256 }, (_, byte) => byte).filter(isPlainByte)

export class Lexeme {
  readonly id = lexemes++
  readonly dfa: Dfa
  /** Undefined where characters need not be counted. */
  readonly lengths: LengthRule | undefined
  /** A list of texts, which is made quickly. */
  readonly isEasy: boolean
  /** 1 for states behind which a byte may follow. */
  readonly goesOn: Uint8Array // (states)
  /** 1 for states that plain bytes do not leave, and that are no end. */
  readonly staysOnPlain: Uint8Array // (states)

  constructor(dfa: Dfa, { lengths, isEasy = false }: { lengths?: LengthRule; isEasy?: boolean } = {}) {
    this.dfa = dfa
    this.lengths = lengths
    this.isEasy = isEasy
    this.goesOn = Uint8Array.from(dfa.accepts, (_, state) => (hasNext(dfa, state) ? 1 : 0))
    this.staysOnPlain = Uint8Array.from(dfa.accepts, (accepts, state) =>
      accepts === 0 && PLAIN.every((byte) => stepDfa(dfa, state, byte) === state) ? 1 : 0,
    )
  }

  /** The state behind a byte, -1 where it may not come. */
  step(state: number, count: number, byte: number): number {
    const next = stepDfa(this.dfa, state, byte)
    if (next < 0 || !this.lengths) return next
    return this.lengths.allows(next, this.countAt(state, next, count)) ? next : -1
  }

  /** Characters so far, behind the step from `state` to `next`. */
  countAt(state: number, next: number, count: number): number {
    return this.lengths ? this.lengths.countAt(state, next, count) : 0
  }

  accepts(state: number): boolean {
    return this.dfa.accepts[state] === 1
  }
}

const UTF8 = new TextEncoder()

/** One of a few texts, as they are. */
export function literals(texts: readonly string[]): Lexeme {
  return new Lexeme(literalsDfa(texts.map((text) => UTF8.encode(text))), { isEasy: true })
}

const quoted = new WeakMap<Dfa, ReturnType<typeof quote>>()

/** The same automaton for the same content, so that what is found out about one text holds for all of its kind. */
function quoteOnce(content: Dfa): ReturnType<typeof quote> {
  let known = quoted.get(content)
  if (!known) {
    known = quote(content)
    quoted.set(content, known)
  }
  return known
}

export interface TextLimits {
  readonly least: number
  readonly most: number
}

/** A text between quotes; undefined when none is short or long enough. */
export function textLexeme(content: Dfa, { least, most }: TextLimits): Lexeme | undefined {
  const { dfa, end } = quoteOnce(content)
  if (least === 0 && most === Number.POSITIVE_INFINITY) return new Lexeme(dfa)
  const lengths = new LengthRule(dfa, end, least, most)
  return lengths.allows(FIRST_OF_CONTENT, 0) ? new Lexeme(dfa, { lengths }) : undefined
}

/** `quote` puts the content behind the opening quote. */
const FIRST_OF_CONTENT = 1
