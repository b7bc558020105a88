/** Numbers of JSON within bounds, with a bounded number of digits, so that every number ends. */
import { EngineError } from '../shared/errors.ts'
import { buildDfa, type Dfa, refine, stepDfa } from './dfa.ts'
import { Lexeme } from './lexeme.ts'
import { Nfa } from './nfa.ts'
import { patternContent } from './string-content.ts'

export interface NumberRange {
  readonly isInteger: boolean
  /** Inclusive; infinite where there is no bound. */
  readonly least: number
  readonly most: number
  /** Whole numbers that must divide it. */
  readonly divisors: readonly number[]
}

/** Digits behind the point: what a double tells apart, nearly. */
const FRACTION_DIGITS = 16
/** Whole numbers beyond it are not exact in JSON. */
const LARGEST_EXACT = Number.MAX_SAFE_INTEGER
/** Larger numbers than this are written with exponents, which have no bounds here. */
const LARGEST_BOUND = 1e21
/** A divisor multiplies the states. */
const MAX_DIVISOR = 1000

const FREE_INTEGER = '^(?:0|-?[1-9][0-9]{0,14})$'
const FREE_NUMBER = '^-?(?:0|[1-9][0-9]{0,15})(?:\\.[0-9]{1,16})?(?:[eE][+-]?[0-9]{1,2})?$'

/** Undefined when there is no such number. Throws `option/schema`. */
export function numberLexeme(range: NumberRange): Lexeme | undefined {
  const dfa = withDivisors(rangeDfa(range), range.divisors)
  return dfa && new Lexeme(dfa)
}

function rangeDfa({ isInteger, least, most }: NumberRange): Dfa | undefined {
  // Digits look the same in texts and outside.
  if (least === Number.NEGATIVE_INFINITY && most === Number.POSITIVE_INFINITY) {
    return patternContent(isInteger ? FREE_INTEGER : FREE_NUMBER)
  }
  for (const bound of [least, most]) {
    if (Number.isFinite(bound) && Math.abs(bound) > LARGEST_BOUND) {
      throw new EngineError('option/schema', { message: `bounds beyond ${LARGEST_BOUND} are not supported` })
    }
  }
  // A bound of many digits needs room beyond it.
  const from = Number.isFinite(least) ? least : -Math.max(LARGEST_EXACT, -10 * most)
  const to = Number.isFinite(most) ? most : Math.max(LARGEST_EXACT, 10 * least)
  const [first, last] = isInteger ? [Math.ceil(from), Math.floor(to)] : [from, to]
  if (first > last) return undefined
  const digits = isInteger ? 0 : FRACTION_DIGITS
  const nfa = new Nfa()
  const start = nfa.addState()
  const end = nfa.addState()
  if (last >= 0) addMagnitudes(nfa, start, end, Math.max(0, first), last, digits)
  if (first < 0) {
    const minus = nfa.addState()
    nfa.addEdge(start, [0x2d, 0x2d], minus)
    // There is one zero.
    addMagnitudes(nfa, minus, end, Math.max(isInteger ? 1 : 0, -last), -first, digits)
  }
  return nfa.determinize(start, end)
}

/** The digits of a number that is not negative, exactly as its shortest form says. */
interface Digits {
  readonly whole: string
  readonly fraction: string
}

function digitsOf(value: number): Digits {
  const [mantissa = '0', exponent = '0'] = value.toString().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const shift = Number(exponent)
  const padded = shift < 0 ? whole.padStart(whole.length - shift, '0') : whole + fraction.padEnd(shift, '0')
  const point = shift < 0 ? padded.length + shift : whole.length + shift
  const all = shift < 0 ? padded + fraction : padded
  return { whole: all.slice(0, point).replace(/^0+(?=\d)/, '') || '0', fraction: all.slice(point) }
}

/**
 * Numbers from `least` to `most`, not negative. For each count of digits before the point, digits are chosen one by one;
 * as long as they equal those of a bound, the next one must not cross it.
 */
