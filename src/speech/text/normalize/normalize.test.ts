import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import * as chinese from './chinese-numbers.ts'
import * as english from './english-numbers.ts'
import { normalizeForSpeech } from './normalize.ts'

describe('numbers in words', () => {
  const file = new URL('../../../../test/golden/speech-text/numbers.json', import.meta.url)
  const rows = JSON.parse(readFileSync(file, 'utf8')) as [string, string, string, string][]

  test('English, as num2words has them', () => {
    expect(rows.length).toBe(297)
    for (const [digits, cardinal, ordinal] of rows) {
      expect(english.cardinal(digits)).toBe(cardinal)
      expect(english.ordinal(digits)).toBe(ordinal)
    }
  })

  test('Chinese, as cn2an has them but for 两', () => {
    for (const [digits, , , said] of rows) {
      expect(chinese.cardinal(digits).replaceAll('两', '二'), digits).toBe(said.replace(/^一十/, '十'))
    }
  })

  test('two is 两 before hundreds, thousands, and ten thousands', () => {
    expect(['2', '12', '20', '200', '2002', '20000', '22222', '200000000'].map(chinese.cardinal)).toEqual([
      '二',
      '十二',
      '二十',
      '两百',
      '两千零二',
      '两万',
      '两万两千两百二十二',
      '两亿',
    ])
  })

  test('numbers beyond all scales are read by digits', () => {
    expect(english.cardinal('1'.repeat(22))).toBe('one '.repeat(22).trim())
    expect(chinese.cardinal('1'.repeat(17))).toBe('一'.repeat(17))
  })
})

describe('English', () => {
  test.each([
    ['I see 3 dogs and 21 cats.', 'I see three dogs and twenty-one cats.'],
    ['1,234 of 1,000,000', 'one thousand two hundred thirty-four of one million'],
    ['pi is 3.14, version 1.2.3', 'pi is three point one four, version one point two point three'],
    ['at -5 or (-10)', 'at minus five or (minus ten)'],
    ['agent 007', 'agent zero zero seven'],
    ['id 12345678901', 'id one two three four five six seven eight nine zero one'],
    ['the 1st, 2nd, 3rd and 22nd', 'the first, second, third and twenty-second'],
    ['A4 paper and COVID-19, B2B', 'A four paper and COVID-nineteen, B two B'],
    // Years.
    ['in 1999, 2005 and 2024', 'in nineteen ninety-nine, two thousand five and twenty twenty-four'],
    ['in 1492 and 1905, since 1800', 'in fourteen ninety-two and nineteen oh five, since eighteen hundred'],
    ['the 1990s, the 1900s and the 80s', 'the nineteen nineties, the nineteen hundreds and the eighties'],
    ['1500 people', 'one thousand five hundred people'],
    ['1990–2000', 'nineteen ninety to two thousand'],
    // Dates.
    ['on 2024-11-05', 'on November fifth, twenty twenty-four'],
    [
      'on 11/5/2024 or 25/12/2023',
      'on November fifth, twenty twenty-four or December twenty-fifth, twenty twenty-three',
    ],
    ['Jan. 5, 2024 and March 3rd', 'January fifth, twenty twenty-four and March third'],
    ['5 May 2021, the 2nd of June', 'May fifth, twenty twenty-one, the second of June'],
    ['May 40 people come', 'May forty people come'],
    // Times.
    ['at 10:30, 10:05 and 10:00', "at ten thirty, ten oh five and ten o'clock"],
    ['7:00 pm, 7:15 AM, 5 p.m.', 'seven p m, seven fifteen a m, five p m'],
    ['a score of 3:2 and 16:9', 'a score of three to two and sixteen to nine'],
    // Money.
    [
      '$9.99, $1, $1.01, $0.50',
      'nine dollars and ninety-nine cents, one dollar, one dollar and one cent, fifty cents',
    ],
    ['$1,234 or $5 million', 'one thousand two hundred thirty-four dollars or five million dollars'],
    ['€5.00, £2.50, ¥3.5, 10€', 'five euros, two pounds and fifty pence, three point five yuan, ten euros'],
    ['$5-10 and US$3', 'five to ten dollars and three US dollars'],
    // Units.
    ['3 km, 1 kg, 2.5m, 5 m²', 'three kilometers, one kilogram, two point five meters, five square meters'],
    [
      '60 km/h at 20°C, 1℃, 90°',
      'sixty kilometers per hour at twenty degrees Celsius, one degree Celsius, ninety degrees',
    ],
    ['16 GB for 5% or 3.5 %', 'sixteen gigabytes for five percent or three point five percent'],
    ['5-10 km, 10%-20%', 'five to ten kilometers, ten percent to twenty percent'],
    ['an iPhone 5s and 4 Maps', 'an iPhone five s and four Maps'],
    // Fractions.
    ['1/2, 3/4, 2/3 and 5/8', 'one half, three quarters, two thirds and five eighths'],
    ['1½ cups, ¾ full', 'one and one half cups, three quarters full'],
    // Telephones.
    ['call 555-123-4567', 'call five five five, one two three, four five six seven'],
    ['+1 555 1234567', 'plus one, five five five, one two three four five six seven'],
    ['(555) 123-4567', 'five five five, one two three, four five six seven'],
    // Abbreviations.
    ['Dr. Smith vs. Mr. Jones, e.g. No. 5', 'doctor Smith versus mister Jones, for example number five'],
    ['St. Mary, cats, dogs, etc.', 'Saint Mary, cats, dogs, et cetera.'],
    ['no. 5 to say, not one', 'no. five to say, not one'],
    ['Nothing to do here; it stays.', 'Nothing to do here; it stays.'],
  ])('%s', (text, said) => {
    expect(normalizeForSpeech(text, 'en')).toBe(said)
  })
})

