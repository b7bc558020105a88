/** What a conversation needs of the page, and what it shows. */
import type { GenerationOptions, ModelInfo } from 'onsight'
import type { AnsweredBy, AnsweringModel } from 'onsight/assistant'
import type { AnswerAnnouncement } from '../announcer/announcer.ts'
import type { Mode } from '../modes/modes.ts'
import type { Picture } from '../pictures/picture.ts'
import type { Answer, Caution, Exchange, Question } from './exchange.ts'

/** Who answers the next question. */
export interface Answering {
  readonly model: AnsweringModel
  /** Undefined: a remote one. */
  readonly info: ModelInfo | undefined
  readonly answeredBy: AnsweredBy
}

/** How a question is put to a model. */
export interface Composed {
  readonly prompt: string
  readonly options: GenerationOptions
  /** In which the answer is expected. */
  readonly language: string
  readonly caution?: Caution | undefined
}

/** What is kept of a conversation. */
export interface ConversationState {
  readonly id: string
  readonly exchanges: readonly Exchange[]
}

export interface ConversationPorts {
  readonly answering: (signal: AbortSignal) => Promise<Answering>
  readonly compose: (question: Question, earlier: string | undefined, info: ModelInfo | undefined) => Composed
  readonly expectedLanguage: (question: string) => string
  readonly present: (language: string) => AnswerAnnouncement
  /** Called at each change worth keeping. Never throws: what cannot be kept is told to the person. */
  readonly keep: (state: ConversationState) => void
  readonly now: () => number
  readonly createId: () => string
}

/** A question or an answer, for those who show a plain list. */
export interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly pictures: readonly Picture[]
  readonly state: Answer['state'] | 'sent'
}

export interface AskOptions {
  readonly mode: Mode
  readonly pictures?: readonly Picture[]
}
