import { describe, expect, test } from 'vitest'
import { SeededRandom } from '../../../test/support/seeded-random.ts'
import { type CutterOptions, SentenceCutter } from './sentence-cutter.ts'

/** Whole sentences, so that the rules for the first piece stay out. */
const SENTENCES: CutterOptions = { startsEarly: false }

function cut(text: string, options: CutterOptions = SENTENCES): string[] {
  const cutter = new SentenceCutter(options)
  return [...cutter.push(text), ...cutter.finish()]
}

function cutTrimmed(text: string, options?: CutterOptions): string[] {
  return cut(text, options).map((piece) => piece.trim())
}

function cutInChunks(text: string, random: SeededRandom, options: CutterOptions): string[] {
  const cutter = new SentenceCutter(options)
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const length = 1 + random.below(6)
    pieces.push(...cutter.push(text.slice(at, at + length)))
    at += length
  }
  return [...pieces, ...cutter.finish()]
}

describe('English sentences', () => {
  test.each([
    [
      'There is a dog. It is brown! Is it yours? Yes.',
      ['There is a dog.', 'It is brown!', 'Is it yours?', 'Yes.'],
    ],
    ['He said "Stop!" Then he left.', ['He said "Stop!"', 'Then he left.']],
    [
      'She asked (why? nobody knew) twice. Then no more.',
      ['She asked (why? nobody knew) twice.', 'Then no more.'],
    ],
    ['“Come in. Sit down.” The door closed.', ['“Come in. Sit down.”', 'The door closed.']],
    ['Really?! Yes... I think so. Maybe… not.', ['Really?!', 'Yes...', 'I think so.', 'Maybe… not.']],
    ['First line\nsecond line\n\nthird', ['First line', 'second line', 'third']],
    ['A sign reads 好。 Then more.', ['A sign reads 好。', 'Then more.']],
    ['What?Yes!', ['What?', 'Yes!']],
  ])('%s', (text, pieces) => {
    expect(cutTrimmed(text)).toEqual(pieces)
  })

  test.each([
    'It costs $9.99 or 1,000.50 in total, i.e. not much.',
    'Dr. Smith and Mrs. Jones met at St. Mary, e.g. on Jan. 5 or No. 7.',
    'J. R. R. Tolkien lived in the U.S. Army barracks.',
    'See https://example.com/a?B=1 or www.example.com for more.',
    'Version 1.2.3 of file.txt is here.',
    'The so-called "end. of it" goes on.',
    'Items (1. One 2. Two) stay together.',
    'a full stop. followed by a small letter is none.',
    'Is this page?ID=1 good',
  ])('is one: %s', (text) => {
    expect(cutTrimmed(text)).toEqual([text])
  })

  test('numbers of lists stay with their items', () => {
    expect(cutTrimmed('1. Open it. 2. Close it.\n3. Go.')).toEqual(['1. Open it.', '2. Close it.', '3. Go.'])
  })

  test('words that are abbreviations only before numbers end sentences', () => {
    expect(cutTrimmed('I say no. Then I go. That is art. Good.')).toEqual([
      'I say no.',
      'Then I go.',
      'That is art.',
      'Good.',
    ])
  })

  test('the pronoun I ends a sentence, an initial does not', () => {
    expect(cutTrimmed('So am I. Then Mr. X. Brown came.')).toEqual(['So am I.', 'Then Mr. X. Brown came.'])
  })

  test('a sentence is certain when the next character is known', () => {
    const cutter = new SentenceCutter(SENTENCES)
    expect(cutter.push('It costs 3.')).toEqual([])
    expect(cutter.push('5 euros. ')).toEqual([])
    expect(cutter.push('T')).toEqual(['It costs 3.5 euros. '])
  })

  test('the end of a line is certain at once', () => {
    const cutter = new SentenceCutter(SENTENCES)
    expect(cutter.push('One thing.\n')).toEqual(['One thing.\n'])
    expect(cutter.push('milk\n')).toEqual(['milk\n'])
  })
})

describe('Chinese sentences', () => {
  test.each([
    [
      '桌子上有一杯水。旁边有猫！是你的吗？是；好。',
      ['桌子上有一杯水。', '旁边有猫！', '是你的吗？', '是；', '好。'],
    ],
    ['他说：“你好！我来了。”然后走了。', ['他说：“你好！我来了。”', '然后走了。']],
    ['「走吧。」她说。', ['「走吧。」', '她说。']],
    ['（见图。）然后继续。', ['（见图。）', '然后继续。']],
    ['好!走吧.再见', ['好!', '走吧.', '再见']],
    ['价格是3.5元，约 10.5 美元。', ['价格是3.5元，约 10.5 美元。']],
  ])('%s', (text, pieces) => {
    expect(cutTrimmed(text)).toEqual(pieces)
  })

  test('are certain at once', () => {
    const cutter = new SentenceCutter(SENTENCES)
    expect(cutter.push('桌子上有一杯水。')).toEqual(['桌子上有一杯水。'])
  })
})

