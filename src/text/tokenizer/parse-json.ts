import { EngineError } from '../../shared/errors.ts'
import {
  describeValue,
  fieldError,
  isJsonObject,
  type JsonObject,
  optionalBoolean,
  requireArray,
  requireObject,
  requireString,
} from '../json-fields.ts'
import { type AddedToken, checkAddedTokens } from './added-tokens.ts'
import { MAX_PAIR_RANKS, MergeListTable } from './bpe.ts'
import { MAX_TOKEN_CHARACTERS, MAX_TOKEN_ID, type TokenizerDefinition } from './definition.ts'
import { parsePostProcessor, parseSpelling } from './parse-json-steps.ts'
import { createNormalizer, createPreTokenizer } from './text-splitting.ts'

/** The definition that a parsed `tokenizer.json` describes, with the special tokens that `tokenizer_config.json` adds. */
export function parseTokenizerJson(json: unknown, config: unknown, name: string): TokenizerDefinition {
  const root = requireObject(json, name)
  const settings =
    config === undefined || config === null ? {} : requireObject(config, 'tokenizer_config.json')
  const model = requireObject(root['model'], `${name}: model`)
  checkModel(model, name)

  const ids = parseVocabulary(model['vocab'], `${name}: model.vocab`)
  const tokens: (string | undefined)[] = []
  for (const [token, id] of ids) setToken(tokens, id, token, `${name}: model.vocab`)
  const addedTokens = parseAddedTokens(root, settings, tokens, ids, name)
  for (const token of addedTokens) setToken(tokens, token.id, token.content, `${name}: added_tokens`)
  // A sparse array would be slow to index ever after.
  const dense = Array.from(tokens, (token: string | undefined) => token)

  const { prefixIds, suffixIds } = parsePostProcessor(root['post_processor'], `${name}: post_processor`)
  for (const id of [...prefixIds, ...suffixIds]) {
    if (dense[id] === undefined) throw fieldError(`${name}: post_processor`, 'ids that tokens have', id)
  }
  return {
    tokens: dense,
    ids,
    pairs: parseMerges(model['merges'], ids, `${name}: model.merges`),
    spelling: parseSpelling(root['decoder'], `${name}: decoder`),
    addedTokens,
    normalize: createNormalizer(root['normalizer'], `${name}: normalizer`),
    preTokenize: createPreTokenizer(root['pre_tokenizer'], `${name}: pre_tokenizer`),
    unknownId: parseUnknownId(model, ids, name),
    fusesUnknown: optionalBoolean(model['fuse_unk'], `${name}: model.fuse_unk`, false),
    byteFallback: optionalBoolean(model['byte_fallback'], `${name}: model.byte_fallback`, false),
    ignoresMerges: optionalBoolean(model['ignore_merges'], `${name}: model.ignore_merges`, false),
    prefixIds,
    suffixIds,
    bosToken: tokenText(settings['bos_token']),
    eosToken: tokenText(settings['eos_token']),
    warnings: [],
  }
}

function checkModel(model: JsonObject, name: string): void {
  // Files from before the field existed are BPE when they have merges.
  const type = model['type'] ?? (model['merges'] === undefined ? undefined : 'BPE')
  if (type !== 'BPE') {
    throw new EngineError('text/unsupported-tokenizer', {
      message: `${name}: model.type is ${describeValue(type)}; supported is "BPE".`,
      hint: 'Unigram, WordPiece and WordLevel belong to model families that are not supported.',
    })
  }
  for (const field of ['continuing_subword_prefix', 'end_of_word_suffix', 'dropout']) {
    const value = model[field]
    if (value !== undefined && value !== null && value !== '' && value !== 0) {
      throw new EngineError('text/unsupported-tokenizer', {
        message: `${name}: model.${field} is ${describeValue(value)}; supported is only null.`,
        hint: 'This tokenizer is of a kind that the model families supported here do not use.',
      })
    }
  }
}

function parseVocabulary(value: unknown, where: string): Map<string, number> {
  const vocabulary = requireObject(value, where)
  const ids = new Map<string, number>()
  for (const token of Object.keys(vocabulary)) {
    checkTokenText(token, where)
    const id = vocabulary[token]
    if (!isTokenId(id)) throw tokenIdError(`${where}[${describeValue(token)}]`, id)
    ids.set(token, id)
  }
  if (ids.size === 0) throw fieldError(where, 'an object with tokens', value)
  return ids
}

function setToken(tokens: (string | undefined)[], id: number, token: string, where: string): void {
  const other = tokens[id]
  if (other !== undefined && other !== token) {
    throw new EngineError('text/duplicate-token-id', {
      message: `${where} gives id ${id} to ${describeValue(token)}, but ${describeValue(other)} has it already.`,
      hint: 'The file is damaged or was edited by hand; fetch the model again.',
    })
  }
  tokens[id] = token
}

