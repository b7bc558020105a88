/** What is written and what is said: numbers, dates, times, money and units in words, for voices that know words only. */
import type { LanguageTag } from '../../types.ts'
import { isChineseTag, isHan } from '../scripts.ts'
import { normalizeChinese } from './chinese.ts'
import { normalizeEnglish } from './english.ts'

/**
 * Punctuation and everything that is not a number stays. Text of both languages is read in Chinese as soon as it has
 * Chinese characters, as its speakers do.
 *
 * @param language Default: told by the text. Languages other than Chinese are read as English.
 * @example
 * normalizeForSpeech('It is 3 km.') // 'It is three kilometers.'
 */
export function normalizeForSpeech(text: string, language?: LanguageTag): string {
  const isChinese = language === undefined || language === 'auto' ? isHan(text) : isChineseTag(language)
  return isChinese ? normalizeChinese(text) : normalizeEnglish(text)
}
