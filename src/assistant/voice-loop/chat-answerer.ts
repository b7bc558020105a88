/** A conversation with a model as the one who answers. */
import type { Chat, ChatEvent, GenerationOptions, ImageInput } from '../../engine/types.ts'
import type { Answerer } from './loop-types.ts'

export interface ChatAnswererOptions {
  /** Pictures that go with a question, for example what the camera sees now. Default none. */
  readonly images?: (question: string) => Promise<readonly ImageInput[]> | readonly ImageInput[]
  readonly generation?: Omit<GenerationOptions, 'signal'>
  /** Everything that the model reports. */
  readonly onEvent?: (event: ChatEvent) => void
}

/** The conversation is the caller's, who also disposes it. */
export function createChatAnswerer(chat: Chat, options: ChatAnswererOptions = {}): Answerer {
  const { images, generation, onEvent } = options
  /** The answer that was asked for last: whether the conversation has any of it, and when it has ended. */
  let last = { hasBegun: false, ended: Promise.resolve() }
  return {
    async *answer(question, signal) {
      let end = (): void => {}
      const current = { hasBegun: false, ended: new Promise<void>((resolve) => (end = resolve)) }
      last = current
      try {
        const pictures = (await images?.(question)) ?? []
        const message = { text: question, ...(pictures.length > 0 && { images: pictures }) }
        for await (const event of chat.send(message, { ...generation, signal })) {
          current.hasBegun ||= event.type === 'text-delta'
          onEvent?.(event)
          if (event.type === 'text-delta') yield event.text
        }
      } finally {
        end()
      }
    },
    async interrupted(heard) {
      const { hasBegun, ended } = last
      await ended
      // An answer without a word is not part of the conversation, nor is its question.
      if (hasBegun) chat.cutAnswer(heard)
    },
  }
}
