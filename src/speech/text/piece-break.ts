/** Where to break text that has no end of a sentence in the right place. */
import { findSentenceEnd } from './sentence-end.ts'
import { breakBetweenWords } from './word-boundary.ts'

const CLAUSE_END = /[，、：；]|[,;:—–](?=\s)/g
/** Breaks before this share of a piece would leave stumps. */
const LEAST_SHARE = 0.4

/** The best place in a piece that is as long as it may be: after a clause, else between words, else at its end. */
export function findPieceBreak(text: string): number {
  let end = 0
  for (const match of text.matchAll(CLAUSE_END)) end = match.index + 1
  if (end >= text.length * LEAST_SHARE) return end
  const space = text.search(/\s\S*$/)
  const hasHan = /\p{Script=Han}/u.test(text.slice(space + 1))
  if (space > 0 && !hasHan) return space + 1
  if (hasHan) return breakBetweenWords(text, text.length)
  // Not between the halves of a surrogate pair.
  return /[\uD800-\uDBFF]$/.test(text) && text.length > 1 ? text.length - 1 : text.length
}

/** How much of a text that goes on later can be said now: whole words, no half number. 0 where nothing can. */
export function findPause(text: string): number {
  if (/[\s\p{Script=Han}，、：；。！？”」』）》】]$/u.test(text)) return text.length
  const last = text.length - 1
  const isEnd = /[^\d.][.!?…]$/u.test(text) && findSentenceEnd(text, last, true) !== 'inside'
  if (isEnd || /\D[,;:]$/.test(text)) return text.length
  return text.search(/[^\s\p{Script=Han}，、：；。！？”」』）》】]*$/u)
}