describe('the first piece comes early', () => {
  test.each([
    [
      'In the middle of the room, there is a table. It is big.',
      ['In the middle of the room,', 'there is a table.', 'It is big.'],
    ],
    ['Yes, it is there. Good.', ['Yes, it is there.', 'Good.']],
    ['It costs 1,000 and lasts 10:30 hours. Good.', ['It costs 1,000 and lasts 10:30 hours.', 'Good.']],
    [
      'There is a large brown wooden table standing in the corner of the room.',
      ['There is a large brown wooden table standing', 'in the corner of the room.'],
    ],
    [
      'One two three four five six seven eight nine ten eleven twelve thirteen fourteen.',
      ['One two three four five six seven eight nine ten eleven twelve', 'thirteen fourteen.'],
    ],
    [
      'One two three four five six seven eight nine ten is the window.',
      ['One two three four five six seven eight nine ten is', 'the window.'],
    ],
    ['桌子上有一杯水，旁边有一只猫，很可爱。', ['桌子上有一杯水，', '旁边有一只猫，很可爱。']],
    ['是的，有一只猫。', ['是的，有一只猫。']],
    ['桌子上有一杯水,旁边有猫。', ['桌子上有一杯水,', '旁边有猫。']],
    [
      '在这个房间的中间有一张很大的木头桌子和四把椅子。',
      ['在这个房间的中间有一张很大的木头桌子', '和四把椅子。'],
    ],
    ['在这个房间的中间有一张很大的木头桌子呢。', ['在这个房间的中间有一张很大的木头桌子呢。']],
  ])('%s', (text, pieces) => {
    expect(cutTrimmed(text, {})).toEqual(pieces)
  })
})

describe('long pieces', () => {
  const longest = (text: string, maxLength?: number): number =>
    Math.max(...cut(text, { ...SENTENCES, ...(maxLength && { maxLength }) }).map((piece) => piece.length))

  test('are broken after a clause', () => {
    const clause = 'the quick brown fox jumps over the lazy dog again and again'
    expect(cutTrimmed(`${clause}, ${clause}, ${clause}, ${clause}`)).toEqual([
      `${clause}, ${clause},`,
      `${clause}, ${clause}`,
    ])
  })

  test('are broken between words, Latin at 180 characters, Chinese at 72', () => {
    expect(longest('word '.repeat(200))).toBe(180)
    expect(longest('这'.repeat(500))).toBeLessThanOrEqual(72)
    expect(longest('这'.repeat(500))).toBeGreaterThan(60)
    expect(longest('x'.repeat(500))).toBe(180)
    expect(longest('word '.repeat(200), 40)).toBe(40)
  })

  test('quotes and brackets that are never closed hold nothing back', () => {
    const [first = ''] = cutTrimmed(`He said "${'nothing at all. '.repeat(30)}`)
    expect(first.length).toBeGreaterThan(100)
    expect(first.length).toBeLessThanOrEqual(180)
  })

  test('no surrogate pair is broken', () => {
    for (const piece of cut('𠀀'.repeat(300))) expect(piece).toMatch(/^[\uD800-\uDBFF]/)
  })
})

describe('a stream that pauses', () => {
  test.each([
    ['I see a dog wal', 'I see a dog '],
    ['I see a dog.', 'I see a dog.'],
    ['It costs $9.', 'It costs '],
    ['桌子上有', '桌子上有'],
    ['我喜欢iPho', '我喜欢'],
    ['Well, as I said,', 'Well, as I said,'],
  ])('%s', (text, said) => {
    const cutter = new SentenceCutter(SENTENCES)
    expect(cutter.push(text)).toEqual([])
    expect(cutter.flush()).toEqual([said])
    expect(cutter.flush()).toEqual([])
    expect([said, ...cutter.finish()].join('')).toBe(text)
  })

  test('nothing is said while nothing is certain', () => {
    const cutter = new SentenceCutter(SENTENCES)
    cutter.push('Unbeliev')
    expect(cutter.flush()).toEqual([])
  })
})

describe('whatever the text', () => {
  const WORDS = [
    'dog',
    'The',
    'Mr',
    'e.g',
    'U.S',
    'www.a.com/b?c',
    'https://x.y/z',
    '3.14',
    '$9.99',
    '1',
    'I',
    'no',
    'end',
    '水',
    '今天天气',
    '散步吧',
    'iPhone',
    '"',
    '“',
    '”',
    '(',
    ')',
    '「',
    '」',
    '。',
    '！',
    '？',
    '；',
    '，',
    '、',
    '…',
    '.',
    '.',
    '!',
    '?',
    ',',
    ';',
    ':',
    '—',
    '-',
    '\n',
    ' ',
    ' ',
    ' ',
    ' ',
    '𠀀',
    '👍',
    "'",
  ]

  test('pieces put together are the text, and do not depend on how the stream was split', () => {
    const random = new SeededRandom(20)
    for (let round = 0; round < 3000; round++) {
      const text = Array.from({ length: 1 + random.below(60) }, () => random.pick(WORDS)).join('')
      const options = { startsEarly: random.below(2) === 0, maxLength: random.pick([20, 60, 180]) }
      const pieces = cut(text, options)
      expect(pieces.join('')).toBe(text)
      expect(cutInChunks(text, random, options)).toEqual(pieces)
    }
  })

  test('what is certain is said as soon as in any other split', () => {
    const random = new SeededRandom(21)
    for (let round = 0; round < 300; round++) {
      const text = Array.from({ length: 40 }, () => random.pick(WORDS)).join('')
      const whole = new SentenceCutter()
      const slow = new SentenceCutter()
      const fromWhole = whole.push(text)
      expect([...text].flatMap((character) => slow.push(character))).toEqual(fromWhole)
    }
  })
})
