/** Numbers as English words. Digits come as text, so that no size is too large and no zero is lost. */

const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const TENS = 'zero ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const SCALES = ['', 'thousand', 'million', 'billion', 'trillion', 'quadrillion', 'quintillion']
/** Longer numbers are read digit by digit. */
const MAX_DIGITS = SCALES.length * 3
const IRREGULAR_ORDINALS: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
}

/** `1203` → one thousand two hundred three. */
export function cardinal(digits: string): string {
  const trimmed = digits.replace(/^0+(?=\d)/, '')
  if (trimmed.length > MAX_DIGITS) return digitByDigit(digits)
  if (trimmed === '0') return 'zero'
  const groups: string[] = []
  for (let end = trimmed.length, scale = 0; end > 0; end -= 3, scale++) {
    const value = Number(trimmed.slice(Math.max(0, end - 3), end))
    if (value > 0) groups.unshift(`${belowThousand(value)} ${SCALES[scale] ?? ''}`.trim())
  }
  return groups.join(' ')
}

function belowThousand(value: number): string {
  const hundreds = Math.floor(value / 100)
  const rest = value % 100
  return [hundreds > 0 && `${ONES[hundreds]} hundred`, rest > 0 && belowHundred(rest)]
    .filter(Boolean)
    .join(' ')
}

function belowHundred(value: number): string {
  if (value < 20) return ONES[value] ?? ''
  const tens = TENS[Math.floor(value / 10)] ?? ''
  return value % 10 === 0 ? tens : `${tens}-${ONES[value % 10]}`
}

/** `21` → twenty-first. */
export function ordinal(digits: string): string {
  return cardinal(digits).replace(/[a-z]+$/, (last) => {
    const irregular = IRREGULAR_ORDINALS[last]
    return irregular ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`)
  })
}

/** `007` → zero zero seven. */
export function digitByDigit(digits: string): string {
  return [...digits].map((digit) => ONES[Number(digit)]).join(' ')
}

/** `3.140` → three point one four zero; several points are read alike. */
export function decimal(text: string): string {
  const [whole = '0', ...parts] = text.split('.')
  return [cardinal(whole || '0'), ...parts.map(digitByDigit)].join(' point ')
}

/** `1999` → nineteen ninety-nine, `2005` → two thousand five, `1900` → nineteen hundred. */
export function year(digits: string): string {
  const century = Number(digits.slice(0, 2))
  const rest = Number(digits.slice(2))
  if (century === 20 && rest < 10) return cardinal(digits)
  if (rest === 0) return `${belowHundred(century)} hundred`
  return `${belowHundred(century)} ${rest < 10 ? `oh ${ONES[rest]}` : belowHundred(rest)}`
}

/** `90` → nineties. */
export function plural(words: string): string {
  return words.endsWith('y') ? `${words.slice(0, -1)}ies` : `${words}s`
}

/** The denominator of a fraction: half, quarters, fifths. */
export function fractionPart(numerator: string, denominator: string): string {
  const isOne = /^0*1$/.test(numerator)
  if (denominator === '2') return isOne ? 'half' : 'halves'
  if (denominator === '4') return isOne ? 'quarter' : 'quarters'
  return isOne ? ordinal(denominator) : `${ordinal(denominator)}s`
}
