import { describe, expect, it } from 'vitest'
import { loadPinyin } from './load-phonemes.ts'
import { symbolsOfSyllable } from './pinyin.ts'

describe('pinyin syllables', () => {
  it.each([
    ['hang2', 'h ang 2'],
    ['ai4', 'Ø ai 4'],
    ['er2', 'Ø er 2'],
    ['lü4', 'l v 4'],
    ['nüe4', 'n ve 4'],
    ['zhuang1', 'zh uang 1'],
    ['yi0', 'y i 5'],
    ['yuan2', 'y uan 2'],
    ['r2', 'Ø r 2'],
  ])('%s', (syllable, symbols) => {
    expect(symbolsOfSyllable(syllable)?.join(' ')).toBe(symbols)
  })

  it.each(['', 'hang', 'ni3h', '3', '，', 'Ni3'])('"%s" is none', (text) => {
    expect(symbolsOfSyllable(text)).toBeUndefined()
  })
})

describe('Chinese text', () => {
  it.each([
    ['你好，世界。', 'n i 3 h ao 3 ， sh i 4 j ie 4 。'],
    ['银行行长走了', 'y in 2 h ang 2 h ang 2 zh ang 3 z ou 3 l e 5'],
    ['旅行', 'l v 3 x ing 2'],
    ['AI', 'Ø ei 1 Ø ai 4'],
  ])('%s', async (text, symbols) => {
    expect((await loadPinyin())(text).join(' ')).toBe(symbols)
  })
})
