/** English text for voices that know words only: numbers, dates, times, money, units and abbreviations in words. */
import { cardinal, decimal, digitByDigit, fractionPart, ordinal, plural, year } from './english-numbers.ts'
import { type Rewrite, rewrite } from './rewrite.ts'
import { UNIT, UNITS } from './units.ts'

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)
const MONTH = `(${MONTHS.map((name) => `${name}|${name.slice(0, 3)}\\.?`).join('|')}|Sept\\.?)`
const NUMBER = '((?<!\\d)(?<!\\d[.,])(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?)'
/** One, several, and the hundredth part. */
const CURRENCIES: Readonly<Record<string, readonly [string, string, string?, string?]>> = {
  $: ['dollar', 'dollars', 'cent', 'cents'],
  US$: ['US dollar', 'US dollars', 'cent', 'cents'],
  '€': ['euro', 'euros', 'cent', 'cents'],
  '£': ['pound', 'pounds', 'penny', 'pence'],
  '¥': ['yuan', 'yuan'],
  '￥': ['yuan', 'yuan'],
  '₹': ['rupee', 'rupees'],
}
const CURRENCY = '(US\\$|[$€£¥￥₹])'
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  mr: 'mister',
  mrs: 'missus',
  ms: 'miz',
  dr: 'doctor',
  prof: 'professor',
  'e.g': 'for example',
  'i.e': 'that is',
  vs: 'versus',
  approx: 'approximately',
  fig: 'figure',
  jr: 'junior',
  sr: 'senior',
}
const VULGAR_FRACTIONS: Readonly<Record<string, string>> = {
  '½': 'one half',
  '⅓': 'one third',
  '⅔': 'two thirds',
  '¼': 'one quarter',
  '¾': 'three quarters',
  '⅕': 'one fifth',
  '⅛': 'one eighth',
  '⅜': 'three eighths',
  '⅝': 'five eighths',
  '⅞': 'seven eighths',
}
const VULGAR = `([${Object.keys(VULGAR_FRACTIONS).join('')}])`

const RULES: readonly Rewrite[] = [
  [
    /\b(mrs?|ms|dr|prof|e\.g|i\.e|vs|approx|fig|jr|sr)\./gi,
    (found, name) => ABBREVIATIONS[name.toLowerCase()] ?? found,
  ],
  [/\betc\.(?= [a-z]|,)|\betc(?=\.)/g, () => 'et cetera'],
  [/\bNos?\. ?(?=\d)/g, () => 'number '],
  [/\bSt\. (?=[A-Z])/g, () => 'Saint '],
  [new RegExp(`(\\d) ?${VULGAR}`, 'g'), (_, whole, fraction) => `${whole} and ${VULGAR_FRACTIONS[fraction]}`],
  [new RegExp(VULGAR, 'g'), (_, fraction) => VULGAR_FRACTIONS[fraction] ?? ''],
  [/(?<![\d-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])/g, (found, y, month, day) => date(found, day, month, y)],
  [
    // 11/5/2024; the day comes first where the first number is no month.
    /(?<![\d/])(\d{1,2})\/(\d{1,2})\/(\d{4})(?![\d/])/g,
    (found, first, second, y) =>
      Number(first) > 12 ? date(found, first, second, y) : date(found, second, first, y),
  ],
  [
    new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?\\b(?:,? ((?:1\\d|20)\\d\\d)\\b)?(?!:)`, 'g'),
    (found, month, day, y) => date(found, day, monthNumber(month), y),
  ],
  [
    new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)? ${MONTH}(?![a-z])(?:,? ((?:1\\d|20)\\d\\d)\\b)?`, 'g'),
    (found, day, month, y) => date(found, day, monthNumber(month), y),
  ],
  [/(?<![\d:])(\d{1,2}):(\d{2})(?: ?([ap])\.?m\b\.?)?(?![\d:])/gi, time],
  [/\b(\d{1,2}) ?([ap])\.?m\b\.?/gi, (_, hour, half) => `${cardinal(hour)} ${half.toLowerCase()} m`],
  [/(?<=\d):(?=\d)/g, () => ' to '],
  // A plus sign, an area code in brackets, or groups of three and four.
  [/(?<![\w.-])(?:\+\d[\d -]{6,16}\d|\(\d{3}\) ?\d{3}-\d{4}|(?:\d{3}-)?\d{3}-\d{4})(?![\w-])/g, telephone],
  [
    new RegExp(`${CURRENCY} ?${NUMBER}[-–](\\d[\\d,.]*\\d|\\d)`, 'g'),
    (_, sign, low, high) => `${spell(low)} to ${spell(high)} ${CURRENCIES[sign]?.[1]}`,
  ],
  [
    new RegExp(`${CURRENCY} ?${NUMBER}(?: (thousand|million|billion|trillion))?`, 'g'),
    (_, sign, amount, magnitude) => money(sign, amount, magnitude),
  ],
  [new RegExp(`${NUMBER} ?([$€£])`, 'g'), (_, amount, sign) => money(sign, amount, '')],
  [/\b(\d+)(?:st|nd|rd|th)\b/gi, (_, digits) => ordinal(digits)],
  [
    /\b(1\d|20)(\d0)s\b/g,
    (_, century, decade) =>
      decade === '00' ? plural(year(century + decade)) : `${cardinal(century)} ${plural(cardinal(decade))}`,
  ],
  [/(?<![\d.])'?([2-9]0)s\b/g, (_, decade) => plural(cardinal(decade))],
  [
    /(?<![\d/.,])(\d{1,3})\/(\d{1,3})(?![\d/.]*\d)/g,
    (found, part, whole) => (Number(whole) > 1 ? `${cardinal(part)} ${fractionPart(part, whole)}` : found),
  ],
  [/(?<=[\d%])[-–~](?=\d)/g, () => ' to '],
  [
    new RegExp(`${NUMBER} ?${UNIT}`, 'g'),
    (_, amount, unit) => `${spell(amount)} ${UNITS[unit]?.[isOne(amount) ? 0 : 1]}`,
  ],
  [new RegExp(`${NUMBER} ?%`, 'g'), (_, amount) => `${spell(amount)} percent`],
  [/(?<=^|[\s(])[-−](?=\d)/g, () => 'minus '],
  [
    /\b(in|since|by|of|from|until|till|year|around|before|after) (1[1-9]\d\d)\b(?![,.]\d)/gi,
    (_, word, y) => `${word} ${year(y)}`,
  ],
  [/(?<![\d.,])(?:19|20)\d\d(?![,.]?\d)/g, (y) => year(y)],
  [/\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)+/g, (found) => spell(found)],
  [/\b0\d+|\d{10,}/g, (found) => digitByDigit(found)],
  [/\d+/g, (found) => cardinal(found)],
]

