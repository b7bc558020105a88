import { EngineError } from '../../shared/errors.ts'
import { describeValue, fieldError } from '../json-fields.ts'
import { type AddedToken, checkAddedTokens } from './added-tokens.ts'
import { MAX_PAIR_RANKS, MergeListTable, type PairTable, ScoredPairTable } from './bpe.ts'
import { MAX_TOKEN_CHARACTERS, MAX_TOKEN_ID, type TokenizerDefinition } from './definition.ts'
import { GGUF_RULES, type GgufSplittingRule, GPT2_RULE } from './gguf-rules.ts'
import { createNormalizer, createPreTokenizer } from './text-splitting.ts'
import { parseByteToken } from './token-bytes.ts'

/** The tokenizer that a GGUF file carries in its `tokenizer.ggml.*` keys. */

type Metadata = ReadonlyMap<string, unknown>

/** Values of `tokenizer.ggml.token_type` (llama.cpp `llama_token_type`). */
const TOKEN_TYPE = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, use_regex: false }

function splitThenBytes(patterns: readonly string[]): unknown {
  const splits = patterns.map((pattern) => ({
    type: 'Split',
    pattern: { Regex: pattern },
    behavior: 'Isolated',
  }))
  return { type: 'Sequence', pretokenizers: [...splits, BYTE_LEVEL] }
}

export function parseTokenizerGguf(metadata: Metadata, name: string): TokenizerDefinition {
  const model = readString(metadata, 'tokenizer.ggml.model', name)
  if (model === 'gpt2') return parseByteLevel(metadata, name)
  if (model === 'llama') return parseSentencePiece(metadata, name)
  throw new EngineError('text/unsupported-tokenizer', {
    message: `${name}: tokenizer.ggml.model is ${describeValue(model)}; supported are "gpt2" and "llama".`,
    hint: 'Other tokenizers belong to model families that are not supported.',
  })
}

function parseByteLevel(metadata: Metadata, name: string): TokenizerDefinition {
  const { rule, warnings } = findRule(metadata, name)
  const vocabulary = readVocabulary(metadata, name)
  return {
    ...vocabulary,
    pairs: readMerges(metadata, vocabulary.ids, name),
    spelling: { kind: 'byte-level' },
    normalize: createNormalizer(rule.composes ? { type: 'NFC' } : null, name),
    preTokenize: createPreTokenizer(splitThenBytes(rule.patterns), name),
    unknownId: undefined,
    fusesUnknown: false,
    byteFallback: false,
    ignoresMerges: rule.ignoresMerges,
    ...readSurroundings(metadata, vocabulary.tokens, rule.addsBos, name),
    warnings: [...warnings, ...vocabulary.warnings],
  }
}

function parseSentencePiece(metadata: Metadata, name: string): TokenizerDefinition {
  const vocabulary = readVocabulary(metadata, name)
  const prefixesSpace = readBoolean(metadata, 'tokenizer.ggml.add_space_prefix', true, name)
  const spaces = { type: 'Replace', pattern: { String: ' ' }, content: '▁' }
  const steps = prefixesSpace ? [{ type: 'Prepend', prepend: '▁' }, spaces] : [spaces]
  const byteFallback = vocabulary.tokens.some((token) => parseByteToken(token) !== undefined)
  const unknown = readTokenId(metadata, 'tokenizer.ggml.unknown_token_id', vocabulary.tokens.length, name)
  return {
    ...vocabulary,
    pairs: readScores(metadata, vocabulary, name),
    spelling: {
      kind: 'sentence-piece',
      replacement: '▁',
      byteTokens: byteFallback,
      leadingSpaces: prefixesSpace ? 1 : 0,
    },
    normalize: createNormalizer({ type: 'Sequence', normalizers: steps }, name),
    preTokenize: createPreTokenizer(null, name),
    unknownId: unknown ?? vocabulary.unknownId,
    fusesUnknown: true,
    byteFallback,
    ignoresMerges: false,
    ...readSurroundings(metadata, vocabulary.tokens, true, name),
    warnings: vocabulary.warnings,
  }
}

