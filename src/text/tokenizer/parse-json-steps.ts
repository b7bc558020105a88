/** The steps of `tokenizer.json` at the two ends: what is put around encoded text, and how tokens become text again. */

import { EngineError } from '../../shared/errors.ts'
import {
  describeValue,
  fieldError,
  type JsonObject,
  optionalBoolean,
  requireArray,
  requireObject,
  requireString,
} from '../json-fields.ts'
import type { TokenSpelling } from './token-bytes.ts'

/** Entries of any list here, nested ones included; real files have fewer than ten. */
const MAX_STEPS = 64

export interface Surroundings {
  readonly prefixIds: readonly number[]
  readonly suffixIds: readonly number[]
}

/** What goes around a single text. Understands TemplateProcessing; ByteLevel changes no ids. */
export function parsePostProcessor(value: unknown, where: string): Surroundings {
  const prefixIds: number[] = []
  const suffixIds: number[] = []
  for (const step of flattenSteps(value, 'processors', where)) {
    switch (step['type']) {
      case 'ByteLevel':
        break
      case 'TemplateProcessing': {
        const { before, after } = parseTemplate(step, where)
        prefixIds.unshift(...before)
        suffixIds.push(...after)
        break
      }
      default:
        throw unsupported('post-processor', where, step, 'TemplateProcessing, ByteLevel and Sequence')
    }
  }
  return { prefixIds, suffixIds }
}

function parseTemplate(step: JsonObject, where: string): { before: number[]; after: number[] } {
  const specials = requireObject(step['special_tokens'] ?? {}, `${where}.special_tokens`)
  const before: number[] = []
  const after: number[] = []
  let isPastText = false
  requireList(step['single'], `${where}.single`).forEach((item, index) => {
    const part = requireObject(item, `${where}.single[${index}]`)
    if (part['Sequence'] !== undefined) {
      isPastText = true
      return
    }
    const special = requireObject(part['SpecialToken'], `${where}.single[${index}].SpecialToken`)
    const key = requireString(special['id'], `${where}.single[${index}].SpecialToken.id`)
    const entry = requireObject(specials[key], `${where}.special_tokens[${describeValue(key)}]`)
    for (const id of requireList(entry['ids'], `${where}.special_tokens[${describeValue(key)}].ids`)) {
      if (typeof id !== 'number' || !Number.isInteger(id) || id < 0) {
        throw fieldError(`${where}.special_tokens[${describeValue(key)}].ids`, 'token ids', id)
      }
      ;(isPastText ? after : before).push(id)
    }
  })
  return { before, after }
}

/**
 * How the vocabulary spells text, read from the decoder: ByteLevel, or SentencePiece as Metaspace or as
 * [Replace "▁" by " ", ByteFallback, Fuse, Strip " "] or a part of that.
 */
export function parseSpelling(value: unknown, where: string): TokenSpelling {
  let replacement: string | undefined
  let byteTokens = false
  let leadingSpaces = 0
  for (const step of flattenSteps(value, 'decoders', where)) {
    switch (step['type']) {
      case 'ByteLevel':
        return { kind: 'byte-level' }
      case 'ByteFallback':
        byteTokens = true
        break
      case 'Fuse':
        break
      case 'Replace': {
        const pattern = requireObject(step['pattern'], `${where}: Replace.pattern`)
        if (step['content'] !== ' ' || typeof pattern['String'] !== 'string' || pattern['String'] === '') {
          throw fieldError(`${where}: Replace`, 'a text "String" replaced by a space', pattern['String'])
        }
        replacement = pattern['String']
        break
      }
      case 'Strip':
        if (step['content'] !== ' ' || typeof step['start'] !== 'number' || (step['stop'] ?? 0) !== 0) {
          throw fieldError(`${where}: Strip`, 'spaces dropped at the start only', step['content'])
        }
        leadingSpaces = step['start']
        break
      case 'Metaspace': {
        replacement =
          step['replacement'] === undefined ? '▁' : requireString(step['replacement'], `${where}.replacement`)
        const prefix = optionalBoolean(step['add_prefix_space'], `${where}.add_prefix_space`, true)
        leadingSpaces = (step['prepend_scheme'] ?? (prefix ? 'always' : 'never')) === 'never' ? 0 : 1
        break
      }
      default:
        throw unsupported(
          'decoder',
          where,
          step,
          'ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip and Sequence',
        )
    }
  }
  if (replacement === undefined) throw fieldError(where, 'a decoder that says how tokens spell spaces', value)
  return { kind: 'sentence-piece', replacement, byteTokens, leadingSpaces }
}

/** A step, or the steps of a sequence of steps, in order; nothing for null. */
function flattenSteps(value: unknown, listField: string, where: string): JsonObject[] {
  const pending: unknown[] = value === null || value === undefined ? [] : [value]
  const steps: JsonObject[] = []
  for (let taken = 0; pending.length > 0; taken++) {
    if (taken >= MAX_STEPS) throw fieldError(where, `at most ${MAX_STEPS} steps`, value)
    const step = requireObject(pending.shift(), where)
    if (step['type'] === 'Sequence') pending.unshift(...requireList(step[listField], `${where}.${listField}`))
    else steps.push(step)
  }
  return steps
}

function requireList(value: unknown, where: string): readonly unknown[] {
  const list = requireArray(value, where)
  if (list.length > MAX_STEPS) throw fieldError(where, `at most ${MAX_STEPS} entries`, value)
  return list
}

function unsupported(
  kind: 'post-processor' | 'decoder',
  where: string,
  step: JsonObject,
  supported: string,
): EngineError {
  return new EngineError(`text/unsupported-${kind}`, {
    message: `${where}.type is ${describeValue(step['type'])}; supported are ${supported}.`,
    hint: 'This tokenizer is of a kind that the model families supported here do not use.',
  })
}
