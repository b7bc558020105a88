/** What models on the device, remote endpoints and routes between them have in common. */
import type { Chat, ChatOptions } from '../engine/types.ts'

export type AnsweringChat = Pick<Chat, 'send' | 'dispose'>

/** Every `Model` is one. */
export interface AnsweringModel {
  chat(options?: ChatOptions): AnsweringChat
  dispose(): Promise<void>
}
