/**
 * The model's side of a conversation: one chat as long as model and text agree with it, and a new one from the text where
 * they do not - after an edit, another alternative, another model, a lost worker. A new chat copies what the old one has
 * computed, so the old one is kept until the new one has begun.
 */
import type { ChatEvent, ChatTurn, GenerationOptions, UserMessage } from 'onsight'
import type { AnsweringChat, AnsweringModel } from 'onsight/assistant'
import type { EngineChat } from '../engine/engine.ts'
import { areSameTurns } from './model-turns.ts'

interface OpenChat {
  readonly model: AnsweringModel
  readonly chat: AnsweringChat | EngineChat
  /** What the chat holds; undefined after a failure, when nobody knows. */
  turns: readonly ChatTurn[] | undefined
}

export interface ModelQuestion {
  readonly model: AnsweringModel
  readonly earlier: readonly ChatTurn[]
  readonly message: UserMessage
  /** The answer that another one is wanted for. */
  readonly replaces?: string | undefined
}

export class ChatSession {
  #open: OpenChat | undefined

  async *ask(
    question: ModelQuestion,
    options: GenerationOptions,
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const { earlier, message } = question
    const asked: ChatTurn = { role: 'user', ...message }
    const again = this.#canAskAgain(question, asked)
    let outdated = this.#open
    const open = again ? (this.#open as OpenChat) : this.#chatFor(question)
    if (outdated === open) outdated = undefined
    this.#open = open
    const held = open.turns
    open.turns = undefined
    let answer = ''
    try {
      const events = again ? (open.chat as EngineChat).regenerate(options) : open.chat.send(message, options)
      for await (const event of events) {
        if (event.type === 'text-delta') {
          answer += event.text
          outdated?.chat.dispose()
          outdated = undefined
        }
        yield event
      }
      // A question that was stopped before its first word leaves the chat as it was.
      open.turns = answer === '' ? held : [...earlier, asked, { role: 'assistant', text: answer }]
    } finally {
      outdated?.chat.dispose()
    }
  }

  dispose(): void {
    this.#open?.chat.dispose()
    this.#open = undefined
  }

  #canAskAgain({ model, earlier, replaces }: ModelQuestion, asked: ChatTurn): boolean {
    if (!this.#open?.turns || replaces === undefined || this.#open.model !== model) return false
    const given: ChatTurn = { role: 'assistant', text: replaces }
    return 'regenerate' in this.#open.chat && areSameTurns(this.#open.turns, [...earlier, asked, given])
  }

  #chatFor({ model, earlier }: ModelQuestion): OpenChat {
    const open = this.#open
    if (open?.turns && open.model === model && areSameTurns(open.turns, earlier)) return open
    return { model, chat: model.chat({ messages: earlier }), turns: earlier }
  }
}
