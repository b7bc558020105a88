import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createNormalizer, createPreTokenizer } from './text-splitting.ts'

type Row = [config: Record<string, unknown>, cases: [text: string, pieces: string[]][]]

const rows: Row[] = JSON.parse(
  readFileSync(new URL('../../../test/golden/text/splitting-vectors.json', import.meta.url), 'utf8'),
)

describe('createPreTokenizer against the Rust library', () => {
  test.each(rows.map(([config, cases]) => [JSON.stringify(config), config, cases] as const))(
    '%s',
    (_, config, cases) => {
      const split = createPreTokenizer(config, 'pre_tokenizer')
      for (const [text, pieces] of cases) expect(split(text, true), JSON.stringify(text)).toEqual(pieces)
      expect(cases.length).toBeGreaterThan(40)
    },
  )

  test('Metaspace marks only a first section where it says so', () => {
    const split = createPreTokenizer({ type: 'Metaspace', prepend_scheme: 'first' }, 'pre_tokenizer')
    expect(split('a b', false)).toEqual(['a', '▁b'])
    expect(split('a b', true)).toEqual(['▁a', '▁b'])
  })
})

describe('createNormalizer', () => {
  test.each([
    [{ type: 'NFC' }, 'e\u0301', '\u00e9'],
    [{ type: 'NFKD' }, '\u00bd', '1\u20442'],
    [{ type: 'Prepend', prepend: '▁' }, 'a', '▁a'],
    [{ type: 'Prepend', prepend: '▁' }, '', ''],
    [{ type: 'Replace', pattern: { String: '.' }, content: '$&' }, 'a.b', 'a$&b'],
    [{ type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' }, 'a   b c', 'a b c'],
    [null, 'a', 'a'],
  ])('%j', (config, text, expected) => {
    expect(createNormalizer(config, 'normalizer')(text)).toBe(expected)
  })
})
