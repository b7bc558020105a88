import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import { createTokenizerFromJson, type Tokenizer } from '../text/tokenizer/tokenizer.ts'
import { checkEmbedding } from './check-embedding.ts'
import { type Finding, Findings } from './finding.ts'

const WORDS = 300
const COLUMNS = 64
const TURN_TOKENS = ['<|start|>', '<|end|>']

/** `w000` to `w299`, the same with a space in front, and two control tokens behind them. */
function createTokenizer(): Tokenizer {
  const vocab: Record<string, number> = {}
  for (let word = 0; word < WORDS; word++) {
    const text = `w${String(word).padStart(3, '0')}`
    vocab[`Ġ${text}`] = 2 * word
    vocab[text] = 2 * word + 1
  }
  const added = TURN_TOKENS.map((content, index) => ({
    id: 2 * WORDS + index,
    content,
    special: true,
    normalized: false,
    single_word: false,
    lstrip: false,
    rstrip: false,
  }))
  return createTokenizerFromJson(
    {
      model: { type: 'BPE', vocab, merges: [] },
      added_tokens: added,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
      decoder: { type: 'ByteLevel' },
    },
    {},
    'tokenizer.json',
  )
}

/** Rows of the two spellings of a word are alike; `order` says which word's rows stand where. */
function embedding(
  order: (id: number) => number,
  spoil: (rows: Float32Array) => void = () => {},
): TensorInfo {
  const random = new SeededRandom(1)
  const words = Array.from({ length: WORDS }, () =>
    Float32Array.from({ length: COLUMNS }, () => random.normal()),
  )
  const rows = new Float32Array((2 * WORDS + 2) * COLUMNS)
  for (const index of rows.keys()) {
    const id = order(Math.floor(index / COLUMNS))
    const shared = words[Math.floor(id / 2)]?.[index % COLUMNS] ?? 0
    rows[index] = shared + random.normal()
  }
  spoil(rows)
  return {
    name: 'token_embd.weight',
    type: 'F32',
    shape: [2 * WORDS + 2, COLUMNS],
    byteOffset: 0,
    byteLength: rows.byteLength,
    source: createMemorySource('e', new Uint8Array(rows.buffer)),
  }
}

async function findingsOf(tensor: TensorInfo, turnTokens: readonly number[] = []): Promise<Finding[]> {
  const findings = new Findings()
  await checkEmbedding(tensor, createTokenizer(), turnTokens, findings)
  return findings.list()
}

describe('checkEmbedding', () => {
  it('finds nothing where the two spellings of a word are alike', async () => {
    expect(
      await findingsOf(
        embedding((id) => id),
        [600, 601],
      ),
    ).toEqual([])
  })

  it('finds a vocabulary of another model in an embedding of the same size', async () => {
    const [finding, ...more] = await findingsOf(embedding((id) => (id * 7 + 3) % 600))
    expect(more).toEqual([])
    expect(finding?.code).toBe('text/tokenizer-mismatch')
    expect(Math.abs(finding?.evidence['cosine'] as number)).toBeLessThan(0.1)
    expect(finding?.evidence['pairs']).toBe(256)
  })

  it('finds control tokens that were never trained: rows of zeros or all alike', async () => {
    const zeros = embedding(
      (id) => id,
      (rows) => rows.fill(0, 600 * COLUMNS),
    )
    expect((await findingsOf(zeros, [600, 601])).map(({ code, message }) => [code, message])).toEqual([
      [
        'weights/untrained-tokens',
        'The embedding rows of <|start|>, <|end|>, which the chat template writes, are zero or all alike: they were never trained.',
      ],
    ])
    const alike = embedding(
      (id) => id,
      (rows) => rows.copyWithin(601 * COLUMNS, 600 * COLUMNS, 601 * COLUMNS),
    )
    expect((await findingsOf(alike, [600, 601])).map(({ evidence }) => evidence['tokens'])).toEqual([
      TURN_TOKENS,
    ])
  })
})
