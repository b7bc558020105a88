/** A turn of a conversation, as chat templates and prompt builders take it. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  /** In reading order. Most vision models answer better with the image before the text. */
  content: readonly ContentPart[]
}

export type ContentPart = { type: 'text'; text: string } | { type: 'image' }

/** The same conversation with `change` applied to every text in it, such as a neutralizer. */
export function mapMessageTexts(
  messages: readonly ChatMessage[],
  change: (text: string) => string,
): ChatMessage[] {
  return messages.map((message) => ({
    role: message.role,
    content: message.content.map((part) =>
      part.type === 'text' ? { type: 'text', text: change(part.text) } : part,
    ),
  }))
}
