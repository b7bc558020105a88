/** A model with its recent conversations: from turns to the events of an answer. */
import type { AnswerFinished, Chat, ChatEvent, ChatTurn, GenerationOptions, Model } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import { ChatPool, keyOfTurns } from './chat-pool.ts'

export type QuestionTurn = Extract<ChatTurn, { role: 'user' }>

export class ServedModel {
  readonly id: string
  readonly model: Model
  readonly #pool: ChatPool
  #isDisposed = false

  constructor(id: string, model: Model, keptConversations: number) {
    this.id = id
    this.model = model
    this.#pool = new ChatPool(keptConversations)
  }

  get keptConversations(): number {
    return this.#pool.size
  }

  /** Streams the answer to `question` after `history`; goes on with a kept conversation where there is one. */
  async *answer(
    history: readonly ChatTurn[],
    question: QuestionTurn,
    generation: GenerationOptions,
    { isPlain }: { readonly isPlain: boolean },
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const { role: _, detail = 'auto', ...message } = question
    let finished: AnswerFinished | undefined
    let saysText = false
    const send = async function* (chat: Chat): AsyncGenerator<ChatEvent, void, undefined> {
      for await (const event of chat.send(message, { ...generation, detail })) {
        saysText ||= event.type === 'text-delta'
        if (event.type === 'answer-finished') finished = event
        yield event
      }
    }
    const begin = (): Chat =>
      this.model.chat(isPlain ? { template: false } : { messages: history, whenFull: 'stop' })
    const kept = isPlain ? undefined : this.#pool.take(await keyOfTurns(history))
    let chat = kept ?? begin()
    try {
      try {
        yield* send(chat)
      } catch (error) {
        if (saysText || this.#pool.size === 0 || !isOutOfMemory(error)) throw error
        // Kept conversations are there to save time; an answer is worth more.
        chat.dispose()
        this.#pool.clear()
        chat = begin()
        yield* send(chat)
      }
    } finally {
      if (isPlain) chat.dispose()
      else await this.#keep(chat, [...history, question], finished)
    }
  }

  dispose(): void {
    this.#isDisposed = true
    this.#pool.clear()
  }

  /** A conversation is kept when it holds the whole answer, which the next request then repeats. */
  async #keep(chat: Chat, turns: readonly ChatTurn[], finished: AnswerFinished | undefined): Promise<void> {
    if (finished === undefined || finished.finishReason === 'aborted') return chat.dispose()
    const key = await keyOfTurns([...turns, { role: 'assistant', text: finished.text }])
    if (this.#isDisposed) chat.dispose()
    else this.#pool.put(key, chat)
  }
}

function isOutOfMemory(error: unknown): boolean {
  return EngineError.isInstance(error) && error.code === 'backend/out-of-memory'
}
