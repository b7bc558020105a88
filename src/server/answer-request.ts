/** What a request asks for, whichever route it came by: all turns, the last of them a question, and how to answer. */
import type { Detail, GenerationOptions } from '../engine/types.ts'
import type { ResponseFormat } from './response-format.ts'

/** A picture as the request names it. */
export interface NamedPicture {
  /** Where in the request it stands, for messages. */
  readonly field: string
  /** `data:` or http(s). */
  readonly url: string
}

export interface QuestionTurn {
  readonly role: 'user'
  readonly text: string
  readonly pictures: readonly NamedPicture[]
  /** Where in the text each picture stands; 0 for all when the model is to see them first. */
  readonly offsets: readonly number[]
  readonly detail: Detail
}

export type RequestTurn = QuestionTurn | { readonly role: 'system' | 'assistant'; readonly text: string }

export interface AnswerRequest {
  /** Undefined for the only or first model. */
  readonly model: string | undefined
  readonly history: readonly RequestTurn[]
  readonly question: QuestionTurn
  /** The question is a text to go on with, not a turn of a conversation. */
  readonly isPlain: boolean
  readonly generation: GenerationOptions
  readonly format: ResponseFormat
  readonly isStream: boolean
  /** Whether a stream ends with the count of tokens. */
  readonly includesUsage: boolean
}
