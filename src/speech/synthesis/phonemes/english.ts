/** English text to IPA, from a dictionary, and by a guess where that ends. */
import { ipaOfArpabet } from './arpabet.ts'
import type { GuessSounds } from './letter-network.ts'

export type EnglishDictionary = Readonly<Record<string, string>>

/** Words that bear no stress in a sentence. */
const WEAK = new Set(
  'a an the and or but nor as at by for from in into of on onto to with than that this these those am is are was were be been being has have had do does did can could will would shall should may might must i you he she it we they me him her us them my your his its our their what which who whom whose if then so not no there'.split(
    ' ',
  ),
)

/** How letters are named, for words without vowels and for capitals in a row. */
const LETTERS: Readonly<Record<string, string>> = {
  a: 'EY1',
  b: 'B IY1',
  c: 'S IY1',
  d: 'D IY1',
  e: 'IY1',
  f: 'EH1 F',
  g: 'JH IY1',
  h: 'EY1 CH',
  i: 'AY1',
  j: 'JH EY1',
  k: 'K EY1',
  l: 'EH1 L',
  m: 'EH1 M',
  n: 'EH1 N',
  o: 'OW1',
  p: 'P IY1',
  q: 'K Y UW1',
  r: 'AA1 R',
  s: 'EH1 S',
  t: 'T IY1',
  u: 'Y UW1',
  v: 'V IY1',
  w: 'D AH1 B AH0 L Y UW2',
  x: 'EH1 K S',
  y: 'W AY1',
  z: 'Z IY1',
}

const VOICELESS = /(?:^| )(?:P|T|K|F|TH)$/
const HISSING = /(?:^| )(?:S|Z|SH|ZH|CH|JH)$/
const LONGEST_ACRONYM = 5

export class EnglishPhonemes {
  readonly #dictionary: EnglishDictionary
  readonly #guess: GuessSounds

  constructor(dictionary: EnglishDictionary, guess: GuessSounds) {
    this.#dictionary = dictionary
    this.#guess = guess
  }

  /** Words become IPA; everything else, such as spaces and punctuation, stays. */
  transcribe(text: string): string {
    const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[’‘]/g, "'")
    return plain.replace(/[A-Za-z]+(?:'[A-Za-z]+)*/g, (word) => this.#word(word))
  }

  #word(word: string): string {
    const lower = word.toLowerCase()
    const ipa = ipaOfArpabet(this.#sounds(word, lower))
    return WEAK.has(lower) ? ipa.replace('ˈ', '') : ipa
  }

  #sounds(word: string, lower: string): string {
    const known = this.#known(lower)
    const isAcronym = /^[A-Z]{2,}$/.test(word) && word.length <= LONGEST_ACRONYM
    if (known !== undefined && !(isAcronym && !/[AEIOUY]/.test(word))) return known
    if (isAcronym || !/[aeiouy]/.test(lower)) return spell(lower)
    const [stem = '', ending = ''] = lower.endsWith("'s") ? [lower.slice(0, -2), 's'] : [lower]
    const sounds = this.#known(stem) ?? this.#guess(stem.replaceAll("'", ''))
    return ending ? withEnding(sounds) : sounds
  }

  #known(word: string): string | undefined {
    return Object.hasOwn(this.#dictionary, word) ? this.#dictionary[word] : undefined
  }
}

function spell(word: string): string {
  return [...word].map((letter) => LETTERS[letter] ?? '').join(' ')
}

/** The 's of "dog's", "cat's" and "fox's". */
function withEnding(sounds: string): string {
  if (HISSING.test(sounds)) return `${sounds} IH0 Z`
  return VOICELESS.test(sounds) ? `${sounds} S` : `${sounds} Z`
}
