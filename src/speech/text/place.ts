/**
 * What is marked up in a text, found at one place of a stream. A rule that needs to see more says `'unknown'`; what it
 * says otherwise is true whatever follows.
 */
import type { SpokenWord } from './speech-writer.ts'

/** One place in a stream of text. */
export interface Place {
  /** What was not read yet. Not empty. */
  readonly rest: string
  /** Nothing follows `rest`. */
  readonly isComplete: boolean
  /** Nothing but spaces and markers stands before it on its line. */
  readonly isLineStart: boolean
  /** The character before, as it was in the text; empty at the beginning. */
  readonly previous: string
}

/** What stands at a place, and what becomes of it. */
export type Finding = { readonly length: number } & (
  | { readonly type: 'nothing' }
  | { readonly type: 'marker' }
  | { readonly type: 'space' }
  | { readonly type: 'line-end' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'word'; readonly word: SpokenWord }
  /** Read again as this. */
  | { readonly type: 'rewritten'; readonly text: string }
  | { readonly type: 'table-row'; readonly cells: readonly string[] }
  /** Everything up to `until` is left out. */
  | { readonly type: 'block'; readonly until: string; readonly isCode: boolean }
)

export type Rule = (place: Place) => Finding | 'unknown' | undefined

export const nothing = (length: number): Finding => ({ type: 'nothing', length })
export const marker = (length: number): Finding => ({ type: 'marker', length })
export const word = (length: number, spoken: SpokenWord): Finding => ({ type: 'word', length, word: spoken })
export const literal = (text: string): Finding => ({ type: 'text', length: text.length, text })

/** The match of a pattern at the beginning, unless more text could make it longer. */
export function matchWhole(
  { rest, isComplete }: Place,
  pattern: RegExp,
): RegExpExecArray | 'unknown' | undefined {
  const match = pattern.exec(rest)
  if (!match) return undefined
  return match[0].length === rest.length && !isComplete ? 'unknown' : match
}
