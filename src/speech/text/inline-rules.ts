/** Markup inside lines: code, emphasis, links, tags, addresses. */
import { matchWhole, nothing, type Rule, word } from './place.ts'
import { ABOUT, ENTITIES, TIMES, wordForAddress, wordForHost } from './symbol-words.ts'

/** Longest parts of a text that are held back until it is clear what they are. */
const MAX_TAG = 200
const MAX_LINK = 2000
const MAX_REFERENCE = 24

const fence: Rule = (place) => {
  const match = matchWhole(place, /^(?:`+|~+)/)
  if (match === 'unknown' || match === undefined) return match
  const [run] = match
  if (run.length >= 3) return { type: 'block', length: run.length, until: run, isCode: true }
  const isAbout = run === '~' && /^~[\d$€£¥]/.test(place.rest)
  return isAbout ? word(1, ABOUT) : nothing(run.length)
}

const emphasis: Rule = (place) => {
  const match = matchWhole(place, /^(?:\*+|_+)/)
  if (match === 'unknown' || match === undefined) return match
  const [run] = match
  const next = place.rest.charAt(run.length)
  const isBetween = (kind: RegExp): boolean => kind.test(place.previous) && kind.test(next)
  if (run === '*' && (isBetween(/\s/) || isBetween(/\d/))) return word(1, TIMES)
  const joins = run[0] === '_' && isBetween(/[\p{L}\p{N}]/u)
  return joins ? { type: 'space', length: run.length } : nothing(run.length)
}

const linkStart: Rule = ({ rest, isComplete }) => {
  if (rest[0] === '!') {
    if (rest.length === 1 && !isComplete) return 'unknown'
    return rest[1] === '[' ? nothing(1) : undefined
  }
  if (rest[0] !== '[') return undefined
  const reference = /^\[(?:\^[^\]\s]+|\d{1,3}(?:[,–-] ?\d{1,3})*)\]/.exec(rest)
  if (reference && reference[0].length <= MAX_REFERENCE) return nothing(reference[0].length)
  const mayBe = rest.length < MAX_REFERENCE && /^\[(?:\^[^\]\s]*|[\d,– -]*)$/.test(rest)
  return mayBe && !isComplete ? 'unknown' : nothing(1)
}

const linkEnd: Rule = ({ rest, isComplete }) => {
  if (rest[0] !== ']') return undefined
  const target = /^\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\]\n]*\])/.exec(rest)
  if (target && target[0].length <= MAX_LINK) return nothing(target[0].length)
  const mayBe = rest.length < MAX_LINK && /^\](?:[([][^\n]*)?$/.test(rest)
  return mayBe && !isComplete ? 'unknown' : nothing(1)
}

const tag: Rule = ({ rest, isComplete }) => {
  if (rest[0] !== '<') return undefined
  const link = /^<((?:https?:\/\/|mailto:)[^\s<>]+|[a-z][^\s<>@]*@[^\s<>]+)>/i.exec(rest)
  if (link?.[1] && link[0].length <= MAX_TAG) {
    const text = `${link[1].replace(/^mailto:/i, '')} `
    return { type: 'rewritten', length: link[0].length, text }
  }
  const found = /^<\/?([a-zA-Z|!?][^<>\n]*)>/.exec(rest)
  if (found && found[0].length <= MAX_TAG) {
    const length = found[0].length
    const name = (/^\w+/.exec(found[1] ?? '')?.[0] ?? '').toLowerCase()
    // Reasoning that some models write before their answers.
    if (/^<think(?:ing)?>/i.test(rest)) return { type: 'block', length, until: `</${name}>`, isCode: false }
    return { type: /^(?:br|p|li|tr|div|h[1-6])$/.test(name) ? 'line-end' : 'nothing', length }
  }
  const mayBe = rest.length < MAX_TAG && /^<\/?(?:[a-zA-Z|!?][^<>\n]*)?$/.test(rest)
  return mayBe && !isComplete ? 'unknown' : undefined
}

const entity: Rule = ({ rest, isComplete }) => {
  if (rest[0] !== '&') return undefined
  const found = /^&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z]{2,8}));/i.exec(rest)
  if (found) {
    const [whole, decimal, hexadecimal, name = ''] = found
    const text = decodePoint(decimal, 10) ?? decodePoint(hexadecimal, 16) ?? ENTITIES[name.toLowerCase()]
    if (text !== undefined) return { type: 'rewritten', length: whole.length, text }
  }
  return /^&#?\w{0,8}$/.test(rest) && !isComplete ? 'unknown' : undefined
}

function decodePoint(digits: string | undefined, base: number): string | undefined {
  if (digits === undefined) return undefined
  const point = Number.parseInt(digits, base)
  const isCharacter = point > 0x1f && (point < 0xd800 || point > 0xdfff) && point <= 0x10ffff
  return isCharacter ? String.fromCodePoint(point) : ' '
}

const ADDRESS = /^(?:https?:\/\/|www\.)[\w.~:/?#@!$&+,;=%-]*/i
const ADDRESS_BEGINNINGS = ['https://', 'http://', 'www.']

const address: Rule = (place) => {
  // Addresses may follow Chinese without a space.
  const isInWord = /(?!\p{Script=Han})[\p{L}\p{M}\p{N}]/u.test(place.previous)
  if (isInWord || !/^[hw]/i.test(place.rest)) return undefined
  const match = matchWhole(place, ADDRESS)
  if (match === 'unknown') return match
  if (match === undefined) {
    const rest = place.rest.toLowerCase()
    const mayBe = ADDRESS_BEGINNINGS.some((beginning) => beginning.startsWith(rest))
    return mayBe && !place.isComplete ? 'unknown' : undefined
  }
  const found = match[0].replace(/[.,;:!?~-]+$/, '')
  return /^(?:https?:\/*|www)$/i.test(found) ? undefined : word(found.length, wordForAddress(found))
}

const mailbox: Rule = (place) => {
  if (place.rest[0] !== '@' || !/[\p{L}\p{N}]/u.test(place.previous)) return undefined
  const match = matchWhole(place, /^@[\w-]*(?:\.[\w-]+)*\.?/)
  if (match === 'unknown' || match === undefined) return match
  const host = match[0].slice(1).replace(/\.$/, '')
  const [english, chinese] = wordForHost(host)
  return word(host.length + 1, [`at ${english}`.trim(), `艾特${chinese}`])
}

export const INLINE_RULES: readonly Rule[] = [
  fence,
  emphasis,
  linkStart,
  linkEnd,
  tag,
  entity,
  address,
  mailbox,
]