function findRule(metadata: Metadata, name: string): { rule: GgufSplittingRule; warnings: string[] } {
  const key = 'tokenizer.ggml.pre'
  if (metadata.get(key) === undefined) {
    return {
      rule: GPT2_RULE,
      warnings: [`${name} does not say how its text is split (${key} is missing); split as GPT-2 does.`],
    }
  }
  const pre = readString(metadata, key, name)
  const rule = GGUF_RULES.find((candidate) => candidate.names.includes(pre))
  if (rule === undefined) {
    throw new EngineError('text/unsupported-pre-tokenizer', {
      message: `${name}: ${key} is ${describeValue(pre)}; supported are ${GGUF_RULES.flatMap((known) => known.names).join(', ')}.`,
      hint: 'Splitting text by another rule would give the model other tokens than it was trained on.',
    })
  }
  const warnings = pre === 'default' ? [`${name}: ${key} is "default"; split as GPT-2 does.`] : []
  return { rule, warnings }
}

interface Vocabulary {
  readonly tokens: readonly string[]
  readonly ids: Map<string, number>
  readonly addedTokens: readonly AddedToken[]
  readonly types: ArrayLike<number>
  readonly unknownId: number | undefined
  readonly warnings: readonly string[]
}

function readVocabulary(metadata: Metadata, name: string): Vocabulary {
  const tokens = readStrings(metadata, 'tokenizer.ggml.tokens', MAX_TOKEN_ID + 1, name)
  const typeKey = 'tokenizer.ggml.token_type'
  const types = readNumbers(metadata, typeKey, name) ?? new Uint8Array(tokens.length).fill(TOKEN_TYPE.normal)
  requireSameLength(types, tokens, typeKey, name)

  const ids = new Map<string, number>()
  const addedTokens: AddedToken[] = []
  let unknownId: number | undefined
  let duplicates = 0
  tokens.forEach((content, id) => {
    if (content.length > MAX_TOKEN_CHARACTERS) {
      throw fieldError(
        `${name}: tokenizer.ggml.tokens[${id}]`,
        `at most ${MAX_TOKEN_CHARACTERS} characters`,
        content,
      )
    }
    const type = types[id]
    if (type === TOKEN_TYPE.unknown) unknownId ??= id
    if (type === TOKEN_TYPE.control || type === TOKEN_TYPE.unknown || type === TOKEN_TYPE.userDefined) {
      const special = type !== TOKEN_TYPE.userDefined
      if (content !== '') {
        addedTokens.push({
          id,
          content,
          special,
          singleWord: false,
          leftStrip: false,
          rightStrip: false,
          normalized: false,
        })
      }
    } else if (ids.has(content)) duplicates++
    else ids.set(content, id)
  })
  checkAddedTokens(addedTokens, `${name}: tokenizer.ggml.tokens`)
  const warnings =
    duplicates === 0
      ? []
      : [`${name}: ${duplicates} tokens occur twice in tokenizer.ggml.tokens; the first of each is used.`]
  return { tokens, ids, addedTokens, types, unknownId, warnings }
}

function readMerges(metadata: Metadata, ids: ReadonlyMap<string, number>, name: string): PairTable {
  const key = 'tokenizer.ggml.merges'
  const merges = readStrings(metadata, key, MAX_PAIR_RANKS, name)
  const table = new MergeListTable(merges.length)
  merges.forEach((merge, index) => {
    // No byte-level token holds a space, and none is empty, so the first space after the first character separates.
    const space = merge.indexOf(' ', 1)
    const left = merge.slice(0, space)
    const right = merge.slice(space + 1)
    if (space < 0 || right === '')
      throw fieldError(`${name}: ${key}[${index}]`, 'two tokens, as "a b"', merge)
    const idOf = (token: string): number => {
      const id = ids.get(token)
      if (id !== undefined) return id
      throw new EngineError('text/unknown-merge-token', {
        message: `${name}: ${key}[${index}] needs the token ${describeValue(token)}, which tokenizer.ggml.tokens lacks.`,
        hint: 'Merges and vocabulary come from different tokenizers; fetch the model again.',
      })
    }
    table.add(idOf(left), idOf(right), idOf(left + right))
  })
  return table
}

