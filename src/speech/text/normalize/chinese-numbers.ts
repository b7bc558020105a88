/** Numbers as Chinese words. Digits come as text, so that no size is too large and no zero is lost. */

const DIGITS = '零一二三四五六七八九'
const PLACES = ['', '十', '百', '千']
/** Longer numbers are read digit by digit. */
const MAX_DIGITS = 16

/** `12030` → 一万两千零三十. Two is 两 before 百, 千, 万 and 亿. */
export function cardinal(digits: string): string {
  const trimmed = digits.replace(/^0+(?=\d)/, '')
  if (trimmed.length > MAX_DIGITS) return digitByDigit(digits)
  // 十五, not 一十五.
  return trimmed === '0' ? '零' : spell(trimmed).replace(/^一十/, '十')
}

function spell(digits: string): string {
  if (digits.length <= 4) return belowTenThousand(digits)
  const places = digits.length > 8 ? 8 : 4
  const high = spell(digits.slice(0, -places).replace(/^0+/, ''))
  const low = digits.slice(-places)
  const said = high === '' ? '' : `${high === '二' ? '两' : high}${places === 8 ? '亿' : '万'}`
  if (Number(low) === 0) return said
  return said + (low.startsWith('0') && said !== '' ? '零' : '') + spell(low.replace(/^0+/, ''))
}

function belowTenThousand(group: string): string {
  let said = ''
  let needsZero = false
  for (const [index, digit] of [...group].entries()) {
    if (digit === '0') {
      needsZero ||= said !== ''
      continue
    }
    if (needsZero) said += '零'
    needsZero = false
    const place = group.length - 1 - index
    said += (digit === '2' && place >= 2 ? '两' : DIGITS[Number(digit)]) + (PLACES[place] ?? '')
  }
  return said
}

/** `2024` → 二零二四. */
export function digitByDigit(digits: string): string {
  return [...digits].map((digit) => DIGITS[Number(digit)]).join('')
}

/** As telephone numbers are read: one is 幺. */
export function telephone(digits: string): string {
  return digitByDigit(digits).replaceAll('一', '幺')
}

/** `3.14` → 三点一四; several points are read alike. */
export function decimal(text: string): string {
  const [whole = '0', ...parts] = text.split('.')
  return [cardinal(whole || '0'), ...parts.map(digitByDigit)].join('点')
}

/** Before a measure word two is 两: 两个, but 十二个 and 二十个. */
export function count(digits: string): string {
  return /^0*2$/.test(digits) ? '两' : cardinal(digits)
}
