/**
 * Added tokens are found in the raw text before anything else happens to it: leftmost first, longest of those that
 * start at the same place (method of the Rust `tokenizers` library's added vocabulary).
 */

import { fieldError } from '../json-fields.ts'

export interface AddedToken {
  readonly id: number
  readonly content: string
  /** Control tokens: left out of decoded text, never made from what a user typed. */
  readonly special: boolean
  /** Matches only where no word character touches it. */
  readonly singleWord: boolean
  /** Swallows white space on its left or right. */
  readonly leftStrip: boolean
  readonly rightStrip: boolean
  /** Looked for after normalisation instead of before. */
  readonly normalized: boolean
}

/** Characters of all added tokens of one tokenizer, which become one expression. Gemma 3 has 6,400 tokens with about 100,000. */
const MAX_ADDED_CHARACTERS = 2 ** 20

/** Throws when the tokens are too many to look for. `where` is what a message calls them. */
export function checkAddedTokens(tokens: readonly AddedToken[], where: string): void {
  const total = tokens.reduce((sum, token) => sum + token.content.length, 0)
  if (total <= MAX_ADDED_CHARACTERS) return
  throw fieldError(where, `tokens of at most ${MAX_ADDED_CHARACTERS} characters altogether`, total)
}

/** A stretch of text, or the added token that stands in its place. */
export type TextSection = string | AddedToken

const WORD_CHARACTER_AT_END = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]$/u
const WORD_CHARACTER_AT_START = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]/u
const WHITE_SPACE = /\p{White_Space}/u
const WHITE_SPACE_AT_START = /^\p{White_Space}+/u

export class AddedTokenSplitter {
  readonly #byContent: ReadonlyMap<string, AddedToken>
  readonly #pattern: RegExp | undefined

  /** `contentOf` tells what a token looks like in the text to split; by default its own content. */
  constructor(
    tokens: readonly AddedToken[],
    contentOf: (token: AddedToken) => string = (token) => token.content,
  ) {
    this.#byContent = new Map(tokens.map((token) => [contentOf(token), token]))
    const contents = [...this.#byContent.keys()].filter((content) => content !== '')
    // In an alternation the first branch that fits wins, so the longest go first.
    contents.sort((a, b) => b.length - a.length)
    if (contents.length > 0) this.#pattern = new RegExp(contents.map(escapePattern).join('|'), 'g')
  }

  /** Splits `text`; no section is empty, and the sections without stripped white space make up the text. */
  split(text: string): TextSection[] {
    if (this.#pattern === undefined) return text === '' ? [] : [text]
    const sections: TextSection[] = []
    let start = 0
    for (const match of text.matchAll(this.#pattern)) {
      const token = this.#byContent.get(match[0])
      const end = match.index + match[0].length
      // White space that the token before swallowed is gone, even where it is a token itself.
      if (token === undefined || match.index < start) continue
      if (token.singleWord && touchesWord(text, match.index, end)) continue
      let before = text.slice(start, match.index)
      if (token.leftStrip) before = trimWhiteSpaceEnd(before)
      if (before !== '') sections.push(before)
      sections.push(token)
      start = token.rightStrip ? end + (WHITE_SPACE_AT_START.exec(text.slice(end))?.[0].length ?? 0) : end
    }
    if (start < text.length) sections.push(text.slice(start))
    return sections
  }
}

export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

/** A character has at most two code units, so no more of a long text is looked at. */
function touchesWord(text: string, start: number, end: number): boolean {
  return (
    WORD_CHARACTER_AT_END.test(text.slice(Math.max(0, start - 2), start)) ||
    WORD_CHARACTER_AT_START.test(text.slice(end, end + 2))
  )
}

/** By hand, since an expression anchored at the end takes quadratic time on long runs, and `trimEnd` takes U+FEFF for a space. */
function trimWhiteSpaceEnd(text: string): string {
  let end = text.length
  while (end > 0 && WHITE_SPACE.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