function readScores(metadata: Metadata, { ids, tokens, types }: Vocabulary, name: string): PairTable {
  const key = 'tokenizer.ggml.scores'
  const scores = readNumbers(metadata, key, name)
  if (scores === undefined) throw fieldError(`${name}: ${key}`, 'an array of numbers', undefined)
  requireSameLength(scores, tokens, key, name)
  return new ScoredPairTable(
    tokens,
    ids,
    scores,
    (id) => types[id] === TOKEN_TYPE.normal || types[id] === TOKEN_TYPE.unused,
  )
}

function readSurroundings(
  metadata: Metadata,
  tokens: readonly string[],
  addsBosByDefault: boolean,
  name: string,
): Pick<TokenizerDefinition, 'prefixIds' | 'suffixIds' | 'bosToken' | 'eosToken'> {
  const bos = readTokenId(metadata, 'tokenizer.ggml.bos_token_id', tokens.length, name)
  const eos = readTokenId(metadata, 'tokenizer.ggml.eos_token_id', tokens.length, name)
  const addsBos = readBoolean(metadata, 'tokenizer.ggml.add_bos_token', addsBosByDefault, name)
  const addsEos = readBoolean(metadata, 'tokenizer.ggml.add_eos_token', false, name)
  return {
    prefixIds: addsBos && bos !== undefined ? [bos] : [],
    suffixIds: addsEos && eos !== undefined ? [eos] : [],
    bosToken: bos === undefined ? undefined : tokens[bos],
    eosToken: eos === undefined ? undefined : tokens[eos],
  }
}

function readString(metadata: Metadata, key: string, name: string): string {
  const value = metadata.get(key)
  if (typeof value !== 'string') throw fieldError(`${name}: ${key}`, 'a string', value)
  return value
}

function readBoolean(metadata: Metadata, key: string, fallback: boolean, name: string): boolean {
  const value = metadata.get(key)
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw fieldError(`${name}: ${key}`, 'true or false', value)
  return value
}

function readTokenId(metadata: Metadata, key: string, vocabSize: number, name: string): number | undefined {
  const value = metadata.get(key)
  if (value === undefined) return undefined
  const id = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : -1
  if (!Number.isInteger(id) || id < 0 || id >= vocabSize) {
    throw fieldError(`${name}: ${key}`, `a token id below ${vocabSize}`, value)
  }
  return id
}

function readStrings(metadata: Metadata, key: string, most: number, name: string): readonly string[] {
  const value = metadata.get(key)
  const where = `${name}: ${key}`
  if (!Array.isArray(value) || value.length === 0) throw fieldError(where, 'an array of strings', value)
  if (value.length > most) throw fieldError(where, `at most ${most} strings`, value)
  const wrong = value.findIndex((item) => typeof item !== 'string')
  if (wrong >= 0) throw fieldError(`${where}[${wrong}]`, 'a string', value[wrong])
  return value
}

/** Accepts plain and typed arrays, whichever the reader of the file made. */
function readNumbers(metadata: Metadata, key: string, name: string): ArrayLike<number> | undefined {
  const value = metadata.get(key)
  if (value === undefined) return undefined
  if (
    ArrayBuffer.isView(value) &&
    !(value instanceof DataView) &&
    !(value instanceof BigInt64Array || value instanceof BigUint64Array)
  ) {
    return value as unknown as ArrayLike<number>
  }
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return value
  throw fieldError(`${name}: ${key}`, 'an array of numbers', value)
}

function requireSameLength(
  values: ArrayLike<unknown>,
  tokens: readonly string[],
  key: string,
  name: string,
): void {
  if (values.length !== tokens.length) {
    throw new EngineError('text/invalid-field', {
      message: `${name}: ${key} has ${values.length} entries, but tokenizer.ggml.tokens has ${tokens.length}.`,
      hint: 'The file is damaged; fetch the model again.',
    })
  }
}
