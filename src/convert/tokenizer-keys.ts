/** The `tokenizer.*` keys of a GGUF file from the files of a Hugging Face repository. */
import type { GgufEntry } from '../formats/gguf/encode-gguf.ts'
import { EngineError } from '../shared/errors.ts'
import { findChatTemplate } from '../text/chat-template/find-chat-template.ts'
import { isJsonObject, requireArray, requireObject } from '../text/json-fields.ts'
import type { AddedToken } from '../text/tokenizer/added-tokens.ts'
import type { TokenizerDefinition } from '../text/tokenizer/definition.ts'
import { parseTokenizerJson } from '../text/tokenizer/parse-json.ts'
import { parseByteToken } from '../text/tokenizer/token-bytes.ts'
import { preTokenizerName } from './pre-tokenizer-name.ts'

/** Parsed files; absent ones are undefined. */
export interface TokenizerFiles {
  readonly tokenizerJson: unknown
  readonly tokenizerConfig: unknown
  readonly generationConfig: unknown
  /** Text of `chat_template.jinja`. */
  readonly chatTemplateJinja: string | undefined
  readonly chatTemplateJson: unknown
}

/** Values of `tokenizer.ggml.token_type` (llama.cpp `llama_token_type`). */
const TOKEN_TYPE = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const

export interface TokenizerKeys {
  readonly metadata: ReadonlyMap<string, GgufEntry>
  readonly notes: readonly string[]
}

/**
 * @param rows Of the embedding matrix: ids beyond the vocabulary become unused tokens.
 * @param file What messages call tokenizer.json.
 * @throws EngineError `text/…` for a tokenizer that GGUF or its readers would take for another.
 */
export function tokenizerKeys(files: TokenizerFiles, rows: number, file: string): TokenizerKeys {
  const root = requireObject(files.tokenizerJson, file)
  const definition = parseTokenizerJson(root, files.tokenizerConfig, file)
  const entries = new Map<string, GgufEntry>()
  const text = (key: string, value: string) => entries.set(key, { type: 'string', value })
  const flag = (key: string, value: boolean) => entries.set(key, { type: 'bool', value })
  const isByteLevel = definition.spelling.kind === 'byte-level'
  text('tokenizer.ggml.model', isByteLevel ? 'gpt2' : 'llama')
  text('tokenizer.ggml.pre', isByteLevel ? preTokenizerName(root, file) : 'default')

  const added = new Map(definition.addedTokens.map((token) => [token.id, token]))
  const tokens = Array.from({ length: rows }, (_, id) => definition.tokens[id] ?? `[PAD${id}]`)
  const types = Int32Array.from({ length: rows }, (_, id) => tokenType(definition, added.get(id), id))
  entries.set('tokenizer.ggml.tokens', { type: 'string[]', value: tokens })
  entries.set('tokenizer.ggml.token_type', { type: 'i32[]', value: types })
  const merges = readMerges(root, file)
  if (isByteLevel) {
    entries.set('tokenizer.ggml.merges', { type: 'string[]', value: merges.map((pair) => pair.join(' ')) })
  } else {
    checkSentencePiece(root, definition, file)
    entries.set('tokenizer.ggml.scores', { type: 'f32[]', value: scoresOf(tokens, merges) })
    flag(
      'tokenizer.ggml.add_space_prefix',
      definition.spelling.kind === 'sentence-piece' && definition.spelling.leadingSpaces > 0,
    )
  }
  for (const [key, id] of specialIds(definition, files)) {
    entries.set(`tokenizer.ggml.${key}_token_id`, { type: 'u32', value: id })
  }
  flag('tokenizer.ggml.add_bos_token', definition.prefixIds.length > 0)
  flag('tokenizer.ggml.add_eos_token', definition.suffixIds.length > 0)
  const template = findChatTemplate(files)
  if (template) text('tokenizer.chat_template', template.source)
  return { metadata: entries, notes: notesOn(definition, template !== undefined) }
}

function tokenType(definition: TokenizerDefinition, added: AddedToken | undefined, id: number): number {
  const token = definition.tokens[id]
  if (token === undefined) return TOKEN_TYPE.unused
  const isByteLevel = definition.spelling.kind === 'byte-level'
  if (!isByteLevel && id === definition.unknownId) return TOKEN_TYPE.unknown
  if (added) return added.special ? TOKEN_TYPE.control : TOKEN_TYPE.userDefined
  return !isByteLevel && parseByteToken(token) !== undefined ? TOKEN_TYPE.byte : TOKEN_TYPE.normal
}

