/**
 * Keeps control tokens out of what people type. A break mark goes inside every occurrence of a marker in user text, so
 * that neither the chat template nor the tokenizer sees the marker; encoding takes the marks out again and reads what
 * is left as plain text. The marks are stateless: two noncharacters, which Unicode reserves for a program's own use,
 * and a noncharacter that was already in the text is escaped, so every text survives the round trip unchanged.
 */

import { escapePattern } from './tokenizer/added-tokens.ts'

const ESCAPE = '\uFDD0'
const BREAK = `${ESCAPE}\uFDD1`
const ESCAPED_ESCAPE = `${ESCAPE}${ESCAPE}`
const MARKS = new RegExp(`${ESCAPE}[${ESCAPE}\uFDD1]`, 'g')

/**
 * Returns a function that makes user text harmless for `markers`: a tokenizer's `specialTokens` and what the prompt
 * builder itself looks for, such as `<image>`. Encode the finished prompt with `encodePrompt`, which undoes the marks.
 *
 * Also guards the two ends: "<ima" followed by another text "ge>" makes no marker. Markers of one character cannot be
 * broken and are left alone; no known vocabulary has one.
 */
export function createNeutralizer(markers: readonly string[]): (text: string) => string {
  const breakable = [...new Set(markers)].filter((marker) => [...marker].length > 1)
  if (breakable.length === 0) return escapeMarks
  const inside = new RegExp(breakable.map(escapePattern).join('|'), 'g')
  const heads = new Set<string>()
  const tails = new Set<string>()
  for (const marker of breakable) {
    for (let length = 1; length < marker.length; length++) {
      heads.add(marker.slice(0, length))
      tails.add(marker.slice(-length))
    }
  }
  const longest = breakable.reduce((most, marker) => Math.max(most, marker.length), 0)

  return (text) => {
    const cuts: number[] = []
    inside.lastIndex = 0
    for (let match = inside.exec(text); match !== null; match = inside.exec(text)) {
      const first = String.fromCodePoint(match[0].codePointAt(0) ?? 0)
      cuts.push(match.index + first.length)
      inside.lastIndex = match.index + 1 // markers may overlap; each start is broken
    }
    const atStart = endsOf(text, longest, (length) => text.slice(0, length), tails)
    const atEnd = endsOf(text, longest, (length) => text.slice(-length), heads)
    let result = atStart ? BREAK : ''
    let start = 0
    for (const cut of cuts) {
      result += escapeMarks(text.slice(start, cut)) + BREAK
      start = cut
    }
    result += escapeMarks(text.slice(start))
    return atEnd ? result + BREAK : result
  }
}

/** Takes out what a neutralizer put in. Text that never went through one is returned as it is, unless it holds the marks. */
export function restoreNeutralized(text: string): string {
  return text.replace(MARKS, (mark) => (mark === ESCAPED_ESCAPE ? ESCAPE : ''))
}

function escapeMarks(text: string): string {
  return text.replaceAll(ESCAPE, ESCAPED_ESCAPE)
}

function endsOf(
  text: string,
  longest: number,
  slice: (length: number) => string,
  parts: ReadonlySet<string>,
): boolean {
  for (let length = 1; length < longest && length <= text.length; length++) {
    if (parts.has(slice(length))) return true
  }
  return false
}