function parseMerges(value: unknown, ids: ReadonlyMap<string, number>, where: string): MergeListTable {
  const merges = requireArray(value, where)
  if (merges.length > MAX_PAIR_RANKS) throw fieldError(where, `at most ${MAX_PAIR_RANKS} merges`, value)
  const table = new MergeListTable(merges.length)
  merges.forEach((merge, index) => {
    const parts: unknown = typeof merge === 'string' ? merge.split(' ') : merge
    const [left, right] = Array.isArray(parts) && parts.length === 2 ? parts : []
    if (typeof left !== 'string' || typeof right !== 'string') {
      throw fieldError(`${where}[${index}]`, 'two tokens, as "a b" or ["a", "b"]', merge)
    }
    const idOf = (token: string): number => {
      const id = ids.get(token)
      if (id !== undefined) return id
      throw new EngineError('text/unknown-merge-token', {
        message: `${where}[${index}] needs the token ${describeValue(token)}, which the vocabulary lacks.`,
        hint: 'Merges and vocabulary come from different tokenizers; fetch the model again.',
      })
    }
    table.add(idOf(left), idOf(right), idOf(left + right))
  })
  return table
}

function parseUnknownId(
  model: JsonObject,
  ids: ReadonlyMap<string, number>,
  name: string,
): number | undefined {
  const token = model['unk_token']
  if (token === undefined || token === null) return undefined
  return ids.get(requireString(token, `${name}: model.unk_token`))
}

/**
 * The file's own added tokens; then those that only `added_tokens_decoder` of the config has; then the tokens that the
 * config names for a role, which Transformers makes special too. Roles outside the vocabulary are left out, because
 * the model has no row for them.
 */
function parseAddedTokens(
  root: JsonObject,
  config: JsonObject,
  tokens: readonly (string | undefined)[],
  ids: ReadonlyMap<string, number>,
  name: string,
): AddedToken[] {
  const added = new Map<string, AddedToken>()
  const listed = root['added_tokens'] ?? []
  requireArray(listed, `${name}: added_tokens`).forEach((entry, index) => {
    const where = `${name}: added_tokens[${index}]`
    const token = requireObject(entry, where)
    const parsed = parseAddedToken(token, requireTokenId(token['id'], `${where}.id`), where)
    added.set(parsed.content, parsed)
  })

  const decoder = config['added_tokens_decoder']
  if (decoder !== undefined) {
    const where = 'tokenizer_config.json: added_tokens_decoder'
    for (const [key, entry] of Object.entries(requireObject(decoder, where))) {
      const id = requireTokenId(Number(key), `${where}: the key ${describeValue(key)}`)
      const token = parseAddedToken(requireObject(entry, `${where}[${key}]`), id, `${where}[${key}]`)
      if (!added.has(token.content) && (tokens[id] ?? token.content) === token.content)
        added.set(token.content, token)
    }
  }

  const extra = config['additional_special_tokens']
  const roles = ['bos_token', 'eos_token', 'unk_token', 'pad_token', 'sep_token', 'cls_token', 'mask_token']
  for (const named of [...roles.map((role) => config[role]), ...(Array.isArray(extra) ? extra : [])]) {
    const content = tokenText(named)
    const id = content === undefined ? undefined : ids.get(content)
    if (content === undefined || id === undefined || added.has(content)) continue
    added.set(content, {
      id,
      content,
      special: true,
      singleWord: false,
      leftStrip: false,
      rightStrip: false,
      normalized: false,
    })
  }
  const all = [...added.values()]
  checkAddedTokens(all, `${name}: added_tokens`)
  return all
}

function parseAddedToken(token: JsonObject, id: number, where: string): AddedToken {
  const content = requireString(token['content'], `${where}.content`)
  if (content === '') throw fieldError(`${where}.content`, 'a text that is not empty', content)
  checkTokenText(content, where)
  const special = optionalBoolean(token['special'], `${where}.special`, false)
  return {
    id,
    content,
    special,
    singleWord: optionalBoolean(token['single_word'], `${where}.single_word`, false),
    leftStrip: optionalBoolean(token['lstrip'], `${where}.lstrip`, false),
    rightStrip: optionalBoolean(token['rstrip'], `${where}.rstrip`, false),
    normalized: optionalBoolean(token['normalized'], `${where}.normalized`, !special),
  }
}

function isTokenId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKEN_ID
}

function requireTokenId(value: unknown, where: string): number {
  if (!isTokenId(value)) throw tokenIdError(where, value)
  return value
}

function tokenIdError(where: string, found: unknown): EngineError {
  return fieldError(where, `a whole number from 0 to ${MAX_TOKEN_ID}`, found)
}

function checkTokenText(token: string, where: string): void {
  if (token.length > MAX_TOKEN_CHARACTERS) {
    throw fieldError(where, `tokens of at most ${MAX_TOKEN_CHARACTERS} characters`, token)
  }
}

/** Configs name a token as text or as an object with `content`. */
function tokenText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (isJsonObject(value) && typeof value['content'] === 'string') return value['content']
  return undefined
}
