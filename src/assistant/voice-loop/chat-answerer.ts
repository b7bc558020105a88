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
  return {
    async *answer(question, signal) {
      const pictures = (await images?.(question)) ?? []
      const message = { text: question, ...(pictures.length > 0 && { images: pictures }) }
      for await (const event of chat.send(message, { ...generation, signal })) {
        onEvent?.(event)
        if (event.type === 'text-delta') yield event.text
      }
    },
  }
}
