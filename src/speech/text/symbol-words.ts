/** What symbols are called. */
import type { SpokenWord } from './speech-writer.ts'

const EQUALS: SpokenWord = ['equals', '等于']
const TO: SpokenWord = ['to', '到']
const AT_MOST: SpokenWord = ['at most', '小于等于']
const AT_LEAST: SpokenWord = ['at least', '大于等于']
const NOT_EQUAL: SpokenWord = ['not equal to', '不等于']

/** Symbols that are said wherever they stand. */
export const SYMBOLS: Readonly<Record<string, SpokenWord>> = {
  '&': ['and', '和'],
  '＆': ['and', '和'],
  '+': ['plus', '加'],
  '×': ['times', '乘'],
  '✕': ['times', '乘'],
  '÷': ['divided by', '除以'],
  '±': ['plus or minus', '正负'],
  '≈': ['about', '约'],
  '≠': NOT_EQUAL,
  '≤': AT_MOST,
  '≥': AT_LEAST,
  '∞': ['infinity', '无穷大'],
  '√': ['the square root of', '根号'],
  '²': ['squared', '平方'],
  '³': ['cubed', '立方'],
  '→': TO,
  '⇒': TO,
  '➜': TO,
  '➡': TO,
  '←': ['from', '来自'],
  '↔': ['to and from', '往返'],
  '↑': ['up', '上'],
  '↓': ['down', '下'],
  '℃': ['degrees Celsius', '摄氏度'],
  '℉': ['degrees Fahrenheit', '华氏度'],
  '°': ['degrees', '度'],
  '№': ['number', '编号'],
  '§': ['section', '第'],
}

/** Runs of `-`, `=`, `<` and `>`; undefined is no word. */
export const OPERATORS: Readonly<Record<string, SpokenWord | undefined>> = {
  '=': EQUALS,
  '==': EQUALS,
  '===': EQUALS,
  '<': ['less than', '小于'],
  '>': ['greater than', '大于'],
  '<=': AT_MOST,
  '>=': AT_LEAST,
  '->': TO,
  '-->': TO,
  '=>': TO,
  '==>': TO,
  '<-': ['from', '来自'],
  '<->': ['to and from', '往返'],
}

/** Of HTML, where small models fall into it. */
export const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  deg: '°',
  times: '×',
  rarr: '→',
}

export const ABOUT: SpokenWord = ['about', '约']
export const TIMES: SpokenWord = ['times', '乘']
export const NUMBER: SpokenWord = ['number', '第']
export const SHARP: SpokenWord = ['sharp', '井']
export const DONE: SpokenWord = ['done:', '已完成：']
export const NOT_DONE: SpokenWord = ['not done:', '未完成：']
export const CODE_OMITTED: SpokenWord = ['Code omitted.', '代码略。']
export const RANGE: SpokenWord = TO

/** `www.example.com/a` as a person would say it on the telephone, without the path. */
export function wordForAddress(address: string): SpokenWord {
  const [, host = '', rest = ''] = /^(?:https?:\/\/)?(?:www\.)?([^/?#]*)(.*)$/is.exec(address) ?? []
  const [english, chinese] = wordForHost(host)
  return /^\/?$/.test(rest) ? [english, chinese] : [`link to ${english}`, `${chinese}的链接`]
}

export function wordForHost(host: string): SpokenWord {
  return [host.replaceAll('.', ' dot '), host.replaceAll('.', '点')]
}