/** `It is 3 km and costs $9.99.` → `It is three kilometers and costs nine dollars and ninety-nine cents.` */
export function normalizeEnglish(text: string): string {
  return rewrite(text, RULES)
}

function spell(amount: string): string {
  return decimal(amount.replaceAll(',', ''))
}

function isOne(amount: string): boolean {
  return Number(amount) === 1
}

function monthNumber(name: string): string {
  return String(MONTHS.findIndex((month) => month.startsWith(name.slice(0, 3))) + 1)
}

function date(found: string, day: string, month: string, inYear: string): string {
  const name = MONTHS[Number(month) - 1]
  if (name === undefined || Number(day) < 1 || Number(day) > 31) return found
  return `${name} ${ordinal(day)}${inYear === '' ? '' : `, ${year(inYear)}`}`
}

/** `10:05 am` → ten oh five a m; on the hour: seven p m, or ten o'clock. */
function time(found: string, hour: string, minute: string, half: string): string {
  if (Number(hour) > 24 || Number(minute) > 59) return found
  const after = half === '' ? '' : ` ${half.toLowerCase()} m`
  if (minute === '00') return cardinal(hour) + (after || " o'clock")
  return `${cardinal(hour)} ${minute.startsWith('0') ? `oh ${cardinal(minute)}` : cardinal(minute)}${after}`
}

function telephone(found: string): string {
  const groups = found.match(/\d+/g) ?? []
  return (found.startsWith('+') ? 'plus ' : '') + groups.map(digitByDigit).join(', ')
}

function money(sign: string, amount: string, magnitude: string): string {
  const [one, several, part, parts] = CURRENCIES[sign] ?? CURRENCIES['$'] ?? ['', '']
  if (magnitude !== '') return `${spell(amount)} ${magnitude} ${several}`
  const [whole = '0', hundredths] = amount.replaceAll(',', '').split('.')
  if (hundredths === undefined || Number(hundredths) === 0)
    return `${cardinal(whole)} ${isOne(whole) ? one : several}`
  if (part === undefined || hundredths.length !== 2) return `${spell(amount)} ${several}`
  const small = `${cardinal(hundredths)} ${isOne(hundredths) ? part : parts}`
  return isOne(whole) || Number(whole) > 0
    ? `${cardinal(whole)} ${isOne(whole) ? one : several} and ${small}`
    : small
}
