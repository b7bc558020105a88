/** Markup of whole lines: headings, lists, quotes, rules, tables. */
import { marker, matchWhole, type Rule, word } from './place.ts'
import { DONE, NOT_DONE } from './symbol-words.ts'

/** Longer rows are cut. */
const MAX_TABLE_ROW = 4000

const lineEnd: Rule = ({ rest }) => (/^[\r\n\u2028]/.test(rest) ? { type: 'line-end', length: 1 } : undefined)

const ruleLine: Rule = (place) => {
  if (!place.isLineStart) return undefined
  const { rest, isComplete } = place
  const [run = ''] = /^[-*_=|:+ \t]+/.exec(rest) ?? []
  if (run === '') return undefined
  const marks = run.replace(/\s/g, '')
  const mayBe = /^(?:\*+|_+|=+|[|:+-]*)$/.test(marks)
  if (mayBe && run.length === rest.length && !isComplete) return 'unknown'
  const isRule = mayBe && (/^[*_=]/.test(marks) || marks.includes('-'))
  const isWholeLine = run.length === rest.length || /[\r\n]/.test(rest.charAt(run.length))
  return isRule && isWholeLine && marks.length >= 3 ? marker(run.length) : undefined
}

const tableRow: Rule = ({ rest, isComplete, isLineStart }) => {
  if (!isLineStart || rest[0] !== '|') return undefined
  const end = rest.search(/[\r\n]/)
  if (end < 0 && !isComplete && rest.length < MAX_TABLE_ROW) return 'unknown'
  const line = rest.slice(0, end < 0 ? MAX_TABLE_ROW : Math.min(end, MAX_TABLE_ROW))
  const cells = line
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/)
  return { type: 'table-row', length: line.length, cells: cells.map((cell) => cell.trim()) }
}

/** Headings, quotes, items of lists. */
const lineMarker: Rule = (place) => {
  if (!place.isLineStart) return undefined
  const match = matchWhole(
    place,
    /^(?:#{1,6}(?=[ \t])|#{1,6}$|[-*+•‣◦▪–](?=[ \t])|[-*+•‣◦▪–]$|>+(?!\d))[ \t]*/,
  )
  if (match === 'unknown' || match === undefined) return match
  return marker(match[0].length)
}

const checkbox: Rule = (place) => {
  if (!place.isLineStart) return undefined
  const match = matchWhole(place, /^\[(?:([ xX])(?:\]([ \t])?)?)?/)
  if (match === 'unknown') return match
  const [whole = '', state, end] = match ?? []
  return end === undefined ? undefined : word(whole.length, state === ' ' ? NOT_DONE : DONE)
}

export const LINE_RULES: readonly Rule[] = [lineEnd, ruleLine, tableRow, checkbox, lineMarker]
