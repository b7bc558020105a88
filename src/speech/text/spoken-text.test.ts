import { describe, expect, test } from 'vitest'
import { SeededRandom } from '../../../test/support/seeded-random.ts'
import { cleanForSpeech, SpokenTextCleaner } from './spoken-text.ts'

describe('Markdown', () => {
  test.each([
    ['**bold** *italic* __bold__ _italic_ ~~gone~~ ***both***', 'bold italic bold italic gone both'],
    ['# Title\n\nText\n\n\n## Next ##', 'Title\nText\nNext'],
    ['- one\n* two\n+ three\n• four\n  - five', 'one\ntwo\nthree\nfour\nfive'],
    ['1. one\n2) two', '1. one\n2) two'],
    ['- [ ] open\n- [x] closed\n- [link](u)', 'not done: open\ndone: closed\nlink'],
    ['> quoted\n>> twice', 'quoted\ntwice'],
    ['above\n---\nbelow\n***\nlast\n===', 'above\nbelow\nlast'],
    ['see [the *manual*](https://example.com/a_(b) "title") now', 'see the manual now'],
    ['a [link][ref] and ![a picture](x.png)', 'a link and a picture'],
    ['a fact [1], another [2, 3] and a note[^note].', 'a fact, another and a note.'],
    ['use `foo_bar()` or ``x``', 'use foo bar or x'],
    [String.raw`\*not bold\* and a\_b`, 'not bold and a b'],
  ])('%j', (text, said) => {
    expect(cleanForSpeech(text)).toBe(said)
  })

  test('code is left out, and that is said', () => {
    expect(cleanForSpeech('Try:\n```js\nlet a = [1]\n```\nThat is **it**.')).toBe(
      'Try:\nCode omitted.\nThat is it.',
    )
    expect(cleanForSpeech('试试：\n~~~\nx\n~~~\n好。')).toBe('试试：\n代码略。\n好。')
    expect(cleanForSpeech('Unclosed\n```\nrest of the answer')).toBe('Unclosed\nCode omitted.')
  })

  test('tables are read by rows', () => {
    expect(cleanForSpeech('| Name | **Age** |\n|:-----|-----|\n| Anna | 3 |\n\nDone')).toBe(
      'Name, Age\nAnna, 3\nDone',
    )
    expect(cleanForSpeech('名字如下\n|猫|狗|\n|--|--|')).toBe('名字如下\n猫，狗')
    expect(cleanForSpeech('Name | Age\n--- | ---\nAnna | 3')).toBe('Name, Age\nAnna, 3')
  })
})

describe('HTML and control tokens', () => {
  test.each([
    ['one<br/>two<p>three</p>four', 'one\ntwo\nthree\nfour'],
    ['a <b class="x">bold</b> word <!-- note -->', 'a bold word'],
    ['the end<|im_end|>', 'the end'],
    ['Fish &amp; chips &lt;b&gt; &#65;&#x42; &nbsp;now', 'Fish and chips less than b greater than AB now'],
    ['<think>\nthe user wants\n</think>\nHello', 'Hello'],
    ['3 < 5 and x<y', '3 less than 5 and x less than y'],
  ])('%j', (text, said) => {
    expect(cleanForSpeech(text)).toBe(said)
  })
})

describe('addresses', () => {
  test.each([
    ['See https://www.example.com/a/b?c=1#d.', 'See link to example dot com.'],
    ['See www.example.org, please', 'See example dot org, please'],
    ['<https://example.com/>', 'example dot com'],
    ['Write to anna.b@mail.example.com!', 'Write to anna.b at mail dot example dot com!'],
    ['网址是https://example.com/路径。好', '网址是example点com路径。好'],
    ['发给a@b.cn吧', '发给a艾特b点cn吧'],
    ['the whole www', 'the whole www'],
    ['http is a protocol', 'http is a protocol'],
  ])('%j', (text, said) => {
    expect(cleanForSpeech(text)).toBe(said)
  })
})

describe('symbols', () => {
  test.each([
    [
      'R&D, 2 + 2 = 4, 3 * 4, 6 ÷ 2, x >= 1, y != 2',
      'R and D, 2 plus 2 equals 4, 3 times 4, 6 divided by 2, x at least 1, y! equals 2',
    ],
    ['A -> B => C <- D', 'A to B to C from D'],
    ['20°C, 5 °F and 90° turns', '20 degrees Celsius, 5 degrees Fahrenheit and 90 degrees turns'],
    ['C# is number #1 of #tags', 'C sharp is number number 1 of tags'],
    ['~5 kg ~ about', 'about 5 kg about'],
    ['10 m² and x^2 and 10^{-3}', '10 m squared and x to the power of 2 and 10 to the power of -3'],
    ['$5 and 5$ but $x$', '$5 and 5$ but x'],
    ['wait -- what --- now', 'wait – what – now'],
    ['a well-known -5 and 5-10, 10:30, 50%, and/or', 'a well-known -5 and 5-10, 10:30, 50%, and/or'],
    ['snake_case C:\\Users', 'snake case C: Users'],
    ['2+3=5，约~5公斤，20℃', '2加3等于5，约约5公斤，20摄氏度'],
    ['乔治·华盛顿', '乔治 华盛顿'],
  ])('%j', (text, said) => {
    const language = /\p{Script=Han}/u.test(text) ? 'zh' : 'en'
    expect(cleanForSpeech(text, { language })).toBe(said)
  })

  test('are said in the language of the text, or in the one that was asked for', () => {
    expect(cleanForSpeech('猫 & 狗')).toBe('猫和狗')
    expect(cleanForSpeech('A & B')).toBe('A and B')
    expect(cleanForSpeech('A & B', { language: 'zh-Hans' })).toBe('A和B')
    expect(cleanForSpeech('猫 & 狗', { language: 'en' })).toBe('猫 and 狗')
  })
})

