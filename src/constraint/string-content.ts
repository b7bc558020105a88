/** What stands between the quotes of a text in JSON: automata over its bytes, for patterns, formats and free text. */
import { EngineError } from '../shared/errors.ts'
import {
  ALL_CODE_POINTS,
  type ByteRange,
  type CodePoints,
  encodeCodePoints,
  hasCodePoint,
  intersectionOf,
} from './code-points.ts'
import { combine, type Dfa } from './dfa.ts'
import { Nfa } from './nfa.ts'
import { ANY_CHARACTER, type Expression, parsePattern } from './regular-expression.ts'

const BACKSLASH = 0x5c
const LETTER_U = 0x75
/** Characters that JSON writes with a letter behind a backslash. */
const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [0x22, '"'],
  [0x5c, '\\'],
])
const LAST_CONTROL = 0x1f
/** Written as they are. */
const PLAIN: CodePoints = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x10ffff],
]

let knownFreeContent: Dfa | undefined

/** Every text, with all escapes that JSON has; surrogates only as pairs. */
export function freeContent(): Dfa {
  knownFreeContent ??= buildFreeContent()
  return knownFreeContent
}

function buildFreeContent(): Dfa {
  const nfa = new Nfa()
  const here = nfa.addState()
  addCharacters(nfa, here, here, ALL_CODE_POINTS)
  const escaped = nfa.addState(true)
  nfa.addEdge(here, one(BACKSLASH), escaped)
  nfa.addEdge(escaped, one(0x2f), here)
  addCodeUnits(nfa, escaped, here)
  return nfa.determinize(here, here) as Dfa
}

/** Every text that needs no escapes: names of free properties, which must be told apart as they are written. */
export function unescapedContent(): Dfa {
  const nfa = new Nfa()
  const here = nfa.addState()
  addSequences(nfa, here, here, encodeCodePoints(PLAIN))
  return nfa.determinize(here, here) as Dfa
}

/** Patterns whose automata are kept. */
const MAX_KNOWN = 64
const known = new Map<string, Dfa | undefined>()

/**
 * The texts in which a pattern is found, each written in the one way of `JSON.stringify`. Undefined when there is none.
 * Throws `option/schema`.
 */
export function patternContent(source: string): Dfa | undefined {
  if (known.has(source)) return known.get(source)
  const content = compilePattern(source)
  if (known.size === MAX_KNOWN) for (const oldest of [...known.keys()].slice(0, 1)) known.delete(oldest)
  known.set(source, content)
  return content
}

function compilePattern(source: string): Dfa | undefined {
  const { main, conditions } = splitLookAheads(parsePattern(source))
  let content = contentOf(found(main))
  for (const { item, isNegative } of conditions) {
    const condition = contentOf([...item, ANY_TEXT])
    if (!content) return undefined
    if (condition) content = combine(content, condition, isNegative ? 'first-only' : 'both')
    else if (!isNegative) return undefined
  }
  return content
}

const ANY_TEXT: Expression = {
  kind: 'repeat',
  item: ANY_CHARACTER,
  least: 0,
  most: Number.POSITIVE_INFINITY,
}

/** A pattern may be found anywhere in a text. */
function found(items: readonly Expression[]): readonly Expression[] {
  return [ANY_TEXT, ...items, ANY_TEXT]
}

interface Condition {
  readonly item: readonly Expression[]
  readonly isNegative: boolean
}

/** Conditions on the whole text, `^(?!…)…`, can be taken off; others would need more than an automaton has. */
function splitLookAheads(pattern: Expression): {
  main: readonly Expression[]
  conditions: readonly Condition[]
} {
  const items = pattern.kind === 'sequence' ? pattern.items : [pattern]
  const conditions: Condition[] = []
  let next = 0
  if (items[0]?.kind === 'start') {
    for (next = 1; items[next]?.kind === 'look-ahead'; next++) {
      const { item, isNegative } = items[next] as Extract<Expression, { kind: 'look-ahead' }>
      conditions.push({ item: [{ kind: 'start' }, item], isNegative })
    }
  }
  return { main: conditions.length === 0 ? items : [{ kind: 'start' }, ...items.slice(next)], conditions }
}

function contentOf(items: readonly Expression[]): Dfa | undefined {
  const nfa = new Nfa()
  const start = nfa.addState()
  return nfa.determinize(start, addExpression(nfa, start, { kind: 'sequence', items }))
}

/** Returns the state behind the expression. */
function addExpression(nfa: Nfa, from: number, expression: Expression): number {
  switch (expression.kind) {
    case 'characters': {
      const to = nfa.addState()
      addCharacters(nfa, from, to, expression.set)
      return to
    }
    case 'sequence':
      return expression.items.reduce((state, item) => addExpression(nfa, state, item), from)
    case 'choice': {
      const to = nfa.addState()
      for (const option of expression.options) nfa.addFree(addExpression(nfa, from, option), to)
      return to
    }
    case 'repeat':
      return addRepeat(nfa, from, expression)
    case 'start':
    case 'end': {
      const to = nfa.addState()
      nfa.addFree(from, to, expression.kind)
      return to
    }
    case 'look-ahead':
      throw new EngineError('option/schema', {
        message: 'looking ahead, (?=…) or (?!…), is supported at the start of a pattern only, behind ^',
      })
  }
}

