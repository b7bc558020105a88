/** Chinese text for voices that know words only: numbers, dates, times, money and units in words. */
import { cardinal, count, decimal, digitByDigit, telephone } from './chinese-numbers.ts'
import { type Rewrite, rewrite } from './rewrite.ts'
import { UNIT, UNITS } from './units.ts'

const NUMBER = '((?<!\\d)(?<!\\d[.,])(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?)'
const CURRENCIES: Readonly<Record<string, string>> = {
  '¥': '元',
  '￥': '元',
  $: '美元',
  US$: '美元',
  '€': '欧元',
  '£': '英镑',
}
const CURRENCY = '(US\\$|[$€£¥￥])'
/** Common measure words; before others two is 二, which is understood. */
const MEASURE =
  '(?=[个只本张把条件位名杯瓶碗盘块片台辆座间层栋扇支根颗粒朵棵头匹双对副套组次遍回趟天周年月小分秒元角万亿千百种样份口家所封页首句段行点])'
const VULGAR_FRACTIONS: Readonly<Record<string, string>> = {
  '½': '二分之一',
  '⅓': '三分之一',
  '⅔': '三分之二',
  '¼': '四分之一',
  '¾': '四分之三',
}

const RULES: readonly Rewrite[] = [
  [/[０-９％：／－]/g, (wide) => narrow(wide)],
  [
    new RegExp(`[${Object.keys(VULGAR_FRACTIONS).join('')}]`, 'g'),
    (found) => VULGAR_FRACTIONS[found] ?? found,
  ],
  [
    /(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d/.-])/g,
    (found, year, month, day) =>
      isDay(month, day) ? `${digitByDigit(year)}年${cardinal(month)}月${cardinal(day)}日` : found,
  ],
  [/(?<!\d)(\d{4})(?= ?年)/g, (_, year) => digitByDigit(year)],
  [/(?<=[二三四五六七八九零一]年 ?)(\d{1,2})(?= ?月)/g, (_, month) => cardinal(month)],
  [
    /(?<!\d)(\d{1,2})(?= ?月)(?! ?月份?[内来后前])/g,
    (found, month) => (Number(month) <= 12 ? cardinal(month) : found),
  ],
  [/(?<=月 ?)(\d{1,2})(?= ?[日号])/g, (_, day) => cardinal(day)],
  [/(?<![\d:])(\d{1,2}):(\d{2})(?::(\d{2}))?(?![\d:])/g, time],
  [/(?<=\d) ?: ?(?=\d)/g, () => '比'],
  [
    /(电话|手机|号码|拨打|致电|热线|微信|QQ)(号?[码是为：: ]*)(\+?\d[\d -]*\d)/g,
    (_, word, between, digits) => word + between + telephone(digits.replace(/\D/g, '')),
  ],
  [/(?<!\d)1[3-9]\d{9}(?!\d)/g, (found) => telephone(found)],
  [/(?<!\d)0\d{2,3}-\d{7,8}(?!\d)/g, (found) => telephone(found.replace('-', ''))],
  [
    new RegExp(`${CURRENCY} ?${NUMBER}([万亿]?)`, 'g'),
    (_, sign, amount, magnitude) => spell(amount, magnitude !== '') + magnitude + CURRENCIES[sign],
  ],
  [
    /(?<![\d/.])(\d{1,3})\/(\d{1,3})(?![\d/.])/g,
    (_, part, whole) => `${cardinal(whole)}分之${cardinal(part)}`,
  ],
  [/(?<=[\d%℃°])[-–~～](?=\d)/g, () => '到'],
  [/(?<![\dA-Za-z])[-−](?=\d)/g, () => '负'],
  [new RegExp(`${NUMBER} ?%`, 'g'), (_, amount) => `百分之${spell(amount)}`],
  [
    new RegExp(`${NUMBER} ?${UNIT}`, 'g'),
    (_, amount, unit) => spell(amount, true) + (UNITS[unit]?.[2] ?? unit),
  ],
  [/第 ?(\d+)/g, (_, digits) => `第${cardinal(digits)}`],
  [/\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)+/g, (found) => spell(found)],
  [/(?<!\d)0\d+|\d{9,}/g, (found) => digitByDigit(found)],
  [new RegExp(`(\\d+)( ?)${MEASURE}`, 'g'), (_, digits) => count(digits)],
  [/\d+/g, (found) => cardinal(found)],
]

/** `2024年5月1日10:30，2个人花了¥9.5。` → `二零二四年五月一日十点三十分，两个人花了九点五元。` */
export function normalizeChinese(text: string): string {
  return rewrite(text, RULES)
}

/** Full-width digits and the signs that stand between digits. */
function narrow(wide: string): string {
  return String.fromCharCode(wide.charCodeAt(0) - 0xfee0)
}

function spell(amount: string, isCounted = false): string {
  const digits = amount.replaceAll(',', '')
  return isCounted && /^\d+$/.test(digits) ? count(digits) : decimal(digits)
}

function isDay(month: string, day: string): boolean {
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31
}

function time(found: string, hour: string, minute: string, second: string): string {
  if (Number(hour) > 24 || Number(minute) > 59 || Number(second) > 59) return found
  const said = (part: string): string => (/^0\d/.test(part) ? `零${cardinal(part)}` : cardinal(part))
  const end = minute === '00' && second === '' ? '' : `${minute === '00' ? '零' : said(minute)}分`
  const hours = Number(hour) === 2 ? '两' : cardinal(hour)
  return `${hours}点${end}${second === '' ? '' : `${said(second)}秒`}`
}
