import { isJsonObject } from './json-fields.ts'
import type { Tokenizer } from './tokenizer/tokenizer.ts'

export interface StopTokenSources {
  tokenizer: Tokenizer
  /** Parsed `generation_config.json` and `config.json`, where there are any. */
  generationConfig?: unknown
  config?: unknown
  ggufMetadata?: ReadonlyMap<string, unknown> | undefined
}

/** Control tokens that end a turn in one family or another. */
const END_TOKENS = [
  '<end_of_utterance>',
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end_of_text|>',
  '<|endoftext|>',
  '<|end|>',
  '<end_of_turn>',
  '<eos>',
  '</s>',
]

const GGUF_KEYS = [
  'tokenizer.ggml.eos_token_id',
  'tokenizer.ggml.eot_token_id',
  'tokenizer.ggml.eom_token_id',
]

/**
 * The tokens that end an answer: those the model's files name, the tokenizer's own end token, and known end tokens
 * that are control tokens of this vocabulary. `config.json` counts only for control tokens, because it often keeps
 * ids of another vocabulary. Ids outside the vocabulary are left out.
 */
export function findStopTokens({
  tokenizer,
  generationConfig,
  config,
  ggufMetadata,
}: StopTokenSources): Set<number> {
  const stops = new Set<number>()
  const isToken = (id: unknown): id is number =>
    typeof id === 'number' && tokenizer.idToToken(id) !== undefined

  for (const id of readEosIds(generationConfig)) if (isToken(id)) stops.add(id)
  const textConfig = isJsonObject(config) ? config['text_config'] : undefined
  for (const id of [...readEosIds(config), ...readEosIds(textConfig)]) {
    if (isToken(id) && tokenizer.isSpecial(id)) stops.add(id)
  }
  for (const key of GGUF_KEYS) {
    const value = ggufMetadata?.get(key)
    const id = typeof value === 'bigint' ? Number(value) : value
    if (isToken(id)) stops.add(id)
  }
  const named = tokenizer.eosToken === undefined ? END_TOKENS : [tokenizer.eosToken, ...END_TOKENS]
  for (const token of named) {
    const id = tokenizer.tokenToId(token)
    if (id !== undefined && tokenizer.isSpecial(id)) stops.add(id)
  }
  return stops
}

function readEosIds(config: unknown): unknown[] {
  const ids = isJsonObject(config) ? config['eos_token_id'] : undefined
  return Array.isArray(ids) ? ids : [ids]
}
