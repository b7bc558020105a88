/** Scores of tokens in words. */
import type { ScoredToken, TokenScore } from '../generation/token-scores.ts'
import type { Tokenizer } from '../text/tokenizer/tokenizer.ts'
import type { ScoredAnswerToken, TokenLogprob } from './types.ts'

export function describeScore(tokenizer: Tokenizer, score: ScoredToken): ScoredAnswerToken {
  return { ...describe(tokenizer, score), top: score.top.map((one) => describe(tokenizer, one)) }
}

const UTF8 = new TextEncoder()
const TEXT = new TextDecoder('utf-8', { ignoreBOM: true })

function describe(tokenizer: Tokenizer, { id, logprob }: TokenScore): TokenLogprob {
  if (!tokenizer.isSpecial(id)) {
    const bytes = tokenizer.tokenBytes(id)
    return { id, text: TEXT.decode(bytes), bytes, logprob }
  }
  const text = tokenizer.idToToken(id) ?? ''
  return { id, text, bytes: UTF8.encode(text), logprob }
}
