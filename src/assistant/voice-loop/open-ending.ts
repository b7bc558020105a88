/** Whether somebody who fell silent is likely to go on: the text so far ends in the middle of a thought. */

/** Conjunctions, prepositions, articles and fillers that hardly ever end what somebody says. */
const ENGLISH_OPEN = new Set(
  `and but or nor so because although though unless until if whether while than as like with to of from into onto
  between the a an my your his its our their some i um uh uhm er erm eh ah hmm hm mm`.split(/\s+/),
)
const CHINESE_OPEN =
  /(?:和|跟|与|及|或|或者|还有|而且|并且|但是|但|可是|不过|因为|所以|由于|如果|要是|虽然|然后|接着|那个|这个|就是|就是说|嗯|呃|额|唔|比如|比如说|例如|关于|对于|把|被|以及|我想|请问|的话)$/

/**
 * True after commas and ellipses, and after words that want to be followed, in English and Chinese. A guess: it makes the
 * wait for the rest longer, never endless.
 */
export function isOpenEnded(text: string): boolean {
  const trimmed = text.trim()
  if (/(?:[,，、—–-]|\.\.\.|…)$/.test(trimmed)) return true
  if (/[?？]$/.test(trimmed)) return false
  const bare = trimmed.replace(/[.!。！;；:："'”’]+$/, '')
  const lastWord = /[a-z]+$/i.exec(bare)?.[0].toLowerCase()
  return lastWord === undefined ? CHINESE_OPEN.test(bare) : ENGLISH_OPEN.has(lastWord)
}
