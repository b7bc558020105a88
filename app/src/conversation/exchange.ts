/** What a conversation consists of: questions, each with the answers that were given to it. All of it is immutable. */
import type { FinishReason } from 'onsight'
import type { AnsweredBy } from 'onsight/assistant'
import type { Mode } from '../modes/modes.ts'
import type { Picture } from '../pictures/picture.ts'

export interface Exchange {
  readonly id: string
  readonly question: Question
  /** At least one; the others were given before somebody asked again. */
  readonly answers: readonly Answer[]
  /** Index of the answer that is shown, and that the model goes on from. */
  readonly shown: number
}

export interface Question {
  /** As it was typed or said; empty where the mode and a picture say it all. */
  readonly text: string
  /** What the model was asked, once it was. */
  readonly prompt: string
  readonly mode: Mode
  readonly pictures: readonly Picture[]
}

/** `waiting`: for the model, for pictures, for the first word. */
export type AnswerState = 'waiting' | 'answering' | 'finished' | 'stopped' | 'failed'

export interface Answer {
  readonly id: string
  readonly text: string
  readonly state: AnswerState
  /** Of the text, for screen readers and voices. */
  readonly language: string
  readonly answeredBy?: AnsweredBy | undefined
  /** What to say about how far it can be relied on. */
  readonly caution?: Caution | undefined
  readonly error?: AnswerError | undefined
  /** What the model no longer sees, since its context was full. */
  readonly forgotten?: { readonly turns: number; readonly pictures: number } | undefined
  readonly measured?: Measured | undefined
}

/** `safety`: somebody may walk by it. `wording`: letters may be misread. `small-model`: it invents. */
export type Caution = 'safety' | 'wording' | 'small-model'

export interface AnswerError {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}

export interface Measured {
  readonly finishReason: FinishReason
  /** From the question to the first word on the page. */
  readonly firstWordMs: number
  readonly tokensPerSecond: number
  readonly tokens: number
  readonly promptTokens: number
  readonly cachedTokens: number
  /** 0 where no picture had to be looked at again. */
  readonly imageEncodeMs: number
}

/** What of an exchange changes with time; it carries no pictures of its own. */
export const answerOf = (exchange: Exchange): Answer => exchange.answers[exchange.shown] as Answer

export function withAnswer(exchange: Exchange, id: string, change: Partial<Answer>): Exchange {
  return {
    ...exchange,
    answers: exchange.answers.map((answer) => (answer.id === id ? { ...answer, ...change } : answer)),
  }
}
