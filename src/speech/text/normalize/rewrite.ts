/** Rules that write out what a pattern finds. */

/** Groups that took no part are empty. Returning what was found leaves it as it is. */
export type Rewrite = readonly [pattern: RegExp, write: (found: string, ...groups: string[]) => string]

const LATIN = /[A-Za-z]/

/** Applies the rules in order. Words are set apart from Latin letters beside them. */
export function rewrite(text: string, rules: readonly Rewrite[]): string {
  return rules.reduce(
    (said, [pattern, write]) => said.replace(pattern, (found, ...rest) => writeApart(found, rest, write)),
    text,
  )
}

function writeApart(found: string, rest: unknown[], write: Rewrite[1]): string {
  const at = rest.findIndex((value) => typeof value === 'number')
  const offset = Number(rest[at])
  const whole = String(rest[at + 1])
  const groups = rest.slice(0, at).map((group) => (group === undefined ? '' : String(group)))
  const written = write(found, ...groups)
  if (written === found) return found
  const before = LATIN.test(whole.charAt(offset - 1)) && LATIN.test(written.charAt(0)) ? ' ' : ''
  const after = LATIN.test(whole.charAt(offset + found.length)) && LATIN.test(written.at(-1) ?? '') ? ' ' : ''
  return before + written + after
}
