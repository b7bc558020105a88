/** Chat completions as OpenAI sends them, whole and in chunks. */
import type { ScoredAnswerToken } from '../engine/types.ts'
import { encodeEvent } from './event-stream.ts'
import { type EncoderFactory, type FinishedAnswer, finishReasonOf } from './wire-answer.ts'
import { chatLogprobs } from './wire-logprobs.ts'

export const createChatEncoder: EncoderFactory = ({ id, model, created }, { includesUsage }) => {
  const head = { id: `chatcmpl-${id}`, created, model }
  const chunk = (
    delta: object,
    end: object = { finish_reason: null },
    tokens?: readonly ScoredAnswerToken[],
  ): string =>
    encodeEvent({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: logprobsOf(tokens), ...end }],
      ...(includesUsage && { usage: null }),
    })
  return {
    whole: (answer) => ({
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: answer.finished.text, refusal: null },
          logprobs: logprobsOf(answer.finished.logprobs),
          ...endOf(answer),
        },
      ],
      usage: usageOf(answer),
    }),
    begin: () => chunk({ role: 'assistant', content: '' }),
    delta: (text, tokens) => chunk({ content: text }, undefined, tokens.length > 0 ? tokens : undefined),
    end: (answer) => {
      const usage = { ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(answer) }
      return `${chunk({}, endOf(answer))}${includesUsage ? encodeEvent(usage) : ''}data: [DONE]\n\n`
    },
    fail: (body) => encodeEvent(body),
  }
}

function logprobsOf(tokens: readonly ScoredAnswerToken[] | undefined): object | null {
  return tokens ? { content: chatLogprobs(tokens), refusal: null } : null
}

/** `engine_finish_reason` is ours: it tells a length cap from a repetition that was cut short. */
export function endOf({ finished }: FinishedAnswer): object {
  return { finish_reason: finishReasonOf(finished), engine_finish_reason: finished.finishReason }
}

export function usageOf({ finished: { usage }, cachedTokens }: FinishedAnswer): object {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  }
}