/** Checked by `parseTokenizerJson` before. */
function readMerges(root: Readonly<Record<string, unknown>>, file: string): [string, string][] {
  const model = requireObject(root['model'], `${file}: model`)
  return requireArray(model['merges'], `${file}: model.merges`).map((merge) => {
    const [left, right] = (typeof merge === 'string' ? merge.split(' ') : merge) as [string, string]
    return [left, right]
  })
}

/**
 * SentencePiece joins the pair whose result has the highest score; a list of merges joins the pair that stands first.
 * Both are the same when scores fall in the order in which results first appear.
 */
function scoresOf(tokens: readonly string[], merges: readonly [string, string][]): Float32Array {
  const scores = new Map<string, number>()
  for (const [index, [left, right]] of merges.entries()) {
    if (!scores.has(left + right)) scores.set(left + right, -index)
  }
  return Float32Array.from(tokens, (token) => scores.get(token) ?? -merges.length)
}

/** Readers of GGUF replace spaces and put one in front, no more. */
function checkSentencePiece(
  root: Readonly<Record<string, unknown>>,
  definition: TokenizerDefinition,
  file: string,
): void {
  const { spelling } = definition
  const normalizer = isJsonObject(root['normalizer']) ? root['normalizer'] : {}
  const steps: unknown[] =
    normalizer['type'] === 'Sequence' && Array.isArray(normalizer['normalizers'])
      ? normalizer['normalizers']
      : root['normalizer'] === null || root['normalizer'] === undefined
        ? []
        : [normalizer]
  const known = steps.every(
    (step) => isJsonObject(step) && ['Prepend', 'Replace'].includes(String(step['type'])),
  )
  const splitter = isJsonObject(root['pre_tokenizer']) ? root['pre_tokenizer']['type'] : 'Metaspace'
  if (known && splitter === 'Metaspace' && spelling.kind === 'sentence-piece' && spelling.replacement === '▁')
    return
  throw new EngineError('text/unsupported-pre-tokenizer', {
    message: `${file}: its normalizer or pre-tokenizer does more than SentencePiece's rule in GGUF, "▁" for spaces.`,
    hint: 'The model would be given other tokens than it was trained on, so nothing is written.',
  })
}

/** Begin and end as the tokenizer's own settings name them; a second end token of the generation settings as `eot`. */
function specialIds(definition: TokenizerDefinition, files: TokenizerFiles): Map<string, number> {
  const idOf = (token: string | undefined): number | undefined => {
    const id = token === undefined ? -1 : definition.tokens.indexOf(token)
    return id === -1 ? undefined : id
  }
  const config = isJsonObject(files.tokenizerConfig) ? files.tokenizerConfig : {}
  const named = (key: string): number | undefined => {
    const value = config[key]
    return idOf(
      isJsonObject(value) ? String(value['content']) : typeof value === 'string' ? value : undefined,
    )
  }
  const generation = isJsonObject(files.generationConfig) ? files.generationConfig : {}
  const ends = [generation['eos_token_id']].flat().filter((id) => Number.isInteger(id)) as number[]
  const eos = idOf(definition.eosToken) ?? ends[0] ?? definition.suffixIds[0]
  const ids: [string, number | undefined][] = [
    // What is put before a text is what readers call the beginning.
    ['bos', definition.prefixIds[0] ?? idOf(definition.bosToken)],
    ['eos', eos],
    ['eot', ends.find((id) => id !== eos && definition.tokens[id] !== undefined)],
    ['unknown', named('unk_token')],
    ['padding', named('pad_token')],
  ]
  return new Map(ids.filter((entry): entry is [string, number] => entry[1] !== undefined))
}

function notesOn({ addedTokens, prefixIds, suffixIds }: TokenizerDefinition, hasTemplate: boolean): string[] {
  const strips = addedTokens.filter(
    ({ leftStrip, rightStrip, singleWord }) => leftStrip || rightStrip || singleWord,
  )
  const notes: string[] = []
  if (strips.length > 0) {
    notes.push(
      `GGUF cannot say that ${strips.length === 1 ? 'the token' : 'tokens'} ${strips
        .slice(0, 3)
        .map(({ content }) => content)
        .join(
          ', ',
        )} swallow${strips.length === 1 ? 's' : ''} white space or stand${strips.length === 1 ? 's' : ''} alone.`,
    )
  }
  if (prefixIds.length > 1 || suffixIds.length > 1) {
    notes.push('GGUF adds one token before and after a text at most; the tokenizer adds more.')
  }
  if (!hasTemplate) notes.push('The model has no chat template, so the file has none either.')
  return notes
}
