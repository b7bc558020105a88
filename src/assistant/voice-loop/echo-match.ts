/** Whether what the microphone heard is what we are saying: the last filter against hearing oneself. */
import { normalizeForSpeech } from '../../speech/text/normalize/normalize.ts'

/** Share of the heard words that must be ours, in our order. Recognisers get some words of an echo wrong. */
const ECHO_SHARE = 0.6

/**
 * @param heard What was recognised.
 * @param saying What we said last, say now and have begun to prepare.
 */
export function isEcho(heard: string, saying: string): boolean {
  const words = wordsOf(heard)
  return words.length > 0 && commonLength(words, wordsOf(saying)) >= ECHO_SHARE * words.length
}

/** Words in lower case and Han characters one by one, numbers in words. */
function wordsOf(text: string): string[] {
  const spoken = normalizeForSpeech(text).normalize('NFKC').toLowerCase().replace(/['’]/g, '')
  return spoken.match(/\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu) ?? []
}

/** Length of the longest common subsequence. */
function commonLength(first: readonly string[], second: readonly string[]): number {
  let above = new Array<number>(second.length + 1).fill(0)
  for (const word of first) {
    const row = [0]
    for (const [index, other] of second.entries()) {
      const best = Math.max(above[index + 1] ?? 0, row[index] ?? 0)
      row.push(word === other ? (above[index] ?? 0) + 1 : best)
    }
    above = row
  }
  return above.at(-1) ?? 0
}
