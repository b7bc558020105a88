/** Dictionaries of languages, loaded when a voice speaks them. */
import { EnglishPhonemes } from './english.ts'
import type { GuessSounds } from './letter-network.ts'
import { pinyinSymbols } from './pinyin.ts'

export async function loadEnglish(guess: GuessSounds): Promise<EnglishPhonemes> {
  const { dictionary } = await import('cmu-pronouncing-dictionary')
  return new EnglishPhonemes(dictionary, guess)
}

/** Tones as in the dictionary: voices learn by themselves how neighbours change them. */
export async function loadPinyin(): Promise<(text: string) => string[]> {
  const { pinyin } = await import('pinyin-pro')
  return (text) =>
    pinyinSymbols(text, (part) =>
      pinyin(part, { type: 'array', toneType: 'num', toneSandhi: false, nonZh: 'consecutive' }),
    )
}
