/** Vocabularies of the golden tokenizers, and answers drawn from logits that know nothing. */
import { readFileSync } from 'node:fs'
import { createTokenizerFromJson, type Tokenizer } from '../text/tokenizer/tokenizer.ts'
import type { SchemaConstraint } from './schema-constraint.ts'
import { WordWalks } from './token-masks.ts'
import { type TokenBytes, TokenTrie } from './token-trie.ts'

export interface TestVocabulary {
  readonly tokenizer: Tokenizer
  readonly vocabulary: TokenBytes
  readonly walks: WordWalks
  readonly stopTokens: ReadonlySet<number>
}

/** @param name Of test/golden/text/tokenizer-NAME.json. */
export function readVocabulary(name: string, stop: string): TestVocabulary {
  const url = new URL(`../../test/golden/text/tokenizer-${name}.json`, import.meta.url)
  const tokenizer = createTokenizerFromJson(JSON.parse(readFileSync(url, 'utf8')), {}, name)
  const stopTokens = new Set([tokenizer.tokenToId(stop) as number])
  const vocabulary = Array.from({ length: tokenizer.vocabSize }, (_, id) =>
    stopTokens.has(id) ? undefined : tokenizer.tokenBytes(id),
  )
  return { tokenizer, vocabulary, walks: new WordWalks(new TokenTrie(vocabulary)), stopTokens }
}

export interface DrawnAnswer {
  readonly text: string
  readonly reason: 'stop' | 'length'
  readonly ids: readonly number[]
}

/** Draws tokens as evenly as the constraint lets. Stop tokens are as likely as others. */
export function drawAnswer(
  constraint: SchemaConstraint,
  { vocabulary, stopTokens }: TestVocabulary,
  random: () => number,
  maxTokens: number,
): DrawnAnswer {
  const bytes: number[] = []
  const ids: number[] = []
  const end = (reason: DrawnAnswer['reason']): DrawnAnswer => ({
    text: new TextDecoder('utf-8', { fatal: reason === 'stop', ignoreBOM: true }).decode(
      Uint8Array.from(bytes),
    ),
    reason,
    ids,
  })
  while (ids.length < maxTokens) {
    const logits = new Float32Array(vocabulary.length)
    constraint.restrict(logits)
    const allowed = [...logits.keys()].filter((id) => logits[id] === 0)
    const id = allowed[Math.floor(random() * allowed.length)] as number
    if (stopTokens.has(id)) return end('stop')
    ids.push(id)
    bytes.push(...(vocabulary[id] as Uint8Array))
    constraint.accept(id)
    if (constraint.isComplete) return end('stop')
  }
  return end('length')
}
