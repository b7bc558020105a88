import { describe, expect, it } from 'vitest'
import { cutWithoutSegmenter, cutWithSegmenter } from './sentences.ts'

describe.each([
  ['with a segmenter', cutWithSegmenter],
  ['without one', cutWithoutSegmenter],
])('sentences %s', (_name, cut) => {
  it.each([
    ['There is a dog. It sleeps! Does it?', 'en', ['There is a dog. ', 'It sleeps! ', 'Does it?']],
    ['有一只狗。它在睡觉！是吗？', 'zh', ['有一只狗。', '它在睡觉！', '是吗？']],
    ['Dr. Smith is here. He waits.', 'en', ['Dr. Smith is here. ', 'He waits.']],
    ['1. Bread\n2. Milk', 'en', ['1. Bread\n', '2. Milk']],
    ['It costs 3.50 euros. Good.', 'en', ['It costs 3.50 euros. ', 'Good.']],
    ['no end', 'en', ['no end']],
    ['', 'en', []],
  ])('%j', (text, language, expected) => {
    const found = cut(text, language)
    expect(found).toEqual(expected)
    expect(found.join('')).toBe(text)
  })
})
