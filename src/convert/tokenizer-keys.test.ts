/** Tokenizers written as GGUF keys and read back give the same ids as the tokenizer.json they came from. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { goldenPath } from '../../test/support/golden-model.ts'
import { createTokenizerFromGguf, createTokenizerFromJson } from '../text/tokenizer/tokenizer.ts'
import { type TokenizerFiles, tokenizerKeys } from './tokenizer-keys.ts'

const TEXTS = [
  'Hello, world! 12345 tokens',
  '  two  spaces\n\nand lines ',
  "It's 3.14159 — naïve café",
  '图里有什么？一只猫。',
  '👩‍👩‍👧 emoji',
]

function filesOf(tokenizerJson: unknown, tokenizerConfig: unknown = {}): TokenizerFiles {
  return {
    tokenizerJson,
    tokenizerConfig,
    generationConfig: undefined,
    chatTemplateJinja: undefined,
    chatTemplateJson: undefined,
  }
}

function readJson(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(goldenPath(`text/${name}`), 'utf8')) as Record<string, unknown>
}

function valuesOf(files: TokenizerFiles, rows: number): Map<string, unknown> {
  const { metadata } = tokenizerKeys(files, rows, 'tokenizer.json')
  return new Map([...metadata].map(([key, { value }]) => [key, value]))
}

describe('tokenizerKeys', () => {
  it.each([
    ['tokenizer-gpt-2.json', 'gpt-2'],
    ['tokenizer-smollm.json', 'smollm'],
    ['tokenizer-llama-bpe.json', 'llama-bpe'],
    ['tokenizer-qwen2.json', 'qwen2'],
    ['tokenizer-sentence-piece.json', 'default'],
  ])('%s is %s, and reads back the same', (name, pre) => {
    const json = readJson(name)
    const direct = createTokenizerFromJson(json, {}, name)
    const values = valuesOf(filesOf(json), direct.vocabSize + 3)
    expect(values.get('tokenizer.ggml.pre')).toBe(pre)
    expect((values.get('tokenizer.ggml.tokens') as string[]).slice(-3)).toEqual(
      [0, 1, 2].map((index) => `[PAD${direct.vocabSize + index}]`),
    )
    const back = createTokenizerFromGguf(values, 'a.gguf')
    for (const text of TEXTS) {
      expect([text, back.encode(text)]).toEqual([text, direct.encode(text)])
      const options = { addSpecialTokens: true }
      expect(back.encode(text, options)).toEqual(direct.encode(text, options))
      expect(back.decode(back.encode(text))).toBe(direct.decode(direct.encode(text)))
    }
  })

  it('writes special tokens by their roles, and a second end of generation as eot', () => {
    const json = readJson('tokenizer-smollm.json')
    const vocabulary = (json['model'] as { vocab: Record<string, number> }).vocab
    const [first = '', second = '', third = ''] = Object.keys(vocabulary)
    const values = valuesOf(
      {
        ...filesOf(json, { bos_token: first, eos_token: { content: second }, pad_token: third }),
        generationConfig: { eos_token_id: [vocabulary[second], vocabulary[third]] },
      },
      Object.keys(vocabulary).length + 8,
    )
    const id = (role: string) => values.get(`tokenizer.ggml.${role}_token_id`)
    expect([id('bos'), id('eos'), id('padding'), id('eot')]).toEqual([
      ...[first, second, third, third].map((token) => vocabulary[token]),
    ])
  })

  it.each([
    ['digits kept together', { type: 'Digits', individual_digits: false }],
    ['a space in front', { type: 'ByteLevel', add_prefix_space: true, use_regex: true }],
    ['another expression', { type: 'Split', pattern: { Regex: 'x+' }, behavior: 'Isolated', invert: false }],
    ['a rule of SentencePiece', { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' }],
  ])('refuses %s', (_, step) => {
    const json = { ...readJson('tokenizer-gpt-2.json'), pre_tokenizer: step }
    expect(() => tokenizerKeys(filesOf(json), 5000, 'tokenizer.json')).toThrow(
      /^tokenizer\.json .*GGUF names are known for gpt-2, smollm, llama-bpe, qwen2\.$/,
    )
  })

  it('refuses normalizers that a GGUF reader would not apply', () => {
    const json = { ...readJson('tokenizer-gpt-2.json'), normalizer: { type: 'NFD' } }
    expect(() => tokenizerKeys(filesOf(json), 5000, 'tokenizer.json')).toThrow(
      'tokenizer.json has the normalizer "NFD"',
    )
  })
})
