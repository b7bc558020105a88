/** How far into an answer its listener came. */
import { SpokenPieces } from '../../speech/text/spoken-pieces.ts'
import type { CleanOptions } from '../../speech/text/spoken-text.ts'

/**
 * The beginning of `answer` that makes its first `count` pieces, as it was written: markup included, nothing of what
 * follows.
 *
 * @param flushes Lengths of the answer at which its stream paused and was flushed.
 */
export function findSpokenPrefix(
  answer: string,
  count: number,
  flushes: readonly number[],
  options: CleanOptions,
): string {
  if (count === 0) return ''
  const pieces = new SpokenPieces(options)
  let found: string[] = []
  // Pieces do not depend on how the stream is split, so the first character that completes one tells where it ended.
  for (let length = 0; length < answer.length; length++) {
    if (flushes.includes(length)) found = [...found, ...pieces.flush()]
    if (found.length >= count) return dropUnsaid(answer.slice(0, length), found.slice(0, count), options)
    found = [...found, ...pieces.push(answer.charAt(length))]
  }
  return found.length === count ? dropUnsaid(answer, found, options) : answer
}

/** Without the words that were only looked at to know that a piece had ended. */
function dropUnsaid(prefix: string, said: readonly string[], options: CleanOptions): string {
  const wanted = withoutSpaces(said)
  for (let shorter = prefix; shorter !== ''; shorter = shorter.replace(/\s*\S*$/, '')) {
    const pieces = new SpokenPieces(options)
    if (withoutSpaces([...pieces.push(shorter), ...pieces.finish()]) === wanted) return shorter.trimEnd()
  }
  return prefix
}

function withoutSpaces(pieces: readonly string[]): string {
  return pieces.join('').replace(/\s/g, '')
}
