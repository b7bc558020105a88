/**
 * Patterns as JSON Schema has them: ECMAScript's regular expressions with the flag `u`, as far as they are regular.
 * Back references, word boundaries and what looks behind or ahead in the middle are refused by name.
 */
import { EngineError } from '../shared/errors.ts'
import { ALL_CODE_POINTS, type CodePoints, complementOf, LAST_CODE_POINT, unionOf } from './code-points.ts'

export type Expression =
  | { readonly kind: 'characters'; readonly set: CodePoints }
  | { readonly kind: 'sequence'; readonly items: readonly Expression[] }
  | { readonly kind: 'choice'; readonly options: readonly Expression[] }
  | { readonly kind: 'repeat'; readonly item: Expression; readonly least: number; readonly most: number }
  | { readonly kind: 'start' | 'end' }
  /** What follows must, or must not, begin like `item`. */
  | { readonly kind: 'look-ahead'; readonly item: Expression; readonly isNegative: boolean }

/** Characters of a pattern. The longest in use, for dates and addresses, have some hundred. */
const MAX_PATTERN_LENGTH = 5000
/** Groups within groups. */
const MAX_NESTING = 100

/** Each looks through all of Unicode once. */
const MAX_PROPERTIES = 16

const DIGITS: CodePoints = [[0x30, 0x39]]
const WORD: CodePoints = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
const SPACES: CodePoints = unionOf(
  [[0x09, 0x0d]],
  ...[0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff].map(oneCodePoint),
  [[0x2000, 0x200a]],
)
const LINE_ENDS: CodePoints = unionOf(...[0x0a, 0x0d, 0x2028, 0x2029].map(oneCodePoint))

const CLASSES: Readonly<Record<string, CodePoints>> = {
  d: DIGITS,
  D: complementOf(DIGITS),
  w: WORD,
  W: complementOf(WORD),
  s: SPACES,
  S: complementOf(SPACES),
}
const CONTROLS: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d }

function oneCodePoint(codePoint: number): CodePoints {
  return [[codePoint, codePoint]]
}

/** Throws `option/schema` for what is no pattern, and for what is not supported. */
export function parsePattern(source: string): Expression {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new EngineError('option/schema', {
      message: `has ${source.length} characters; at most ${MAX_PATTERN_LENGTH} are taken`,
    })
  }
  if (!isPattern(source)) {
    throw new EngineError('option/schema', { message: `"${source}" is no regular expression` })
  }
  return new PatternParser(source).parse()
}

function isPattern(source: string): boolean {
  for (const flags of ['u', '']) {
    try {
      new RegExp(source, flags)
      return true
    } catch {
      // Patterns that were written without the flag have escapes that it forbids.
    }
  }
  return false
}

function unsupported(what: string): EngineError {
  return new EngineError('option/schema', { message: `${what} is not supported in patterns` })
}

class PatternParser {
  readonly #source: string
  #at = 0
  #nesting = 0
  #properties = 0

  constructor(source: string) {
    this.#source = source
  }

