/** Which characters are letters of what, for rules that differ between English and Chinese. */

const HAN = /\p{Script=Han}/u
const SPEAKABLE = /[\p{L}\p{N}]/u

/** Whether a text has anything that can be said: a letter or a digit. */
export function isSpeakable(text: string): boolean {
  return SPEAKABLE.test(text)
}

export function isHan(character: string | undefined): boolean {
  return character !== undefined && HAN.test(character)
}

export function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character)
}

/** Whether a language tag is of Chinese: `zh`, `zh-Hant`, `cmn`, `yue`. */
export function isChineseTag(tag: string | undefined): boolean {
  return tag !== undefined && /^(?:zh|cmn|yue)(?:[-_]|$)/i.test(tag)
}
