/**
 * Whether punctuation ends a sentence. English needs the next character that is no space; Chinese needs nothing.
 * The rules are those of the field's splitters: abbreviations, initials, list numbers, decimals and addresses are no ends.
 */
import { isHan, isSpace } from './scripts.ts'

/** End a Chinese sentence wherever they stand. */
const FULL_WIDTH_ENDS = '。！？；'
/** May end a sentence, depending on what follows. */
const ASCII_ENDS = '.!?…'
/** May stand between such a mark and the end of the sentence. */
const CLOSERS = `"'”’)]}»」』）】》`

/** Before a name or a number, never at an end. */
const LEADING_ABBREVIATIONS = new Set(
  'mr mrs ms mx dr prof st mt ft gen col capt lt sgt maj cmdr adm sen rep gov pres hon rev fr sr vs cf e.g i.e eg ie viz approx ca est fig figs eq eqs ch sec vol vols pp ed eds trans al dept univ'.split(
    ' ',
  ),
)
/** Abbreviations only before a number; otherwise words or ends of sentences. */
const BEFORE_NUMBERS = new Set(
  'no nos nr p art op jan feb mar apr jun jul aug sep sept oct nov dec'.split(' '),
)

/**
 * Whether a sentence ends with `text[at]`, a mark or what closes quotes and brackets after one.
 *
 * @param text Begins with the sentence.
 * @returns Where the next one begins, `'inside'` where none does, and `'unknown'` where more text must be seen first.
 */
export function findSentenceEnd(
  text: string,
  at: number,
  isComplete: boolean,
): number | 'inside' | 'unknown' {
  let markAt = at
  while (markAt > 0 && CLOSERS.includes(text.charAt(markAt))) markAt--
  const mark = text.charAt(markAt)
  if (FULL_WIDTH_ENDS.includes(mark)) return at + 1
  if (!ASCII_ENDS.includes(mark)) return 'inside'
  if (isHan(codePointBefore(text, markAt))) return at + 1
  let end = at + 1
  while (end < text.length && (ASCII_ENDS + CLOSERS).includes(text.charAt(end))) end++
  let next = end
  while (next < text.length && isSpace(text[next])) {
    if (text[next] === '\n') return next + 1
    next++
  }
  if (next === text.length) return isComplete ? next : 'unknown'
  const following = String.fromCodePoint(text.codePointAt(next) ?? 0)
  if (/\p{Ll}/u.test(following)) return 'inside'
  if (next === end && !isHan(following)) {
    if (mark !== '!' && mark !== '?') return 'inside'
    if (text.length < next + 2 && !isComplete) return 'unknown'
    // "Really?Yes" is a slip; "page?ID=1" is none.
    if (!/^\p{Lu}\p{Ll}/u.test(text.slice(next, next + 2)) || isAddress(wordBefore(text, markAt)))
      return 'inside'
  }
  return mark === '.' && isAbbreviation(text, markAt, following) ? 'inside' : next
}

function isAbbreviation(text: string, at: number, following: string): boolean {
  const word = wordBefore(text, at).replace(/^[^\p{L}\p{N}]+/u, '')
  const lower = word.toLowerCase()
  if (LEADING_ABBREVIATIONS.has(lower)) return true
  if (BEFORE_NUMBERS.has(lower)) return /\p{N}/u.test(following)
  // "J. Smith" and "U.S. dollars", but not "… and I. Then".
  if (/^(?:\p{Lu}\.)*\p{Lu}$/u.test(word)) return word !== 'I' || at === 1
  // "1. Open the door."
  return /^\d{1,3}$/.test(word) && isLineStart(text, at - word.length)
}

function isLineStart(text: string, at: number): boolean {
  let before = at - 1
  while (before >= 0 && text[before] !== '\n' && isSpace(text[before])) before--
  return before < 0 || text[before] === '\n'
}

function isAddress(word: string): boolean {
  return /:\/\/|^www\./i.test(word)
}

function wordBefore(text: string, at: number): string {
  let start = at
  while (start > 0 && !isSpace(text[start - 1])) start--
  return text.slice(start, at)
}

function codePointBefore(text: string, at: number): string {
  return [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? ''
}
