/** Cuts text into sentences, in any language. */

/** What a segmenter takes for the end of a sentence, though it is none: titles and numbers of lists. */
const NO_END = /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|\p{Lu}|\d{1,3})\.\s*$/u

/** For browsers without a segmenter: behind marks of an end and what closes after them, or a new line. */
const AFTER_END = /(?<=[.!?…]["'”’)\]]*\s+)(?=\S)|(?<=[。！？]["'”’）」』]*)(?=[^"'”’）」』])|(?<=\n)/u

export type CutSentences = (text: string, language?: string) => string[]

/** The sentences of a text with the spaces behind them; joined they are the text. */
export const cutSentences: CutSentences =
  typeof Intl.Segmenter === 'function' ? cutWithSegmenter : cutWithoutSegmenter

export function cutWithSegmenter(text: string, language?: string): string[] {
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' })
  return joinFalseEnds(Array.from(segmenter.segment(text), ({ segment }) => segment))
}

export function cutWithoutSegmenter(text: string): string[] {
  return text === '' ? [] : joinFalseEnds(text.split(AFTER_END))
}

function joinFalseEnds(sentences: readonly string[]): string[] {
  const joined: string[] = []
  for (const sentence of sentences) {
    const before = joined.at(-1)
    const goesOn = before !== undefined && (NO_END.test(before) || before.trim() === '')
    if (goesOn) joined[joined.length - 1] = before + sentence
    else joined.push(sentence)
  }
  return joined
}
