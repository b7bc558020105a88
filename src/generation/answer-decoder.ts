/** From the tokens of an answer to its text. */
import type { StreamingDecoder } from '../text/tokenizer/streaming-decoder.ts'
import type { Tokenizer } from '../text/tokenizer/tokenizer.ts'
import type { Prompt } from './token-session.ts'

/**
 * Where a prompt ends in a word ("Assistant:"), the space before the answer's first word belongs to the format: the
 * template writes it itself when the answer is part of the next prompt.
 */
export function dropsFirstSpace(tokenizer: Tokenizer, { ids }: Prompt, isContinuation: boolean): boolean {
  return !isContinuation && !/\s$/.test(tokenizer.decode(ids.slice(-1)))
}

export function createAnswerDecoder(
  tokenizer: Tokenizer,
  prompt: Prompt,
  isContinuation: boolean,
): StreamingDecoder {
  const decoder = tokenizer.createDecoder()
  let isStart = dropsFirstSpace(tokenizer, prompt, isContinuation)
  const dropSpace = (text: string): string => {
    if (!isStart || text === '') return text
    isStart = false
    return text.startsWith(' ') ? text.slice(1) : text
  }
  return { push: (id) => dropSpace(decoder.push(id)), flush: () => dropSpace(decoder.flush()) }
}