  parse(): Expression {
    const expression = this.#choice()
    if (this.#at < this.#source.length)
      throw unsupported(`"${this.#source[this.#at]}" without its other half`)
    return expression
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #choice(): Expression {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return options.length === 1 ? (options[0] as Expression) : { kind: 'choice', options }
  }

  #sequence(): Expression {
    const items: Expression[] = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at] as string)) {
      items.push(this.#repeated())
    }
    return { kind: 'sequence', items }
  }

  #repeated(): Expression {
    let item = this.#atom()
    for (let times = this.#times(); times; times = this.#times()) {
      item = { kind: 'repeat', item, ...times }
    }
    return item
  }

  #times(): { least: number; most: number } | undefined {
    const rest = this.#source.slice(this.#at)
    const found = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(rest)
    if (!found) return undefined
    this.#at += found[0].length
    // Whether as much or as little as possible is matched changes nothing here.
    this.#take('?')
    if (found[0] === '*') return { least: 0, most: Number.POSITIVE_INFINITY }
    if (found[0] === '+') return { least: 1, most: Number.POSITIVE_INFINITY }
    if (found[0] === '?') return { least: 0, most: 1 }
    const least = Number(found[1])
    if (!found[2]) return { least, most: least }
    return { least, most: found[3] ? Number(found[3]) : Number.POSITIVE_INFINITY }
  }

  #atom(): Expression {
    if (this.#take('^')) return { kind: 'start' }
    if (this.#take('$')) return { kind: 'end' }
    if (this.#take('.')) return { kind: 'characters', set: complementOf(LINE_ENDS) }
    if (this.#take('(')) return this.#group()
    if (this.#take('[')) return { kind: 'characters', set: this.#characterClass() }
    if (this.#take('\\')) return { kind: 'characters', set: this.#escape(false) }
    return { kind: 'characters', set: oneCodePoint(this.#character()) }
  }

  #group(): Expression {
    if (++this.#nesting > MAX_NESTING) throw unsupported(`more than ${MAX_NESTING} groups within each other`)
    if (this.#take('?<=') || this.#take('?<!')) throw unsupported('looking behind, (?<=…) or (?<!…),')
    const looks = this.#take('?=') ? 'positive' : this.#take('?!') ? 'negative' : undefined
    if (!looks && !this.#take('?:')) {
      const name = /^\?<[^>]+>/.exec(this.#source.slice(this.#at))
      if (name) this.#at += name[0].length
      else if (this.#source[this.#at] === '?') throw unsupported('a group with flags')
    }
    const item = this.#choice()
    if (!this.#take(')')) throw unsupported('"(" without its other half')
    this.#nesting--
    return looks ? { kind: 'look-ahead', item, isNegative: looks === 'negative' } : item
  }

  #characterClass(): CodePoints {
    const isNegated = this.#take('^')
    const parts: CodePoints[] = []
    while (!this.#take(']')) {
      const from = this.#classMember()
      const [first] = from
      const isSingle = from.length === 1 && first?.[0] === first?.[1]
      if (!isSingle || !first || this.#source[this.#at] !== '-' || this.#source[this.#at + 1] === ']') {
        parts.push(from)
        continue
      }
      this.#at++
      const to = this.#classMember()
      const last = to.at(-1)
      if (to.length === 1 && last && last[0] === last[1]) parts.push([[first[0], last[0]]])
      else parts.push(from, oneCodePoint(0x2d), to)
    }
    const set = unionOf(...parts)
    return isNegated ? complementOf(set) : set
  }

  #classMember(): CodePoints {
    return this.#take('\\') ? this.#escape(true) : oneCodePoint(this.#character())
  }

  #character(): number {
    const codePoint = this.#source.codePointAt(this.#at) as number
    this.#at += codePoint > 0xffff ? 2 : 1
    return codePoint
  }

  #escape(isInClass: boolean): CodePoints {
    const rest = this.#source.slice(this.#at)
    const property = /^[pP]\{[^}]*\}/.exec(rest)
    if (property) {
      if (++this.#properties > MAX_PROPERTIES) throw unsupported(`more than ${MAX_PROPERTIES} uses of \\p{…}`)
      this.#at += property[0].length
      return charactersWith(property[0])
    }
    const code = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]+)\}|c([a-zA-Z]))/.exec(rest)
    if (code) {
      this.#at += code[0].length
      if (code[4]) return oneCodePoint(code[4].charCodeAt(0) % 32)
      const digits = code[1] ?? code[2] ?? code[3]
      return this.#withLowSurrogate(Number.parseInt(digits as string, 16))
    }
    const letter = String.fromCodePoint(this.#character())
    if (Object.hasOwn(CLASSES, letter)) return CLASSES[letter] as CodePoints
    if (Object.hasOwn(CONTROLS, letter)) return oneCodePoint(CONTROLS[letter] as number)
    if (letter === '0' && !/^\d/.test(this.#source.slice(this.#at))) return oneCodePoint(0)
    if (isInClass && letter === 'b') return oneCodePoint(0x08)
    if (/[bB]/.test(letter)) throw unsupported(`\\${letter}, the edge of a word,`)
    if (/[1-9k]/.test(letter)) throw unsupported(`\\${letter}, a reference to a group,`)
    return oneCodePoint(letter.codePointAt(0) as number)
  }

  #withLowSurrogate(unit: number): CodePoints {
    const low = /^\\u(d[c-f][\da-f]{2})/i.exec(this.#source.slice(this.#at))
    if (unit < 0xd800 || unit > 0xdbff || !low?.[1]) return oneCodePoint(unit)
    this.#at += low[0].length
    return oneCodePoint((unit - 0xd800) * 0x400 + Number.parseInt(low[1], 16) - 0xdc00 + 0x10000)
  }
}

const knownProperties = new Map<string, CodePoints>()

/** What the host's own tables say of `p{…}` or `P{…}`. */
function charactersWith(property: string): CodePoints {
  const known = knownProperties.get(property)
  if (known) return known
  const ranges: [number, number][] = []
  for (const { 0: run } of everyCharacter().matchAll(new RegExp(`\\${property}+`, 'gu'))) {
    const first = run.codePointAt(0) as number
    const last = run.codePointAt(run.length - (first > 0xffff ? 2 : 1)) as number
    ranges.push([first, last])
  }
  knownProperties.set(property, ranges)
  return ranges
}

/** All but surrogates, in order. */
function everyCharacter(): string {
  const block = 0x400
  const units = new Uint16Array(2 * block)
  let text = ''
  for (let start = 0; start <= LAST_CODE_POINT; start += block) {
    if (start >= 0xd800 && start < 0xe000) continue
    let length = 0
    for (let codePoint = start; codePoint < start + block; codePoint++) {
      if (codePoint <= 0xffff) units[length++] = codePoint
      else {
        units[length++] = 0xd800 + ((codePoint - 0x10000) >> 10)
        units[length++] = 0xdc00 + (codePoint & 0x3ff)
      }
    }
    text += String.fromCharCode(...units.subarray(0, length))
  }
  return text
}

export const ANY_CHARACTER: Expression = { kind: 'characters', set: ALL_CODE_POINTS }
