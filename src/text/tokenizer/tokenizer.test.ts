import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createTokenizerFromGguf, createTokenizerFromJson, type Tokenizer } from './tokenizer.ts'

const GOLDEN = new URL('../../../test/golden/', import.meta.url)

interface TokenizerJson {
  model: { vocab: Record<string, number>; merges: [string, string][] }
  added_tokens: { id: number; content: string; special: boolean }[]
}

/** Text, ids, ids with special tokens, text of the ids, text of the ids without special tokens. */
type Row = [string, number[], number[], string, string]

function readGolden<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, GOLDEN), 'utf8'))
}

const vectors = readGolden<Record<string, Row[]>>('text/tokenizer-vectors.json')

/** The keys a converter writes for a byte-level tokenizer.json. */
function toGguf(
  { model, added_tokens: added }: TokenizerJson,
  pre: string | undefined,
): Map<string, unknown> {
  const tokens: string[] = []
  const types: number[] = []
  for (const [token, id] of Object.entries(model.vocab)) {
    tokens[id] = token
    types[id] = 1
  }
  for (const { id, content, special } of added) {
    tokens[id] = content
    types[id] = special ? 3 : 4
  }
  const metadata = new Map<string, unknown>([
    ['tokenizer.ggml.model', 'gpt2'],
    ['tokenizer.ggml.tokens', tokens],
    ['tokenizer.ggml.token_type', Int32Array.from(types)],
    ['tokenizer.ggml.merges', model.merges.map((merge) => merge.join(' '))],
  ])
  if (pre !== undefined) metadata.set('tokenizer.ggml.pre', pre)
  return metadata
}

function spmGguf(): Map<string, unknown> {
  const { tokens, scores, token_type } = readGolden<Record<string, unknown[]>>(
    'text/sentence-piece-gguf.json',
  )
  return new Map<string, unknown>([
    ['tokenizer.ggml.model', 'llama'],
    ['tokenizer.ggml.tokens', tokens],
    ['tokenizer.ggml.scores', Float32Array.from(scores as number[])],
    ['tokenizer.ggml.token_type', token_type],
    ['tokenizer.ggml.bos_token_id', 1],
    ['tokenizer.ggml.eos_token_id', 2],
  ])
}

function expectRows(tokenizer: Tokenizer, rows: Row[]): void {
  for (const [text, ids, withSpecial, decoded, plain] of rows) {
    expect(tokenizer.encode(text), text).toEqual(ids)
    expect(tokenizer.encode(text, { addSpecialTokens: true }), text).toEqual(withSpecial)
    expect(tokenizer.decode(ids, { skipSpecialTokens: false }), text).toBe(decoded)
    expect(tokenizer.decode(ids), text).toBe(plain)
  }
}

describe('against the Rust library', () => {
  test.each(Object.keys(vectors))('tokenizer.json: %s', (name) => {
    const path = name === 'golden' ? 'smolvlm/tokenizer.json' : `text/tokenizer-${name}.json`
    expectRows(createTokenizerFromJson(readGolden(path), {}, 'tokenizer.json'), vectors[name]!)
  })

  test.each([
    ['llama-bpe', 'llama-bpe'],
    ['llama-bpe', 'llama3'],
    ['qwen2', 'qwen2'],
    ['qwen2', 'deepseek-r1-qwen'],
    ['gpt-2', 'gpt-2'],
    ['smollm', 'smollm'],
  ])('GGUF keys of %s with pre = "%s"', (name, pre) => {
    const metadata = toGguf(readGolden(`text/tokenizer-${name}.json`), pre)
    if (name === 'llama-bpe')
      metadata.set(
        'tokenizer.ggml.bos_token_id',
        (metadata.get('tokenizer.ggml.tokens') as string[]).indexOf('<|begin_of_text|>'),
      )
    expectRows(createTokenizerFromGguf(metadata, 'model.gguf'), vectors[name]!)
  })

  test('GGUF keys of a SentencePiece model', () => {
    expectRows(createTokenizerFromGguf(spmGguf(), 'model.gguf'), vectors['sentence-piece']!)
  })
})
