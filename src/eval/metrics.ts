/** How right an answer is, from 0 to 1; of several right answers the one that fits best counts. */

export interface AnswerScores {
  /** Equal but for white space around it. */
  readonly exact: number
  /** Equal but for case, punctuation, white space and the articles a, an, the. */
  readonly normalized: number
  /** Average normalised Levenshtein similarity, for read text: below one half it counts as wrong. */
  readonly anls: number
}

export function scoreAnswer(text: string, answers: readonly string[]): AnswerScores {
  const best = (score: (answer: string) => number): number => Math.max(0, ...answers.map(score))
  const normalized = normalizeAnswer(text)
  return {
    exact: best((answer) => Number(text.trim() === answer.trim())),
    normalized: best((answer) => Number(normalized === normalizeAnswer(answer))),
    anls: best((answer) => similarity(text, answer)),
  }
}

/** Full- and half-width forms become one (NFKC). */
export function normalizeAnswer(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\p{P}\p{S}]/gu, ' ')
    .replace(/(?<![\p{L}\p{N}])(?:a|an|the)(?![\p{L}\p{N}])/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim()
}

/** Similarities below this count as none (Biten et al. 2019, "Scene Text Visual Question Answering"). */
const ANLS_THRESHOLD = 0.5

/** Characters compared; longer answers are no read text, and the time grows with the square. */
const MAX_COMPARED = 2000

function similarity(text: string, answer: string): number {
  const a = [...text.trim().toLowerCase()].slice(0, MAX_COMPARED)
  const b = [...answer.trim().toLowerCase()].slice(0, MAX_COMPARED)
  const longest = Math.max(a.length, b.length)
  if (longest === 0) return 1
  const share = 1 - editDistance(a, b) / longest
  return share >= ANLS_THRESHOLD ? share : 0
}

/** Insertions, deletions and replacements that make `a` to `b`. */
function editDistance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, character] of a.entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + (character === b[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
