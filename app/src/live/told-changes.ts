/**
 * What of a new description is worth telling to somebody who heard the one before: what is new, and what is no longer
 * there. Works on phrases, as small models describe the same thing in the same words. Pure.
 */
import type { Language } from '../texts/text-table.ts'

export interface Changes {
  /** Sentences of what was not there before, in the model's own words; empty: nothing new. */
  readonly isNew: readonly string[]
  /** What is no longer mentioned. */
  readonly isGone: readonly string[]
  /** Hardly anything is as before: the new description is told whole. */
  readonly isAllNew: boolean
}

/** Beginnings that say nothing of the scene. */
const OPENING =
  /^(?:i (?:can )?see|there (?:is|are)|the (?:image|picture|photo|scene) (?:shows|features|contains|depicts)|here (?:is|are)|我看到|图中有|图里有|画面中有|有)[\s:：]*/i
/** Where phrases end: marks of sentences and lists, and "and" between things. */
const BREAK = /[.!?;,。！？；，、\n]+|\s+and\s+|以及|还有/
/** Words that are no evidence of the same thing. */
const EMPTY_WORDS = new Set(
  'a an the is are was there and of at on in to with it its this that some one i see can also which has have 的 了 在 有 是 一 个 和'.split(
    ' ',
  ),
)
/** Share of a phrase's words that stood in one phrase before, from which on it is the same thing. */
const SAME_SHARE = 0.7

export function changesBetween(before: string, now: string): Changes {
  const old = phrasesOf(before)
  const current = phrasesOf(now)
  const oldWords = old.map(wordsOf)
  const currentWords = current.map(wordsOf)
  const isNew = current.filter((_, index) => !isKnown(currentWords[index] ?? [], oldWords))
  const isGone = old.filter((_, index) => !isKnown(oldWords[index] ?? [], currentWords))
  return { isNew, isGone, isAllNew: isNew.length > 0 && isNew.length === current.length }
}

/** Phrases of a description, without what introduces them. */
export function phrasesOf(text: string): string[] {
  return text
    .split(BREAK)
    .map((phrase) => phrase.trim().replace(OPENING, '').trim())
    .filter((phrase) => wordsOf(phrase).length > 0)
}

function isKnown(words: readonly string[], phrases: readonly (readonly string[])[]): boolean {
  return phrases.some((phrase) => {
    const shared = words.filter((word) => phrase.includes(word)).length
    // Both ways: "a dog" is not "a dog in a car", and the other way round.
    return shared >= SAME_SHARE * words.length && shared >= SAME_SHARE * phrase.length
  })
}

/** Words of a phrase; single characters of Chinese. */
function wordsOf(phrase: string): string[] {
  const words = phrase.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => !EMPTY_WORDS.has(word))
}

const LISTS: Readonly<Record<Language, Intl.ListFormat>> = {
  en: new Intl.ListFormat('en', { type: 'conjunction' }),
  zh: new Intl.ListFormat('zh', { type: 'conjunction' }),
}

/** "a dog on the left and a bus": phrases as a list of the language. */
export function listOf(phrases: readonly string[], language: Language): string {
  return LISTS[language].format(phrases)
}
