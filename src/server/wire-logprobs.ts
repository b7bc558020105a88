/** Log-probabilities of tokens in the forms of the routes. */
import type { ScoredAnswerToken, TokenLogprob } from '../engine/types.ts'

/** As chat completions and responses have them. */
export function chatLogprobs(tokens: readonly ScoredAnswerToken[]): object[] {
  return tokens.map((token) => ({ ...scored(token), top_logprobs: token.top.map(scored) }))
}

function scored({ text, bytes, logprob }: TokenLogprob): object {
  return { token: text, logprob, bytes: [...bytes] }
}

/** As completions have them. @param offset Characters of the answer before the first of these tokens. */
export function completionLogprobs(tokens: readonly ScoredAnswerToken[], offset: number): object {
  let end = offset
  return {
    tokens: tokens.map(nameOf),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map((token) =>
      // The token itself is always among them.
      Object.fromEntries([...token.top, token].map((one) => [nameOf(one), one.logprob])),
    ),
    text_offset: tokens.map(({ text }) => {
      const start = end
      end += text.length
      return start
    }),
  }
}

/** Parts of characters would all look alike. */
function nameOf({ text, bytes }: TokenLogprob): string {
  if (!text.includes('\uFFFD')) return text
  return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}`
}
