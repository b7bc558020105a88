/** What the encoders of all routes share: the identity of an answer, and how it becomes a response or a stream. */
import type { AnswerFinished, ScoredAnswerToken } from '../engine/types.ts'
import type { AnswerRequest } from './answer-request.ts'

export interface AnswerIdentity {
  /** Unique, without the prefix that a route puts before it. */
  readonly id: string
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
}

export interface FinishedAnswer {
  readonly finished: AnswerFinished
  /** Tokens of the prompt that an earlier request had computed. */
  readonly cachedTokens: number
}

/** One route's form of an answer. */
export interface AnswerEncoder {
  /** The whole answer as one body. */
  whole(answer: FinishedAnswer): unknown
  /** The stream's events before the first word. */
  begin(): string
  /** @param tokens Scores of the tokens that the text has come from since the last one, where they are asked for. */
  delta(text: string, tokens: readonly ScoredAnswerToken[]): string
  end(answer: FinishedAnswer): string
  /** In place of `end`, when the answer fails in the middle. */
  fail(body: { readonly error: { readonly message: string; readonly code: string | null } }): string
}

export type EncoderFactory = (
  identity: AnswerIdentity,
  request: Pick<AnswerRequest, 'includesUsage' | 'format'>,
) => AnswerEncoder

/** OpenAI has two names for the end of a text; `length` also stands for ends that the model did not choose. */
export function finishReasonOf({ finishReason }: AnswerFinished): 'stop' | 'length' {
  return finishReason === 'stop' || finishReason === 'stop-string' ? 'stop' : 'length'
}
