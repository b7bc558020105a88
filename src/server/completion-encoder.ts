/** Completions as OpenAI sends them, whole and in chunks. */

import type { ScoredAnswerToken } from '../engine/types.ts'
import { endOf, usageOf } from './chat-encoder.ts'
import { encodeEvent } from './event-stream.ts'
import type { EncoderFactory } from './wire-answer.ts'
import { completionLogprobs } from './wire-logprobs.ts'

export const createCompletionEncoder: EncoderFactory = ({ id, model, created }, { includesUsage }) => {
  const head = { id: `cmpl-${id}`, object: 'text_completion', created, model }
  let written = 0
  const choice = (
    text: string,
    end: object = { finish_reason: null },
    tokens?: readonly ScoredAnswerToken[],
  ): object => ({
    index: 0,
    text,
    logprobs: tokens ? completionLogprobs(tokens, written) : null,
    ...end,
  })
  const chunk = (choices: readonly object[], usage: object | null = null): string =>
    encodeEvent({ ...head, choices, ...(includesUsage && { usage }) })
  return {
    whole: (answer) => ({
      ...head,
      choices: [choice(answer.finished.text, endOf(answer), answer.finished.logprobs)],
      usage: usageOf(answer),
    }),
    begin: () => '',
    delta: (text, tokens) => {
      const event = chunk([choice(text, undefined, tokens.length > 0 ? tokens : undefined)])
      written += text.length
      return event
    },
    end: (answer) => {
      const usage = includesUsage ? chunk([], usageOf(answer)) : ''
      return `${chunk([choice('', endOf(answer))])}${usage}data: [DONE]\n\n`
    },
    fail: (body) => encodeEvent(body),
  }
}
