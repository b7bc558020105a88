import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../shared/errors.ts'
import { createTokenizerFromGguf, createTokenizerFromJson } from './tokenizer.ts'

const GOLDEN = new URL('../../../test/golden/text/', import.meta.url)

type Json = Record<string, unknown>

const VALID = {
  added_tokens: [{ id: 3, content: '<e>', special: true }],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false },
  post_processor: null,
  decoder: { type: 'ByteLevel' },
  model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b'] },
}

function problemOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return EngineError.isInstance(error) ? `${error.code}: ${error.message}` : `not ours: ${String(error)}`
  }
  return 'no error'
}

function model(fields: Json): Json {
  return { ...VALID, model: { ...VALID.model, ...fields } }
}

describe('tokenizer.json', () => {
  test('the smallest one', () => {
    const tokenizer = createTokenizerFromJson(VALID, undefined, 'tokenizer.json')
    expect(tokenizer.encode('ab<e>ba')).toEqual([2, 3, 1, 0])
    expect(tokenizer.vocabSize).toBe(4)
    expect(tokenizer.specialTokens).toEqual(['<e>'])
  })

  test.each<[string, unknown, string]>([
    ['a text', 'x', 'text/invalid-field: t should be an object, found "x".'],
    ['an array', [], 'text/invalid-field: t should be an object, found an array of 0.'],
    ['nothing', undefined, 'text/invalid-field: t should be an object, found nothing.'],
    [
      'no model',
      { ...VALID, model: undefined },
      'text/invalid-field: t: model should be an object, found nothing.',
    ],
    [
      'WordPiece',
      model({ type: 'WordPiece' }),
      'text/unsupported-tokenizer: t: model.type is "WordPiece"; supported is "BPE".',
    ],
    [
      'Unigram',
      model({ type: 'Unigram' }),
      'text/unsupported-tokenizer: t: model.type is "Unigram"; supported is "BPE".',
    ],
    [
      'a suffix',
      model({ end_of_word_suffix: '</w>' }),
      'text/unsupported-tokenizer: t: model.end_of_word_suffix is "</w>"; supported is only null.',
    ],
    [
      'dropout',
      model({ dropout: 0.1 }),
      'text/unsupported-tokenizer: t: model.dropout is 0.1; supported is only null.',
    ],
    [
      'no vocabulary',
      model({ vocab: undefined }),
      'text/invalid-field: t: model.vocab should be an object, found nothing.',
    ],
    [
      'an empty one',
      model({ vocab: {} }),
      'text/invalid-field: t: model.vocab should be an object with tokens, found an object.',
    ],
    [
      'an id that is text',
      model({ vocab: { a: '0' } }),
      'text/invalid-field: t: model.vocab["a"] should be a whole number from 0 to 1048575, found "0".',
    ],
    [
      'a wild id',
      model({ vocab: { a: 2 ** 31 } }),
      'text/invalid-field: t: model.vocab["a"] should be a whole number from 0 to 1048575, found 2147483648.',
    ],
    [
      'an id twice',
      model({ vocab: { a: 0, b: 0, ab: 2 } }),
      'text/duplicate-token-id: t: model.vocab gives id 0 to "b", but "a" has it already.',
    ],
    [
      'an endless token',
      model({ vocab: { ['a'.repeat(16385)]: 0 } }),
      'text/invalid-field: t: model.vocab should be tokens of at most 16384 characters',
    ],
    [
      'no merges',
      model({ merges: undefined }),
      'text/invalid-field: t: model.merges should be an array, found nothing.',
    ],
    [
      'half a merge',
      model({ merges: ['a'] }),
      'text/invalid-field: t: model.merges[0] should be two tokens, as "a b" or ["a", "b"], found "a".',
    ],
    [
      'three in a merge',
      model({ merges: [['a', 'b', 'a']] }),
      'text/invalid-field: t: model.merges[0] should be two tokens, as "a b" or ["a", "b"], found an array of 3.',
    ],
    [
      'an unknown part',
      model({ merges: ['a b', 'a c'] }),
      'text/unknown-merge-token: t: model.merges[1] needs the token "c", which the vocabulary lacks.',
    ],
    [
      'an unknown result',
      model({ merges: ['b a'] }),
      'text/unknown-merge-token: t: model.merges[0] needs the token "ba", which the vocabulary lacks.',
    ],
    [
      'a taken id',
      { ...VALID, added_tokens: [{ id: 1, content: '<e>' }] },
      'text/duplicate-token-id: t: added_tokens gives id 1 to "<e>", but "b" has it already.',
    ],
    [
      'an added token without text',
      { ...VALID, added_tokens: [{ id: 3 }] },
      'text/invalid-field: t: added_tokens[0].content should be a string, found nothing.',
    ],
    [
      'an empty added token',
      { ...VALID, added_tokens: [{ id: 3, content: '' }] },
      'text/invalid-field: t: added_tokens[0].content should be a text that is not empty, found "".',
    ],
    [
      'a flag that is a number',
      { ...VALID, added_tokens: [{ id: 3, content: 'x', special: 1 }] },
      'text/invalid-field: t: added_tokens[0].special should be true or false, found 1.',
    ],
    [
      'a normalizer',
      { ...VALID, normalizer: { type: 'Nmt' } },
      'text/unsupported-normalizer: t: normalizer.type is "Nmt"; supported are Sequence, NFC, NFD, NFKC, NFKD, Prepend and Replace.',
    ],
    [
      'a pre-tokenizer',
      { ...VALID, pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Whitespace' }] } },
      'text/unsupported-pre-tokenizer: t: pre_tokenizer.pretokenizers[0].type is "Whitespace"; supported are Sequence, Split, Digits, ByteLevel and Metaspace.',
    ],
    [
      'a behavior',
      {
        ...VALID,
        pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious' },
      },
      'text/unsupported-pre-tokenizer: t: pre_tokenizer.behavior is "MergedWithPrevious"; supported are "Isolated" and "Removed".',
    ],
    [
      'a broken expression',
      { ...VALID, pre_tokenizer: { type: 'Split', pattern: { Regex: '(' }, behavior: 'Isolated' } },
      'text/invalid-pattern: t: pre_tokenizer.pattern cannot be compiled: ',
    ],
    [
      'no pattern',
      { ...VALID, pre_tokenizer: { type: 'Split', pattern: {}, behavior: 'Isolated' } },
      'text/invalid-field: t: pre_tokenizer.pattern should be an object with the text "Regex" or "String", found an object.',
    ],
    [
      'a post-processor',
      { ...VALID, post_processor: { type: 'BertProcessing' } },
      'text/unsupported-post-processor: t: post_processor.type is "BertProcessing"; supported are TemplateProcessing, ByteLevel and Sequence.',
    ],
    [
      'a decoder',
      { ...VALID, decoder: { type: 'WordPiece' } },
      'text/unsupported-decoder: t: decoder.type is "WordPiece"; supported are ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip and Sequence.',
    ],
    [
      'no decoder',
      { ...VALID, decoder: null },
      'text/invalid-field: t: decoder should be a decoder that says how tokens spell spaces, found null.',
    ],
  ])('%s', (_, json, problem) => {
    expect(problemOf(() => createTokenizerFromJson(json, {}, 't'))).toContain(problem)
  })

  test('a post-processor with an id that no token has', () => {
    const post_processor = {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<e>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      special_tokens: { '<e>': { id: '<e>', ids: [4], tokens: ['<e>'] } },
    }
    expect(problemOf(() => createTokenizerFromJson({ ...VALID, post_processor }, {}, 't'))).toBe(
      'text/invalid-field: t: post_processor should be ids that tokens have, found 4.',
    )
  })

  test('more added tokens than can be looked for', () => {
    const added_tokens = Array.from({ length: 100 }, (_, index) => ({
      id: 3 + index,
      content: `${index}${'x'.repeat(12_000)}`,
    }))
    expect(problemOf(() => createTokenizerFromJson({ ...VALID, added_tokens }, {}, 't'))).toBe(
      'text/invalid-field: t: added_tokens should be tokens of at most 1048576 characters altogether, found 1200190.',
    )
  })

  test('a sequence of a million steps', () => {
    const decoder = { type: 'Sequence', decoders: new Array(1_000_000).fill({ type: 'Fuse' }) }
    expect(problemOf(() => createTokenizerFromJson({ ...VALID, decoder }, {}, 't'))).toBe(
      'text/invalid-field: t: decoder.decoders should be at most 64 entries, found an array of 1000000.',
    )
  })

  test('sequences nested without end', () => {
    let normalizer: Json = { type: 'NFC' }
    for (let depth = 0; depth < 10_000; depth++) normalizer = { type: 'Sequence', normalizers: [normalizer] }
    expect(problemOf(() => createTokenizerFromJson({ ...VALID, normalizer }, {}, 't'))).toContain(
      'should be nested at most 8 deep',
    )
    let decoder: Json = { type: 'ByteLevel' }
    for (let depth = 0; depth < 10_000; depth++) decoder = { type: 'Sequence', decoders: [decoder] }
    expect(problemOf(() => createTokenizerFromJson({ ...VALID, decoder }, {}, 't'))).toContain(
      'should be at most 64 steps',
    )
  })

  test('tokens named like parts of every object', () => {
    const vocab = JSON.parse('{"__proto__": 0, "constructor": 1, "a": 2}')
    const tokenizer = createTokenizerFromJson(model({ vocab, merges: [] }), {}, 't')
    expect([
      tokenizer.tokenToId('__proto__'),
      tokenizer.tokenToId('constructor'),
      tokenizer.tokenToId('toString'),
    ]).toEqual([0, 1, undefined])
  })
})

describe('tokenizer_config.json', () => {
  test('adds the tokens that tokenizer.json lacks, and makes those of a role special', () => {
    const config = {
      added_tokens_decoder: {
        '3': { content: '<e>', special: false },
        '4': { content: '<x>', special: true },
      },
      eos_token: { content: 'b' },
      bos_token: '<not there>',
    }
    const tokenizer = createTokenizerFromJson(VALID, config, 't')
    expect(tokenizer.specialTokens).toEqual(['<e>', '<x>', 'b'])
    expect(tokenizer.encode('ab<x>')).toEqual([0, 1, 4])
    expect([tokenizer.eosToken, tokenizer.bosToken, tokenizer.tokenToId('<not there>')]).toEqual([
      'b',
      '<not there>',
      undefined,
    ])
  })

  test.each<[unknown, string]>([
    ['x', 'text/invalid-field: tokenizer_config.json should be an object, found "x".'],
    [
      { added_tokens_decoder: { x: {} } },
      'text/invalid-field: tokenizer_config.json: added_tokens_decoder: the key "x" should be a whole number from 0 to 1048575, found NaN.',
    ],
  ])('%j', (config, problem) => {
    expect(problemOf(() => createTokenizerFromJson(VALID, config, 't'))).toBe(problem)
  })
})

const KEYS: Json = {
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'gpt-2',
  'tokenizer.ggml.tokens': ['a', 'b', 'ab', '<e>'],
  'tokenizer.ggml.token_type': [1, 1, 1, 3],
  'tokenizer.ggml.merges': ['a b'],
  'tokenizer.ggml.eos_token_id': 3,
}
const SPM_KEYS: Json = {
  'tokenizer.ggml.model': 'llama',
  'tokenizer.ggml.tokens': ['<unk>', '▁', 'a', 'b', 'ab', '▁a', '<0x63>'],
  'tokenizer.ggml.token_type': [2, 1, 1, 1, 1, 1, 6],
  'tokenizer.ggml.scores': [0, -9, -9, -9, -1, -1, 0],
}

function fromGguf(base: Json, changes: Json): ReturnType<typeof createTokenizerFromGguf> {
  const entries = Object.entries({ ...base, ...changes }).filter(([, value]) => value !== undefined)
  return createTokenizerFromGguf(new Map(entries), 'm.gguf')
}

describe('GGUF keys', () => {
  test.each<[string, Json, string]>([
    [
      'no model',
      { 'tokenizer.ggml.model': undefined },
      'text/invalid-field: m.gguf: tokenizer.ggml.model should be a string, found nothing.',
    ],
    [
      'bert',
      { 'tokenizer.ggml.model': 'bert' },
      'text/unsupported-tokenizer: m.gguf: tokenizer.ggml.model is "bert"; supported are "gpt2" and "llama".',
    ],
    [
      'a splitting rule',
      { 'tokenizer.ggml.pre': 'tekken' },
      'text/unsupported-pre-tokenizer: m.gguf: tokenizer.ggml.pre is "tekken"; supported are gpt-2, gpt2, default, smollm, llama-bpe, llama3, llama-v3, qwen2, deepseek-r1-qwen.',
    ],
    [
      'no tokens',
      { 'tokenizer.ggml.tokens': undefined },
      'text/invalid-field: m.gguf: tokenizer.ggml.tokens should be an array of strings, found nothing.',
    ],
    [
      'a number among tokens',
      { 'tokenizer.ggml.tokens': ['a', 1] },
      'text/invalid-field: m.gguf: tokenizer.ggml.tokens[1] should be a string, found 1.',
    ],
    [
      'too few types',
      { 'tokenizer.ggml.token_type': [1] },
      'text/invalid-field: m.gguf: tokenizer.ggml.token_type has 1 entries, but tokenizer.ggml.tokens has 4.',
    ],
    [
      'types of text',
      { 'tokenizer.ggml.token_type': ['1', 1, 1, 1] },
      'text/invalid-field: m.gguf: tokenizer.ggml.token_type should be an array of numbers, found an array of 4.',
    ],
    [
      'no merges',
      { 'tokenizer.ggml.merges': undefined },
      'text/invalid-field: m.gguf: tokenizer.ggml.merges should be an array of strings, found nothing.',
    ],
    [
      'half a merge',
      { 'tokenizer.ggml.merges': ['ab'] },
      'text/invalid-field: m.gguf: tokenizer.ggml.merges[0] should be two tokens, as "a b", found "ab".',
    ],
    [
      'an unknown part',
      { 'tokenizer.ggml.merges': ['a c'] },
      'text/unknown-merge-token: m.gguf: tokenizer.ggml.merges[0] needs the token "c", which tokenizer.ggml.tokens lacks.',
    ],
    [
      'an end token outside',
      { 'tokenizer.ggml.eos_token_id': 4 },
      'text/invalid-field: m.gguf: tokenizer.ggml.eos_token_id should be a token id below 4, found 4.',
    ],
    [
      'a flag that is text',
      { 'tokenizer.ggml.add_bos_token': 'yes' },
      'text/invalid-field: m.gguf: tokenizer.ggml.add_bos_token should be true or false, found "yes".',
    ],
  ])('%s', (_, changes, problem) => {
    expect(problemOf(() => fromGguf(KEYS, changes))).toBe(problem)
  })

  test('scores are needed for "llama"', () => {
    expect(problemOf(() => fromGguf(SPM_KEYS, { 'tokenizer.ggml.scores': undefined }))).toBe(
      'text/invalid-field: m.gguf: tokenizer.ggml.scores should be an array of numbers, found nothing.',
    )
  })

  test('a missing splitting rule is guessed, and said', () => {
    expect(fromGguf(KEYS, {}).warnings).toEqual([])
    expect(fromGguf(KEYS, { 'tokenizer.ggml.pre': undefined }).warnings).toEqual([
      'm.gguf does not say how its text is split (tokenizer.ggml.pre is missing); split as GPT-2 does.',
    ])
  })

  test('a token twice: the first counts, and it is said', () => {
    const tokenizer = fromGguf(KEYS, {
      'tokenizer.ggml.tokens': ['a', 'b', 'ab', '<e>', 'a'],
      'tokenizer.ggml.token_type': [1, 1, 1, 3, 1],
    })
    expect(tokenizer.encode('a')).toEqual([0])
    expect(tokenizer.warnings).toEqual([
      'm.gguf: 1 tokens occur twice in tokenizer.ggml.tokens; the first of each is used.',
    ])
  })

  test('what goes around a text', () => {
    const around = {
      'tokenizer.ggml.bos_token_id': 3,
      'tokenizer.ggml.add_bos_token': true,
      'tokenizer.ggml.add_eos_token': true,
    }
    expect(fromGguf(KEYS, around).encode('ab', { addSpecialTokens: true })).toEqual([3, 2, 3])
    expect(
      fromGguf(KEYS, { 'tokenizer.ggml.bos_token_id': 3 }).encode('ab', { addSpecialTokens: true }),
    ).toEqual([2])
    expect(
      fromGguf(KEYS, {
        ...around,
        'tokenizer.ggml.pre': 'llama-bpe',
        'tokenizer.ggml.add_bos_token': undefined,
      }).encode('ab', { addSpecialTokens: true }),
    ).toEqual([3, 2, 3])
  })

  test('SentencePiece: the better score first, the left one of equals; bytes and unknown characters', () => {
    expect(fromGguf(SPM_KEYS, {}).encode('ab')).toEqual([5, 3]) // ▁a and ab score alike, ▁a is further left
    expect(fromGguf(SPM_KEYS, { 'tokenizer.ggml.add_space_prefix': false }).encode('ab')).toEqual([4])
    expect(fromGguf(SPM_KEYS, {}).encode('cdda')).toEqual([1, 6, 0, 2])
  })
})

describe('lone surrogates', () => {
  test.each(['qwen2', 'sentence-piece'])('read as U+FFFD by %s', (rule) => {
    const json: unknown = JSON.parse(readFileSync(new URL(`tokenizer-${rule}.json`, GOLDEN), 'utf8'))
    const tokenizer = createTokenizerFromJson(json, {}, 't')
    expect(tokenizer.encode('a\uD83Db\uDC4D')).toEqual(tokenizer.encode('a\uFFFDb\uFFFD'))
    expect(tokenizer.decode(tokenizer.encode('\uD83D'))).toBe('\uFFFD')
  })
})
