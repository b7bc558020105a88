/**
 * Normalizers and pre-tokenizers of `tokenizer.json`. The expressions in it are Oniguruma's; `@huggingface/tokenizers`
 * translates them to JavaScript. Its own steps are not used where they leave the Rust library's path: its `Digits`
 * knows only ASCII digits, the expression of its `ByteLevel` takes U+FEFF for a space and U+0085 for none, its
 * `Metaspace` never splits, and its `Replace` reads dollar signs as references.
 */

import * as library from '@huggingface/tokenizers'
import { EngineError } from '../../shared/errors.ts'
import {
  describeCause,
  describeValue,
  fieldError,
  type JsonObject,
  optionalBoolean,
  requireArray,
  requireObject,
  requireString,
} from '../json-fields.ts'
import { escapePattern } from './added-tokens.ts'
import { spellBytes } from './token-bytes.ts'

export type Normalize = (text: string) => string

/** Splits one section into the pieces that merge separately. `isFirst`: the section starts the whole text. */
export type PreTokenize = (text: string, isFirst: boolean) => readonly string[]

/** The expression of GPT-2's released encoder, which `ByteLevel` implies. */
export const GPT2_PATTERN =
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

const NORMALIZERS = 'Sequence, NFC, NFD, NFKC, NFKD, Prepend and Replace'
const PRE_TOKENIZERS = 'Sequence, Split, Digits, ByteLevel and Metaspace'

const UNSUPPORTED_HINT = 'This tokenizer is of a kind that the model families supported here do not use.'

/** Sequences inside sequences; real files nest once. */
const MAX_NESTING = 8

export function createNormalizer(config: unknown, where: string, depth = 0): Normalize {
  if (config === null || config === undefined) return (text) => text
  const step = requireObject(config, where)
  switch (step['type']) {
    case 'Sequence': {
      checkDepth(depth, where)
      const steps = requireArray(step['normalizers'], `${where}.normalizers`).map((inner, index) =>
        createNormalizer(inner, `${where}.normalizers[${index}]`, depth + 1),
      )
      return (text) => steps.reduce((result, apply) => apply(result), text)
    }
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD': {
      const form = step['type']
      return (text) => text.normalize(form)
    }
    case 'Prepend': {
      const prepend = requireString(step['prepend'], `${where}.prepend`)
      return (text) => (text === '' ? '' : prepend + text)
    }
    case 'Replace': {
      const pattern = compilePattern(step['pattern'], `${where}.pattern`)
      const content = requireString(step['content'], `${where}.content`)
      return (text) => text.replace(pattern, () => content)
    }
    default:
      throw unsupportedStep('normalizer', where, step, NORMALIZERS)
  }
}

export function createPreTokenizer(config: unknown, where: string, depth = 0): PreTokenize {
  if (config === null || config === undefined) return (text) => [text]
  const step = requireObject(config, where)
  switch (step['type']) {
    case 'Sequence': {
      checkDepth(depth, where)
      return chain(
        requireArray(step['pretokenizers'], `${where}.pretokenizers`).map((inner, index) =>
          createPreTokenizer(inner, `${where}.pretokenizers[${index}]`, depth + 1),
        ),
      )
    }
    case 'Digits': {
      const individual = optionalBoolean(step['individual_digits'], `${where}.individual_digits`, false)
      return splitByMatches(individual ? /\p{N}/gu : /\p{N}+/gu)
    }
    case 'Split':
      return createSplit(
        compilePattern(step['pattern'], `${where}.pattern`),
        step['behavior'],
        optionalBoolean(step['invert'], `${where}.invert`, false),
        where,
      )
    case 'ByteLevel':
      return createByteLevel(
        optionalBoolean(step['add_prefix_space'], `${where}.add_prefix_space`, true),
        optionalBoolean(step['use_regex'], `${where}.use_regex`, true),
        where,
      )
    case 'Metaspace':
      return createMetaspace(step, where)
    default:
      throw unsupportedStep('pre-tokenizer', where, step, PRE_TOKENIZERS)
  }
}

function createByteLevel(prefixSpace: boolean, useRegex: boolean, where: string): PreTokenize {
  const steps: PreTokenize[] = []
  if (prefixSpace) steps.push((text) => [text.startsWith(' ') ? text : ` ${text}`])
  if (useRegex) steps.push(splitByMatches(compilePattern({ Regex: GPT2_PATTERN }, where)))
  steps.push((text) => [spellBytes(text)])
  return chain(steps)
}

