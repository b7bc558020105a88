import { describe, expect, it } from 'vitest'
import { isSafeFileName, isSafePath, parseSplitName, splitPartsOf, weightStemOf } from './file-names.ts'

describe('isSafeFileName', () => {
  it.each([
    'config.json',
    'model-00001-of-00002.safetensors',
    'SmolVLM2-2.2B-Instruct-Q4_K_M.gguf',
    '模型.gguf',
    '_a',
    'a b+c.gguf',
  ])('takes %s', (name) => expect(isSafeFileName(name)).toBe(true))

  it.each([
    ...[
      '',
      '.',
      '..',
      '.hidden',
      'a/b',
      'a\\b',
      'C:',
      'a:stream',
      'a\0b',
      'a\nb',
      'a.',
      'a ',
      '-rf',
      '~',
      'a*',
    ],
    ...['con', 'NUL.gguf', 'com1.safetensors', 'a\u202egguf', 'x'.repeat(101)],
  ])('refuses %j', (name) => expect(isSafeFileName(name)).toBe(false))
})

it('a path is safe when all its names are', () => {
  expect([isSafePath('a/b.gguf'), isSafePath('../a'), isSafePath('/a'), isSafePath('a//b')]).toEqual([
    true,
    false,
    false,
    false,
  ])
})

it('parts of split weights', () => {
  expect(parseSplitName('a-00002-of-00003.gguf')).toEqual({ stem: 'a', part: 2, parts: 3 })
  expect(parseSplitName('a.gguf')).toBeUndefined()
  expect(splitPartsOf('q/a-00002-of-00002.gguf')).toEqual([
    'q/a-00001-of-00002.gguf',
    'q/a-00002-of-00002.gguf',
  ])
  expect(splitPartsOf('a.gguf')).toEqual(['a.gguf'])
  expect(weightStemOf('q/a-00002-of-00002.gguf')).toBe('a')
  expect(weightStemOf('q/a.b.gguf')).toBe('a.b')
})
