/** Tells the language of a text by its script, so that voices and screen readers pronounce it rightly. */

/** @param expected For scripts that many languages share: what was asked for, if that is written so. */
export function languageOfText(text: string, expected: string): string {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  if (/\p{Script=Han}/u.test(text)) return 'zh'
  if (!/\p{L}/u.test(text)) return expected
  return expected === 'zh' || expected === 'ja' || expected === 'ko' ? 'en' : expected
}