function createMetaspace(step: JsonObject, where: string): PreTokenize {
  const mark =
    step['replacement'] === undefined ? '▁' : requireString(step['replacement'], `${where}.replacement`)
  const addPrefix = optionalBoolean(step['add_prefix_space'], `${where}.add_prefix_space`, true)
  const scheme = step['prepend_scheme'] ?? (addPrefix ? 'always' : 'never')
  if (scheme !== 'always' && scheme !== 'first' && scheme !== 'never') {
    throw fieldError(`${where}.prepend_scheme`, '"always", "first" or "never"', scheme)
  }
  const splits = optionalBoolean(step['split'], `${where}.split`, true)
  return (text, isFirst) => {
    const spelled = text.replaceAll(' ', mark)
    const needsMark = scheme === 'always' || (scheme === 'first' && isFirst)
    const marked = needsMark && !spelled.startsWith(mark) ? mark + spelled : spelled
    return splits ? splitBefore(marked, mark) : [marked]
  }
}

/** Each mark begins a new piece and stays with what follows it. */
function splitBefore(text: string, mark: string): string[] {
  const pieces: string[] = []
  let start = 0
  for (let at = text.indexOf(mark, 1); at >= 0; at = text.indexOf(mark, at + 1)) {
    pieces.push(text.slice(start, at))
    start = at
  }
  pieces.push(text.slice(start))
  return pieces
}

/** Runs each step on every piece of the step before; only the first piece of a first section is still first. */
function chain(steps: readonly PreTokenize[]): PreTokenize {
  return (text, isFirst) =>
    steps.reduce<readonly string[]>(
      (pieces, split) => pieces.flatMap((piece, index) => split(piece, isFirst && index === 0)),
      [text],
    )
}

function createSplit(pattern: RegExp, behavior: unknown, invert: boolean, where: string): PreTokenize {
  // Isolated keeps what matches and what lies between, so inverting the pattern changes nothing.
  if (behavior === 'Isolated') return splitByMatches(pattern)
  if (behavior === 'Removed') {
    return invert
      ? (text) => text.match(pattern) ?? []
      : (text) => text.split(pattern).filter((piece) => piece !== '')
  }
  throw new EngineError('text/unsupported-pre-tokenizer', {
    message: `${where}.behavior is ${describeValue(behavior)}; supported are "Isolated" and "Removed".`,
    hint: UNSUPPORTED_HINT,
  })
}

/** The matches and what lies between them, in order. `pattern` is global. */
function splitByMatches(pattern: RegExp): PreTokenize {
  return (text) => {
    const pieces: string[] = []
    let start = 0
    for (const match of text.matchAll(pattern)) {
      const end = match.index + match[0].length
      if (match.index > start) pieces.push(text.slice(start, match.index))
      if (end > match.index) pieces.push(match[0])
      start = end
    }
    if (start < text.length) pieces.push(text.slice(start))
    return pieces
  }
}

/** The published types of the library miss its parts under Node's module resolution. */
const { SplitPreTokenizer } = library as unknown as {
  readonly SplitPreTokenizer: new (config: {
    readonly type: 'Split'
    readonly pattern: { readonly Regex: string } | { readonly String: string }
  }) => { readonly pattern: RegExp | null }
}

/** A global expression for `{ "Regex": ... }` in Oniguruma's syntax or `{ "String": ... }` taken literally. */
function compilePattern(value: unknown, where: string): RegExp {
  const { Regex: regex, String: literal } = requireObject(value, where)
  if (typeof literal === 'string' && literal !== '') return new RegExp(escapePattern(literal), 'gu')
  if (typeof regex !== 'string') throw fieldError(where, 'an object with the text "Regex" or "String"', value)
  try {
    // Ignoring case, Oniguruma takes the long s for an s; the translation folds ASCII letters only.
    const folded = regex.replaceAll("(?i:'s|", "(?i:'[s\u017f]|")
    const { pattern } = new SplitPreTokenizer({ type: 'Split', pattern: { Regex: folded } })
    if (pattern !== null) return pattern
  } catch (cause) {
    throw new EngineError('text/invalid-pattern', {
      message: `${where} cannot be compiled: ${describeCause(cause)}`,
      hint: 'The tokenizer uses syntax that JavaScript lacks, or the file is damaged.',
      cause,
    })
  }
  throw fieldError(where, 'an expression', value)
}

function checkDepth(depth: number, where: string): void {
  if (depth >= MAX_NESTING) throw fieldError(where, `nested at most ${MAX_NESTING} deep`, 'a deeper sequence')
}

function unsupportedStep(
  kind: 'normalizer' | 'pre-tokenizer',
  where: string,
  step: JsonObject,
  supported: string,
): EngineError {
  return new EngineError(`text/unsupported-${kind}`, {
    message: `${where}.type is ${describeValue(step['type'])}; supported are ${supported}.`,
    hint: UNSUPPORTED_HINT,
  })
}
