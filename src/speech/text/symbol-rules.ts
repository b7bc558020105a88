/** Symbols that have names, and text that is said as it stands. */
import { literal, matchWhole, nothing, type Rule, word } from './place.ts'
import { ABOUT, NUMBER, OPERATORS, RANGE, SHARP, SYMBOLS } from './symbol-words.ts'

const power: Rule = (place) => {
  if (place.rest[0] !== '^') return undefined
  const match = matchWhole(place, /^\^[{(]?(-?\w*)[})]?/)
  if (match === 'unknown' || match === undefined) return match
  const [whole, exponent] = match
  return exponent ? word(whole.length, [`to the power of ${exponent}`, `的${exponent}次方`]) : nothing(1)
}

const operator: Rule = (place) => {
  const match = matchWhole(place, /^(?:<?[-=]+>?|>=?|<)/)
  if (match === 'unknown' || match === undefined) return match
  const [run] = match
  if (run === '-') return literal('-')
  // A dash that is typed.
  if (/^-+$/.test(run)) return { type: 'rewritten', length: run.length, text: ' – ' }
  const spoken = OPERATORS[run]
  return spoken ? word(run.length, spoken) : { type: 'space', length: run.length }
}

const degrees: Rule = ({ rest, isComplete }) => {
  if (!isComplete && /^° ?[CF]?$/.test(rest)) return 'unknown'
  const match = /^° ?([CF])(?![A-Za-z])/.exec(rest)
  return match
    ? { type: 'rewritten', length: match[0].length, text: match[1] === 'C' ? '℃' : '℉' }
    : undefined
}

/** `#`, `$` and wide tildes depend on what is beside them. */
const sign: Rule = ({ rest, isComplete, previous }) => {
  const character = rest.charAt(0)
  if (!'#$～〜'.includes(character)) return undefined
  if (character === '#' && /[A-Z]/.test(previous)) return word(1, SHARP)
  if (rest.length === 1 && !isComplete) return 'unknown'
  const isBeforeDigit = /^.\d/.test(rest)
  if (character === '#') return isBeforeDigit ? word(1, NUMBER) : nothing(1)
  if (character === '$') return isBeforeDigit || /\d/.test(previous) ? literal('$') : nothing(1)
  return isBeforeDigit ? word(1, /\d/.test(previous) ? RANGE : ABOUT) : nothing(1)
}

const symbol: Rule = ({ rest }) => {
  const character = rest.charAt(0)
  if (character === '\\' || character === '·') return { type: 'space', length: 1 }
  if (character === '|') return { type: 'text', length: 1, text: ',' }
  const spoken = SYMBOLS[character]
  return spoken && word(1, spoken)
}

/** Letters, digits, punctuation and signs of money are text; pictures, controls and the rest are not. */
const plain: Rule = ({ rest }) => {
  const run =
    /^(?:\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{Nd}]|(?![\uFE00-\uFE0F\u20E3])\p{M})+)/u.exec(rest)
  if (run) return literal(run[0])
  const character = String.fromCodePoint(rest.codePointAt(0) ?? 0)
  if (/^\s$/u.test(character)) return { type: 'space', length: character.length }
  const isText = /^[\p{P}\p{Sc}\p{N}]$/u.test(character) && !'{}•‣◦▪'.includes(character)
  return isText ? literal(character) : nothing(character.length)
}

export const SYMBOL_RULES: readonly Rule[] = [power, operator, degrees, sign, symbol, plain]
