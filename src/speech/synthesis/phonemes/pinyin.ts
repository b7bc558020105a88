/**
 * Chinese text to pinyin, split into initial, final and tone as Piper's pinyin voices have it.
 * Source of the symbols: OHF-Voice/piper1-gpl `phonemize_chinese.py` (Apache-2.0).
 */

/** `pinyin-pro`, as far as it is used: one entry for each syllable, other text in between. */
export type ToPinyin = (text: string) => readonly string[]

const INITIALS = ['zh', 'ch', 'sh', ...'bpmfdtnlgkhjqxrzcsyw']
const NO_INITIAL = 'Ø'

/** Names of Latin letters as Chinese speakers say them. */
const LETTERS: Readonly<Record<string, string>> = {
  a: 'ei1',
  b: 'bi4',
  c: 'sei1',
  d: 'di4',
  e: 'yi4',
  f: 'ai2 fu5',
  g: 'ji4',
  h: 'ei2 chi5',
  i: 'ai4',
  j: 'zhei4',
  k: 'kei4',
  l: 'ai2 lou5',
  m: 'ai2 mu5',
  n: 'en1',
  o: 'ou1',
  p: 'pi1',
  q: 'kiu1',
  r: 'a4',
  s: 'ai2 si5',
  t: 'ti4',
  u: 'you1',
  v: 'wei1',
  w: 'da2 bu5 liu5',
  x: 'ai2 ke5 si5',
  y: 'wai4',
  z: 'zei4',
}

/** Symbols in order: `n`, `i`, `3`, `h`, `ao`, `3`, `，`. Latin letters are spelled. */
export function pinyinSymbols(text: string, toPinyin: ToPinyin): string[] {
  return toPinyin(text).flatMap((part) => {
    const syllable = symbolsOfSyllable(part)
    return syllable ?? [...part].flatMap(symbolsOfCharacter)
  })
}

/** `hang2` is `h`, `ang`, `2`; `ai4` is `Ø`, `ai`, `4`; `lü4` is `l`, `v`, `4`. Undefined for what is no syllable. */
export function symbolsOfSyllable(text: string): string[] | undefined {
  const [, base, tone] = /^([a-zü]+)([0-5])$/.exec(text) ?? []
  if (base === undefined || tone === undefined) return undefined
  const initial = INITIALS.find((candidate) => base.startsWith(candidate) && base !== candidate)
  const final = base.slice(initial?.length ?? 0).replace('ü', 'v')
  return [initial ?? NO_INITIAL, final, tone === '0' ? '5' : tone]
}

function symbolsOfCharacter(character: string): string[] {
  const name = LETTERS[character.toLowerCase()]
  return name ? name.split(' ').flatMap((syllable) => symbolsOfSyllable(syllable) ?? []) : [character]
}
