/** Patterns, held against the regular expressions of the host. */
import { describe, expect, it } from 'vitest'
import { stepDfa } from './dfa.ts'
import { patternContent } from './string-content.ts'

/** Texts that patterns should tell apart. */
const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'ba',
  'abc',
  'aab',
  'aaa',
  'aaaaa',
  'abab',
  'cat',
  'cats',
  'a cat',
  'Cat',
  'AB-123',
  'AB-12',
  'ab-123',
  'xAB-123',
  '0',
  '7',
  '42',
  'a1',
  'a b',
  'a\tb',
  'a\nb',
  '\n',
  '\r\n',
  '\u2028',
  '\u00a0',
  ' ',
  '-',
  ']',
  '^',
  '"',
  'a"b',
  '\\',
  'a\\b',
  '/',
  '\u0000',
  '\u001f',
  '\b',
  '\f',
  'é',
  'É',
  'ß',
  '猫',
  '猫が',
  '👍',
  '👍👍',
  'a👍b',
  '\u{10ffff}',
  '\ud7ff',
  'x@y.zz',
  'no',
  'nope',
  'yes',
  '_',
  'a_b',
  'Ab',
  'ÀÉ',
  'я',
  '{',
  'a{2}',
  '12',
  '123',
  '1234',
  '.',
  'a.b',
  '\u{1F600}',
]

const PATTERNS = [
  '',
  'a',
  '^a',
  'a$',
  '^a$',
  '^$',
  'a|b',
  '^(?:a|b)$',
  '^a|b$',
  'ab|ba',
  '(ab)+',
  '^(ab)*$',
  '^(?:a*b?)$',
  '^a{2}',
  '^a{2,}$',
  '^a{2,3}$',
  '^a{0,1}$',
  '^.$',
  '^.*$',
  '.',
  '^[abc]+$',
  '[^abc]',
  '^[^abc]*$',
  '^[a-c]$',
  '^[a-]$',
  '^[-a]$',
  '^[]a]$',
  '^[\\]a]$',
  '^[\\^]$',
  '^[\\w-]+$',
  '^\\d+$',
  '\\D',
  '^\\w+$',
  '\\W',
  '\\s',
  '^\\S+$',
  '^[\\d\\s]+$',
  '^\\t|\\n$',
  '\\n',
  '^[\\b]$',
  '^\\0$',
  '^\\x61$',
  '^\\u0061$',
  '^\\u{1f44d}$',
  '^\\ud83d\\udc4d$',
  '^[\\u{1f44d}-\\u{1f64f}]+$',
  '^[\\u4e00-\\u9fff]+$',
  '^é$',
  '^猫',
  '"',
  '\\\\',
  '^[^"\\\\]*$',
  '^[A-Z]{2}-[0-9]{3}$',
  '[A-Z]{2}-[0-9]{3}',
  '^(?<year>\\d{4})$',
  '^(?:(?:a|b)(?:a|b))+$',
  '(?:^|x)a',
  'a(?:$|b)',
  '^^a$$',
  '^a??b',
  '^(?!no)',
  '^(?!no).*$',
  '^(?=.*b)a',
  '^(?=a)(?!ab).',
  '^(?!.*\\s)[a-z]+$',
  '^\\p{L}+$',
  '^\\p{Lu}',
  '\\P{L}',
  '^\\cJ$',
  '^\\.$',
  '^\\/$',
  '\\-',
  '^a\\{2\\}$',
  'a$b',
  'a^b',
  '(?:)*',
  '^(?:a|)$',
  '^\\p{Script=Han}+$',
  '^[\\p{Lu}\\d]+$',
  '^[^\\p{L}]+$',
  '^(a|b)*?c?$',
]

function accepts(pattern: string, text: string): boolean {
  const content = patternContent(pattern)
  let state = content ? 0 : -1
  for (const byte of new TextEncoder().encode(JSON.stringify(text).slice(1, -1))) {
    state = content && state >= 0 ? stepDfa(content, state, byte) : -1
  }
  return state >= 0 && content!.accepts[state] === 1
}

function createExpression(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}

it.each(PATTERNS)('%j accepts what the host finds', (pattern) => {
  const expression = createExpression(pattern)
  const wrong = TEXTS.filter((text) => accepts(pattern, text) !== expression.test(text))
  expect(wrong).toEqual([])
})

it.each(['^[^\\s\\S]$', 'a^b', '^(?!a)a', '^a$b'])('%j accepts nothing', (pattern) => {
  expect(patternContent(pattern)).toBe(undefined)
})

describe('refuses', () => {
  it.each([
    ['(', '"(" is no regular expression'],
    ['(?<=a)b', 'looking behind, (?<=…) or (?<!…), is not supported in patterns'],
    ['a(?!b)', 'looking ahead, (?=…) or (?!…), is supported at the start of a pattern only, behind ^'],
    ['(?=a)', 'looking ahead, (?=…) or (?!…), is supported at the start of a pattern only, behind ^'],
    ['^(?:(?!a)b)+$', 'looking ahead, (?=…) or (?!…), is supported at the start of a pattern only, behind ^'],
    ['(a)\\1', '\\1, a reference to a group, is not supported in patterns'],
    ['(?<x>a)\\k<x>', '\\k, a reference to a group, is not supported in patterns'],
    ['\\bword', '\\b, the edge of a word, is not supported in patterns'],
    ['a.{14}b', 'needs too many states'],
    ['^(?:(?:.{100}){100}){100}$', 'needs too many states'],
    ['^(?:(?:){1000000000}){1000000000}$', 'needs too many states'],
    ['\\p{L}'.repeat(17), 'more than 16 uses of \\p{…} is not supported in patterns'],
    ['a'.repeat(5001), 'has 5001 characters; at most 5000 are taken'],
    [
      '('.repeat(200) + ')'.repeat(200),
      'more than 100 groups within each other is not supported in patterns',
    ],
  ])('%j', (pattern, message) => {
    expect(() => patternContent(pattern)).toThrow(expect.objectContaining({ code: 'option/schema', message }))
  })

  it('no repeat of nothing, however often', () => {
    expect(accepts('^(?:){1000000000}$', '')).toBe(true)
  })
})
