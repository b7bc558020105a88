/** What an event of the model changes in an answer. */
import type { ChatEvent } from 'onsight'
import type { Answer } from './exchange.ts'
import { languageOfText } from './text-language.ts'

export function takeEvent(answer: Answer, event: ChatEvent, firstWordMs: number): Partial<Answer> {
  switch (event.type) {
    case 'text-delta': {
      const text = answer.text + event.text
      return { text, state: 'answering', language: languageOfText(text, answer.language) }
    }
    case 'route-chosen':
      return { answeredBy: event.answeredBy }
    case 'context-trimmed':
      return {
        forgotten: {
          turns: (answer.forgotten?.turns ?? 0) + event.droppedTurns.length,
          pictures: (answer.forgotten?.pictures ?? 0) + event.droppedImages,
        },
      }
    case 'answer-finished':
      return {
        measured: {
          finishReason: event.finishReason,
          firstWordMs,
          tokensPerSecond: event.timings.tokensPerSecond,
          tokens: event.usage.completionTokens,
          promptTokens: event.usage.promptTokens,
          cachedTokens: event.usage.cachedTokens,
          imageEncodeMs: event.timings.imageEncodeMs,
        },
        ...(event.answeredBy && { answeredBy: event.answeredBy }),
      }
    default:
      return {}
  }
}