describe('Chinese', () => {
  test.each([
    ['我有3只猫和2个苹果，一共12个。', '我有三只猫和两个苹果，一共十二个。'],
    ['1,234人，10000人，20人', '一千两百三十四人，一万人，二十人'],
    ['圆周率是3.14，版本1.2.3', '圆周率是三点一四，版本一点二点三'],
    ['气温-5℃到10°C', '气温负五摄氏度到十摄氏度'],
    ['007号', '零零七号'],
    // Dates.
    ['2024年11月5日', '二零二四年十一月五日'],
    ['2024-11-05和2024/1/2', '二零二四年十一月五日和二零二四年一月二日'],
    ['1998年出生，住了2年', '一九九八年出生，住了两年'],
    ['12月25日，2月14号', '十二月二十五日，二月十四号'],
    // Times.
    ['10:30、10:00、10:05、2:00', '十点三十分、十点、十点零五分、两点'],
    ['14:05:09开始', '十四点零五分零九秒开始'],
    ['比分3:2', '比分三比二'],
    // Money.
    ['¥9.5，5元，$3，¥2万', '九点五元，五元，三美元，两万元'],
    // Units.
    ['3km，2kg，60km/h，5m²', '三公里，两公斤，六十公里每小时，五平方米'],
    ['50%的人，3.5%，5-10个', '百分之五十的人，百分之三点五，五到十个'],
    ['1/2和3/4，½', '二分之一和四分之三，二分之一'],
    // Ordinals.
    ['第3名，第12页', '第三名，第十二页'],
    // Telephones.
    ['电话是13800138000', '电话是幺三八零零幺三八零零零'],
    ['拨打110，致电010-12345678', '拨打幺幺零，致电零幺零幺二三四五六七八'],
    ['编号123456789', '编号一二三四五六七八九'],
    // Mixed.
    ['iPhone 15有256GB', 'iPhone 十五有两百五十六GB'],
    ['１２个，５０％', '十二个，百分之五十'],
    ['没有数字。', '没有数字。'],
  ])('%s', (text, said) => {
    expect(normalizeForSpeech(text, 'zh-Hans')).toBe(said)
  })
})

test('the language is told by the text or given', () => {
  expect(normalizeForSpeech('5')).toBe('five')
  expect(normalizeForSpeech('5', 'zh-Hant')).toBe('五')
  expect(normalizeForSpeech('5个', 'en')).toBe('five个')
})
