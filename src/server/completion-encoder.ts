/** Completions as OpenAI sends them, whole and in chunks. */
import { endOf, usageOf } from './chat-encoder.ts'
import { encodeEvent } from './event-stream.ts'
import type { EncoderFactory } from './wire-answer.ts'

export const createCompletionEncoder: EncoderFactory = ({ id, model, created }, { includesUsage }) => {
  const head = { id: `cmpl-${id}`, object: 'text_completion', created, model }
  const choice = (text: string, end: object = { finish_reason: null }): object => ({
    index: 0,
    text,
    logprobs: null,
    ...end,
  })
  const chunk = (choices: readonly object[], usage: object | null = null): string =>
    encodeEvent({ ...head, choices, ...(includesUsage && { usage }) })
  return {
    whole: (answer) => ({
      ...head,
      choices: [choice(answer.finished.text, endOf(answer))],
      usage: usageOf(answer),
    }),
    begin: () => '',
    delta: (text) => chunk([choice(text)]),
    end: (answer) => {
      const usage = includesUsage ? chunk([], usageOf(answer)) : ''
      return `${chunk([choice('', endOf(answer))])}${usage}data: [DONE]\n\n`
    },
    fail: (body) => encodeEvent(body),
  }
}