describe('pictures and noise', () => {
  test.each([
    ['Hello 👋🏽 world 👩‍👩‍👧‍👦!', 'Hello world!'],
    ['Flags 🇨🇳🇩🇪 and keys 1️⃣ #️⃣', 'Flags and keys 1'],
    ['So good!!! Really??? 好！！！', 'So good! Really? 好！'],
    ['Nice (😊) and [👍]', 'Nice and'],
    ['✅ Done ★ ™ © ®', 'Done'],
    ['zero\u200bwidth soft\u00adhyphen nbsp\u00a0here bell\u0007', 'zerowidth softhyphen nbsp here bell'],
    ['  spaces   and\ttabs  \n\n  lines  ', 'spaces and tabs\nlines'],
    ['“Quotes” stay, (brackets) too: it’s "so".', '“Quotes” stay, (brackets) too: it’s "so".'],
    ['', ''],
    ['🎉', ''],
  ])('%j', (text, said) => {
    expect(cleanForSpeech(text)).toBe(said)
  })
})

describe('streams', () => {
  test('what is certain is given out at once', () => {
    const cleaner = new SpokenTextCleaner()
    expect(cleaner.push('There is')).toBe('There is')
    expect(cleaner.push(' a **dog')).toBe(' a dog')
    expect(cleaner.push('**.')).toBe('.')
    expect(cleaner.push('\n- it')).toBe('\nit')
    expect(cleaner.push(' h')).toBe('')
    expect(cleaner.push('ops')).toBe(' hops')
    expect(cleaner.finish()).toBe('')
  })

  test('half an emoji, half a link and half a tag wait for the rest', () => {
    const cleaner = new SpokenTextCleaner()
    expect(cleaner.push('a \ud83d')).toBe('a')
    expect(cleaner.push('\udc4d b [c](htt')).toBe(' b c')
    expect(cleaner.push('p://d) <thi')).toBe('')
    expect(cleaner.push('nk> no </th')).toBe('\n')
    expect(cleaner.push('ink>yes')).toBe('yes')
  })

  test('nothing is held back for ever', () => {
    for (const opening of ['[a](', '<a ', '| cell ', 'x ](']) {
      const cleaner = new SpokenTextCleaner()
      expect(cleaner.push(opening + 'word '.repeat(2000))).toContain('word word')
    }
  })

  const PARTS = [
    'word',
    'The end.',
    ' ',
    ' ',
    '\n',
    '\n\n',
    '**',
    '*',
    '_',
    '__',
    '`',
    '```',
    '~~',
    '~',
    '#',
    '## ',
    '- ',
    '+ ',
    '> ',
    '1. ',
    '[',
    ']',
    '](',
    '(',
    ')',
    '![',
    '[x] ',
    '[^1]',
    '[2]',
    '|',
    '| a | b |',
    '---',
    '|---|',
    '<',
    '>',
    '<b>',
    '</b>',
    '<br>',
    '<think>',
    '</think>',
    '<|x|>',
    '&',
    '&amp;',
    '&lt;',
    '&#65;',
    'https://a.b/c',
    'www.x.y',
    'a@b.c',
    '@',
    '$',
    '$5',
    '°C',
    '°',
    '^',
    '^2',
    '=',
    '->',
    '--',
    '👍',
    '👨‍👩‍👧',
    '1️⃣',
    '猫',
    '。',
    '，',
    '！！',
    '!!',
    '?',
    '...',
    '…',
    '5',
    '%',
    '\\',
    '·',
    '~5',
    'h',
    'ht',
    'ww',
    '\t',
    '{',
    '}',
    '"',
  ]

  test('how a stream is split changes nothing', () => {
    const random = new SeededRandom(7)
    for (let round = 0; round < 4000; round++) {
      const text = Array.from({ length: 1 + random.below(30) }, () => random.pick(PARTS)).join('')
      const whole = cleanForSpeech(text)
      const cleaner = new SpokenTextCleaner()
      let pieces = ''
      for (let at = 0; at < text.length; ) {
        const length = 1 + random.below(5)
        pieces += cleaner.push(text.slice(at, at + length))
        at += length
      }
      expect((pieces + cleaner.finish()).trimEnd(), JSON.stringify(text)).toBe(whole)
      expect(whole, JSON.stringify(text)).not.toMatch(
        /[*`|<>^{}\\]|\p{Extended_Pictographic}(?<![\d#*])| {2}|\n{2}|^\s/u,
      )
    }
  })
})
