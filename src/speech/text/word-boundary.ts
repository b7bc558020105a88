/** Where Chinese text may be broken without breaking a word. */

/** How far a break may move back to spare a word, and what is looked at behind it. */
const BEFORE = 8
const AFTER = 4
const PUNCTUATION = /[，。！？；：、,.!?;:\n]/

/**
 * A break at or shortly before `near`, between words where the platform knows words.
 *
 * @returns `'inside'` where a better place follows at once, `'unknown'` where more text must be seen first.
 */
export function findWordBreak(
  text: string,
  near: number,
  isComplete: boolean,
): number | 'inside' | 'unknown' {
  if (text.length < near + AFTER && !isComplete) return 'unknown'
  if (near >= text.length || PUNCTUATION.test(text.slice(near, near + AFTER))) return 'inside'
  return breakBetweenWords(text.slice(0, near + AFTER), near)
}

/** As `findWordBreak`, with what is there. */
export function breakBetweenWords(text: string, near: number): number {
  const start = Math.max(0, near - BEFORE)
  const segmenter = wordSegmenter()
  if (!segmenter) return near
  let found = near
  for (const { index, segment } of segmenter.segment(text.slice(start, near + AFTER))) {
    const end = start + index + segment.length
    if (end <= near && end > start) found = end
  }
  return found
}

let segmenter: Intl.Segmenter | undefined

/** Undefined in Firefox before 125. */
function wordSegmenter(): Intl.Segmenter | undefined {
  if (typeof Intl.Segmenter !== 'function') return undefined
  segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' })
  return segmenter
}
