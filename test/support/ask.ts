import type {
  AnswerFinished,
  Chat,
  ChatEvent,
  GenerationOptions,
  UserMessage,
} from '../../src/engine/types.ts'

/** Sends a message and waits for the end of the answer. Every event goes to `onEvent` first. */
export function ask(
  chat: Chat,
  message: UserMessage | string,
  options: GenerationOptions = {},
  onEvent: (event: ChatEvent) => void = () => {},
): Promise<AnswerFinished> {
  return finish(chat.send(typeof message === 'string' ? { text: message } : message, options), onEvent)
}

/** Waits for the end of an answer. */
export async function finish(
  events: AsyncIterable<ChatEvent>,
  onEvent: (event: ChatEvent) => void = () => {},
): Promise<AnswerFinished> {
  let finished: AnswerFinished | undefined
  for await (const event of events) {
    onEvent(event)
    if (event.type === 'answer-finished') finished = event
  }
  if (!finished) throw new Error('The answer has no end.')
  return finished
}
