/**
 * Sounds of the CMU dictionary in IPA, written as voices trained on espeak's `en-us` expect it: stress marks directly
 * before the vowel, long vowels with ː.
 */

/** By stress where it changes the sound: unstressed vowels are reduced. */
const VOWELS: Readonly<Record<string, readonly [unstressed: string, stressed: string]>> = {
  AA: ['ɑː', 'ɑː'],
  AE: ['æ', 'æ'],
  AH: ['ə', 'ʌ'],
  AO: ['ɔː', 'ɔː'],
  AW: ['aʊ', 'aʊ'],
  AY: ['aɪ', 'aɪ'],
  EH: ['ɛ', 'ɛ'],
  ER: ['ɚ', 'ɜː'],
  EY: ['eɪ', 'eɪ'],
  IH: ['ɪ', 'ɪ'],
  IY: ['i', 'iː'],
  OW: ['oʊ', 'oʊ'],
  OY: ['ɔɪ', 'ɔɪ'],
  UH: ['ʊ', 'ʊ'],
  UW: ['uː', 'uː'],
}

const CONSONANTS: Readonly<Record<string, string>> = {
  B: 'b',
  CH: 'tʃ',
  D: 'd',
  DH: 'ð',
  DX: 'ɾ',
  F: 'f',
  G: 'ɡ',
  HH: 'h',
  JH: 'dʒ',
  K: 'k',
  L: 'l',
  M: 'm',
  N: 'n',
  NG: 'ŋ',
  P: 'p',
  R: 'ɹ',
  S: 's',
  SH: 'ʃ',
  T: 't',
  TH: 'θ',
  V: 'v',
  W: 'w',
  Y: 'j',
  Z: 'z',
  ZH: 'ʒ',
}

const STRESS = ['', 'ˈ', 'ˌ']

/** A t between vowels, the second one unstressed, is a flap: "water", "bottle". */
const FLAP = /(?<=[AEIOU][A-Z]\d (?:R )?)T(?= (?:[AEIOU][A-Z]0))/g

/** Sounds such as `HH AH0 L OW1`, separated by spaces, to `həlˈoʊ`. Unknown sounds are left out. */
export function ipaOfArpabet(sounds: string): string {
  return sounds
    .replace(FLAP, 'DX')
    .split(' ')
    .map((sound) => {
      const [, name = '', digit = '0'] = /^([A-Z]+)(\d?)$/.exec(sound) ?? []
      const stress = Number(digit)
      const vowel = VOWELS[name]
      return vowel ? `${STRESS[stress] ?? ''}${vowel[stress > 0 ? 1 : 0]}` : (CONSONANTS[name] ?? '')
    })
    .join('')
}
