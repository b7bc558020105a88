import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findStopTokens } from './stop-tokens.ts'
import { createTokenizerFromGguf, createTokenizerFromJson } from './tokenizer/tokenizer.ts'

const GOLDEN = new URL('../../test/golden/', import.meta.url)

function readGolden(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, GOLDEN), 'utf8'))
}

describe('findStopTokens', () => {
  const tokenizer = createTokenizerFromJson(
    readGolden('smolvlm/tokenizer.json'),
    readGolden('smolvlm/tokenizer_config.json'),
    'tokenizer.json',
  )

  test('the reference model: by file, by the tokenizer and by name', () => {
    const stops = findStopTokens({
      tokenizer,
      generationConfig: readGolden('smolvlm/generation_config.json'),
      config: readGolden('smolvlm/config.json'),
    })
    expect([...stops].sort((a, b) => a - b)).toEqual([0, 2]) // <|endoftext|>, <end_of_utterance>
  })

  test('a list of ids, and none outside the vocabulary', () => {
    const stops = findStopTokens({
      tokenizer,
      generationConfig: { eos_token_id: [300, 128002, -1, 'x', null] },
    })
    expect([...stops].sort((a, b) => a - b)).toEqual([0, 2, 300])
  })

  test('config.json may not make a word a stop token', () => {
    const config = { eos_token_id: 300, text_config: { eos_token_id: [1, 301] } }
    expect([...findStopTokens({ tokenizer, config })].sort((a, b) => a - b)).toEqual([0, 1, 2])
  })

  test('GGUF keys', () => {
    const metadata = new Map<string, unknown>([
      ['tokenizer.ggml.model', 'gpt2'],
      ['tokenizer.ggml.pre', 'smollm'],
      ['tokenizer.ggml.tokens', ['a', 'b', 'ab', '<|im_end|>', '<bye>', '</s>']],
      ['tokenizer.ggml.token_type', [1, 1, 1, 3, 3, 1]],
      ['tokenizer.ggml.merges', ['a b']],
      ['tokenizer.ggml.eos_token_id', 4],
      ['tokenizer.ggml.eot_token_id', 99n],
    ])
    const fromGguf = createTokenizerFromGguf(metadata, 'model.gguf')
    expect(
      [...findStopTokens({ tokenizer: fromGguf, ggufMetadata: metadata })].sort((a, b) => a - b),
    ).toEqual([3, 4])
  })
})