function addRepeat(
  nfa: Nfa,
  from: number,
  { item, least, most }: Extract<Expression, { kind: 'repeat' }>,
): number {
  let state = from
  for (let count = 0; count < least; count++) {
    const next = addExpression(nfa, state, item)
    if (next === state) break // empty, however often
    state = next
  }
  if (most === Number.POSITIVE_INFINITY) {
    // A state of its own, so that what comes before cannot be entered again.
    const loop = nfa.addState()
    nfa.addFree(state, loop)
    nfa.addFree(addExpression(nfa, loop, item), loop)
    return loop
  }
  const end = nfa.addState()
  nfa.addFree(state, end)
  for (let count = least; count < most; count++) {
    const next = addExpression(nfa, state, item)
    if (next === state) break
    state = next
    nfa.addFree(state, end)
  }
  return end
}

/** Each character in the one way that `JSON.stringify` writes it. */
function addCharacters(nfa: Nfa, from: number, to: number, set: CodePoints): void {
  addSequences(nfa, from, to, encodeCodePoints(intersectionOf(set, PLAIN)))
  let escaped: number | undefined
  const addEscape = (text: string): void => {
    if (escaped === undefined) {
      escaped = nfa.addState(true)
      nfa.addEdge(from, one(BACKSLASH), escaped)
    }
    addText(nfa, escaped, to, text)
  }
  for (const [codePoint, letter] of SHORT_ESCAPES) if (hasCodePoint(set, codePoint)) addEscape(letter)
  for (let control = 0; control <= LAST_CONTROL; control++) {
    if (!SHORT_ESCAPES.has(control) && hasCodePoint(set, control)) {
      addEscape(`u${control.toString(16).padStart(4, '0')}`)
    }
  }
}

function addText(nfa: Nfa, from: number, to: number, text: string): void {
  let state = from
  for (const [index, character] of [...text].entries()) {
    const next = index === text.length - 1 ? to : nfa.addState(true)
    nfa.addEdge(state, one(character.charCodeAt(0)), next)
    state = next
  }
}

/** Endings that sequences share are added once. */
function addSequences(nfa: Nfa, from: number, to: number, sequences: readonly ByteRange[][]): void {
  const tails = new Map<string, number>()
  const stateBefore = (tail: readonly ByteRange[]): number => {
    if (tail.length === 0) return to
    const key = tail.join()
    const known = tails.get(key)
    if (known !== undefined) return known
    const state = nfa.addState(true)
    tails.set(key, state)
    nfa.addEdge(state, tail[0] as ByteRange, stateBefore(tail.slice(1)))
    return state
  }
  for (const [first, ...rest] of sequences) nfa.addEdge(from, first as ByteRange, stateBefore(rest))
}

const DIGIT: ByteRange = [0x30, 0x39]
const LOWER: ByteRange = [0x61, 0x66]
const UPPER: ByteRange = [0x41, 0x46]

/** `uXXXX` for all but surrogates, and pairs of these. */
function addCodeUnits(nfa: Nfa, escaped: number, to: number): void {
  const digits = nfa.addState(true)
  nfa.addEdge(escaped, one(LETTER_U), digits)
  const any = [DIGIT, LOWER, UPPER]
  const letterD = [one(0x64), one(0x44)]
  addHex(nfa, digits, to, [[DIGIT, [0x61, 0x63], [0x65, 0x66], [0x41, 0x43], [0x45, 0x46]], any, any, any])
  addHex(nfa, digits, to, [letterD, [[0x30, 0x37]], any, any])
  const high = nfa.addState(true)
  addHex(nfa, digits, high, [letterD, [[0x38, 0x39], ...[0x61, 0x62, 0x41, 0x42].map(one)], any, any])
  const backslash = nfa.addState(true)
  nfa.addEdge(high, one(BACKSLASH), backslash)
  const low = nfa.addState(true)
  nfa.addEdge(backslash, one(LETTER_U), low)
  addHex(nfa, low, to, [
    letterD,
    [
      [0x63, 0x66],
      [0x43, 0x46],
    ],
    any,
    any,
  ])
}

function addHex(nfa: Nfa, from: number, to: number, digits: readonly (readonly ByteRange[])[]): void {
  let state = from
  for (const [index, ranges] of digits.entries()) {
    const next = index === digits.length - 1 ? to : nfa.addState(true)
    for (const range of ranges) nfa.addEdge(state, range, next)
    state = next
  }
}

function one(byte: number): ByteRange {
  return [byte, byte]
}
