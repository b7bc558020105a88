/**
 * Finds out, from the syntax tree of a template, whether it writes message after message, each for itself. Only what is
 * certain counts: such templates may be applied to one message at a time with the result of the whole.
 */

type Node = { readonly type: string } & Readonly<Record<string, unknown>>

/** As `parse` of @huggingface/jinja makes it. */
export interface Program {
  readonly type: string
  readonly body: readonly Node[]
}

/** A template in two: up to the end of its loop over the messages, and what follows. */
export interface MessageWiseTemplate {
  /** For messages m, n, o: what comes before them, and the three in turn. Of another message it sees the first at most. */
  readonly head: Program
  /** Does not depend on the messages, but for the first. */
  readonly tail: Program
}

/** Undefined for templates that look at other messages than the one they write and the first, or keep something in between. */
export function splitMessageWise(program: Program): MessageWiseTemplate | undefined {
  const at = program.body.findIndex(isMessageLoop)
  const loop = program.body[at]
  if (!loop) return undefined
  const outside = program.body.filter((node) => node !== loop)
  if (outside.some((node) => refersTo(node, nameOf(loop['loopvar'])))) return undefined
  if (![...outside, loop['body']].every(isIndependent)) return undefined
  return {
    head: { ...program, body: program.body.slice(0, at + 1) },
    tail: { ...program, body: program.body.slice(at + 1) },
  }
}

/** `{% for NAME in messages %}`, without a condition or an else. */
function isMessageLoop({ type, loopvar, iterable, defaultBlock }: Node): boolean {
  return (
    type === 'For' &&
    isIdentifier(loopvar) &&
    isIdentifier(iterable, 'messages') &&
    Array.isArray(defaultBlock) &&
    defaultBlock.length === 0
  )
}

/** These keep something, end the loop, or come out otherwise each time. */
const STATEFUL = ['Set', 'Macro', 'CallStatement', 'Break', 'Continue']
const UNSTEADY = ['messages', 'loop', 'namespace', 'strftime_now', 'random']

/** Of all messages it may look at the first, of the loop whether it is at the first. */
function isIndependent(value: unknown): boolean {
  if (!isNode(value)) return childrenOf(value).every(isIndependent)
  const { type, object, property, computed } = value
  if (STATEFUL.includes(type)) return false
  if (type === 'MemberExpression') {
    if (isIdentifier(object, 'loop') && computed === false && isIdentifier(property, 'first')) return true
    if (isIdentifier(object, 'messages') && computed === true && isZero(property)) return true
  }
  if (UNSTEADY.some((name) => isIdentifier(value, name))) return false
  return childrenOf(value).every(isIndependent)
}

function refersTo(value: unknown, name: string): boolean {
  return isIdentifier(value, name) || childrenOf(value).some((child) => refersTo(child, name))
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function isIdentifier(value: unknown, name?: string): boolean {
  if (!isNode(value) || value.type !== 'Identifier') return false
  return name === undefined || value['value'] === name
}

function nameOf(identifier: unknown): string {
  return isNode(identifier) ? String(identifier['value']) : ''
}

function isZero(value: unknown): boolean {
  return isNode(value) && value.type === 'IntegerLiteral' && value['value'] === 0
}

function childrenOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (value instanceof Map) return [...value].flat()
  return Object.values(value)
}