function addMagnitudes(
  nfa: Nfa,
  from: number,
  end: number,
  least: number,
  most: number,
  fractionDigits: number,
): void {
  if (least > most) return
  const low = digitsOf(least)
  const high = digitsOf(most)
  for (let count = low.whole.length; count <= high.whole.length; count++) {
    const pad = ({ fraction }: Digits): string =>
      fraction.padEnd(fractionDigits, '0').slice(0, fractionDigits)
    const walk = new DigitWalk(nfa, end, count, fractionDigits, {
      low: low.whole.length === count ? low.whole + pad(low) : undefined,
      lowRest: /[1-9]/.test(low.fraction.slice(fractionDigits)),
      high: high.whole.length === count ? high.whole + pad(high) : undefined,
    })
    nfa.addFree(from, walk.stateAt(0, true, true, false))
  }
}

class DigitWalk {
  readonly #nfa: Nfa
  readonly #end: number
  /** Digits before the point. */
  readonly #whole: number
  readonly #total: number
  readonly #bounds: {
    readonly low: string | undefined
    readonly lowRest: boolean
    readonly high: string | undefined
  }
  readonly #states = new Map<string, number>()

  constructor(
    nfa: Nfa,
    end: number,
    whole: number,
    fractionDigits: number,
    bounds: {
      readonly low: string | undefined
      readonly lowRest: boolean
      readonly high: string | undefined
    },
  ) {
    this.#nfa = nfa
    this.#end = end
    this.#whole = whole
    this.#total = whole + fractionDigits
    this.#bounds = bounds
  }

  /** @param isLow The digits so far are those of the lower bound. @param hasPoint The point has been written. */
  stateAt(place: number, isLow: boolean, isHigh: boolean, hasPoint: boolean): number {
    const low = isLow ? this.#bounds.low : undefined
    const high = isHigh ? this.#bounds.high : undefined
    const key = `${place} ${low !== undefined} ${high !== undefined} ${hasPoint}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state = this.#nfa.addState()
    this.#states.set(key, state)
    const isWhole = place === this.#whole
    const canEnd = place > this.#whole || (isWhole && !hasPoint)
    if (canEnd && (low === undefined || (!this.#bounds.lowRest && /^0*$/.test(low.slice(place))))) {
      this.#nfa.addFree(state, this.#end)
    }
    if (isWhole && !hasPoint && place < this.#total) {
      this.#nfa.addEdge(state, [0x2e, 0x2e], this.stateAt(place, isLow, isHigh, true))
    }
    if (place < this.#total && (hasPoint || !isWhole)) this.#addDigits(state, place, low, high, hasPoint)
    return state
  }

  #addDigits(
    state: number,
    place: number,
    low: string | undefined,
    high: string | undefined,
    hasPoint: boolean,
  ): void {
    const least = low === undefined ? (place === 0 && this.#whole > 1 ? 1 : 0) : Number(low[place])
    const most = high === undefined ? 9 : Number(high[place])
    for (let digit = least; digit <= most; digit++) {
      const byte = 0x30 + digit
      const staysLow = low !== undefined && digit === least
      const staysHigh = high !== undefined && digit === most
      this.#nfa.addEdge(state, [byte, byte], this.stateAt(place + 1, staysLow, staysHigh, hasPoint))
    }
  }
}

/** Follows the remainder of the digits so far. */
function withDivisors(dfa: Dfa | undefined, divisors: readonly number[]): Dfa | undefined {
  const divisor = divisors.reduce(leastCommonMultiple, 1)
  if (!dfa || divisor === 1) return dfa
  if (divisor > MAX_DIVISOR) {
    throw new EngineError('option/schema', { message: `multiples beyond ${MAX_DIVISOR} are not supported` })
  }
  return buildDfa<{ state: number; rest: number }>({
    partition: refine(dfa.classOf, EACH_BYTE),
    start: { state: 0, rest: 0 },
    keyOf: ({ state, rest }) => state * divisor + rest,
    step: ({ state, rest }, byte) => {
      const next = stepDfa(dfa, state, byte)
      if (next < 0) return undefined
      return { state: next, rest: byte === 0x2d ? rest : (rest * 10 + byte - 0x30) % divisor }
    },
    accepts: ({ state, rest }) => dfa.accepts[state] === 1 && rest === 0,
  })
}

const EACH_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte)

function leastCommonMultiple(a: number, b: number): number {
  let [divisor, rest] = [a, b]
  while (rest > 0) [divisor, rest] = [rest, divisor % rest]
  return (a / divisor) * b
}
