/** What is said of a look, if anything: in every mode only what is worth hearing. Pure but for the words of the language. */
import { arrangeAhead, isHazard } from '../modes/ahead.ts'
import type { ModelAbility } from '../modes/model-ability.ts'
import type { Mode } from '../modes/modes.ts'
import type { Language } from '../texts/text-table.ts'
import { changesBetween, listOf, phrasesOf } from './told-changes.ts'

export interface Look {
  readonly mode: Mode
  readonly ability: ModelAbility
  /** What the model said of the scene before, in this mode; undefined at the first look. */
  readonly before: string | undefined
  readonly now: string
}

export interface Told {
  readonly text: string
  readonly language: Language
  /** Worth an interruption. */
  readonly isUrgent: boolean
}

/** The words around what changed, in the language of the answer. */
export interface TellWords {
  readonly appeared: (things: string, language: Language) => string
  readonly gone: (things: string, language: Language) => string
}

/** Undefined: nothing that was not said before. */
export function tell(look: Look, words: TellWords): Told | undefined {
  const now = look.now.trim()
  if (now === '' || isSame(look.before, now)) return undefined
  const language: Language = /\p{Script=Han}/u.test(now) ? 'zh' : 'en'
  if (look.mode === 'read' || look.mode === 'find') return { text: now, language, isUrgent: false }
  // A model that was asked for changes has compared by itself.
  if (look.mode === 'changed' && look.ability === 'instructions') {
    const isNothing = look.before !== undefined && NO_CHANGE.test(now)
    return isNothing ? undefined : { text: now, language, isUrgent: false }
  }
  return look.mode === 'ahead'
    ? tellAhead(look, now, language, words)
    : tellChanges(look, now, language, words)
}

const NO_CHANGE =
  /^(?:no (?:significant |visible )?changes?\b|nothing (?:has )?changed|没有(?:明显)?变化|无变化)/i

function isSame(before: string | undefined, now: string): boolean {
  const bare = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  return before !== undefined && bare(before) === bare(now)
}

function tellChanges({ before }: Look, now: string, language: Language, words: TellWords): Told | undefined {
  const { isNew, isGone, isAllNew } = changesBetween(before ?? '', now)
  if (before === undefined || isAllNew) return { text: now, language, isUrgent: false }
  return told(isNew, isGone, language, words)
}

/** Directions and hazards are put in order here, unless the model was asked to. */
function tellAhead(
  { before, ability }: Look,
  now: string,
  language: Language,
  words: TellWords,
): Told | undefined {
  const { isNew, isGone, isAllNew } = changesBetween(before ?? '', now)
  const isWhole = before === undefined || isAllNew
  if (ability === 'instructions') {
    if (isNew.length === 0) return undefined
    return { text: now, language, isUrgent: isNew.some(isHazard) }
  }
  if (!isWhole) return told(arrangeAhead(isNew), isGone, language, words)
  const phrases = phrasesOf(now)
  // Nothing but an introduction, such as "Nothing.": as it is.
  const text = phrases.length === 0 ? now : `${sentenceOf(listOf(arrangeAhead(phrases), language), language)}`
  return { text, language, isUrgent: phrases.some(isHazard) }
}

function told(
  isNew: readonly string[],
  isGone: readonly string[],
  language: Language,
  words: TellWords,
): Told | undefined {
  const parts = [
    isNew.length > 0 ? words.appeared(listOf(isNew, language), language) : '',
    isGone.length > 0 ? words.gone(listOf(isGone, language), language) : '',
  ].filter((part) => part !== '')
  if (parts.length === 0) return undefined
  return { text: parts.join(language === 'zh' ? '' : ' '), language, isUrgent: isNew.some(isHazard) }
}

function sentenceOf(list: string, language: Language): string {
  return `${list.charAt(0).toUpperCase()}${list.slice(1)}${language === 'zh' ? '。' : '.'}`
}
