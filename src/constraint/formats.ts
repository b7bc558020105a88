/** Formats of JSON Schema that texts can be held to, as patterns; each accepts a part of what the format allows. */

const TWO_DIGITS_TO_59 = '[0-5][0-9]'
const HOUR = '(?:[01][0-9]|2[0-3])'
const YEAR = '[0-9]{4}'
/** Divisible by four, and by four hundred where by a hundred. */
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
const DATE = `(?:${YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|${LEAP_YEAR}-02-29)`
const TIME = `${HOUR}:${TWO_DIGITS_TO_59}:${TWO_DIGITS_TO_59}(?:\\.[0-9]{1,6})?(?:Z|[+-]${HOUR}:${TWO_DIGITS_TO_59})`
/** Short enough that all labels together keep the limit of 253 characters. */
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,38}[A-Za-z0-9])?'
const HOST = `${LABEL}(?:\\.${LABEL}){0,5}`
const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const IPV4 = `${BYTE}(?:\\.${BYTE}){3}`
const GROUP = '[0-9A-Fa-f]{1,4}'
/** RFC 3986: letters that stand for themselves in a path, and escapes. */
const PATH_LETTER = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
const DURATION_TIME =
  'T(?:[0-9]{1,4}H(?:[0-9]{1,4}M(?:[0-9]{1,4}S)?)?|[0-9]{1,4}M(?:[0-9]{1,4}S)?|[0-9]{1,4}S)'
const DURATION_DATE =
  '(?:[0-9]{1,4}Y(?:[0-9]{1,4}M(?:[0-9]{1,4}D)?)?|[0-9]{1,4}M(?:[0-9]{1,4}D)?|[0-9]{1,4}D)'

/** Eight groups, or fewer with a gap in one place. */
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  ...Array.from({ length: 7 }, (_, before) => {
    const head = before === 0 ? '' : `(?:${GROUP}:){0,${before - 1}}${GROUP}`
    const after = 6 - before
    const tail = after === 0 ? '' : `(?:(?:${GROUP}:){0,${after - 1}}${GROUP})?`
    return `${head}::${tail}`
  }),
].join('|')

const PATTERNS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}T${TIME}`,
  duration: `P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|[0-9]{1,4}W)`,
  email: `[A-Za-z0-9_+-]{1,20}(?:\\.[A-Za-z0-9_+-]{1,20}){0,2}@${LABEL}(?:\\.${LABEL}){0,3}\\.[A-Za-z]{2,20}`,
  hostname: HOST,
  ipv4: IPV4,
  ipv6: IPV6,
  uri: `[A-Za-z][A-Za-z0-9+.-]{1,20}://${HOST}(?::[1-9][0-9]{0,3})?(?:/${PATH_LETTER}*)*(?:\\?(?:${PATH_LETTER}|[/?])*)?(?:#(?:${PATH_LETTER}|[/?])*)?`,
  uuid: '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
}

export const FORMATS: readonly string[] = Object.keys(PATTERNS)

export function formatPattern(format: string): string | undefined {
  return Object.hasOwn(PATTERNS, format) ? `^(?:${PATTERNS[format]})$` : undefined
}
