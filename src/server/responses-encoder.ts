/** Responses as OpenAI sends them, whole and as a stream of named events. */
import type { ScoredAnswerToken } from '../engine/types.ts'
import { encodeEvent } from './event-stream.ts'
import { type EncoderFactory, type FinishedAnswer, finishReasonOf } from './wire-answer.ts'
import { chatLogprobs } from './wire-logprobs.ts'

export const createResponsesEncoder: EncoderFactory = ({ id, model, created }, { format }) => {
  let sequence = 0
  let text = ''
  const itemId = `msg_${id}`
  const event = (type: string, fields: object): string =>
    encodeEvent({ type, sequence_number: sequence++, ...fields }, type)
  const response = (status: string, fields: object = {}): object => ({
    id: `resp_${id}`,
    object: 'response',
    created_at: created,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: [],
    parallel_tool_calls: false,
    previous_response_id: null,
    store: false,
    temperature: null,
    text: { format: format.described },
    tool_choice: 'none',
    tools: [],
    top_p: null,
    usage: null,
    ...fields,
  })
  const scored: ScoredAnswerToken[] = []
  const part = (content: string, tokens: readonly ScoredAnswerToken[] = []): object => ({
    type: 'output_text',
    text: content,
    annotations: [],
    logprobs: chatLogprobs(tokens),
  })
  const item = (status: string, content: readonly object[]): object => ({
    id: itemId,
    type: 'message',
    status,
    role: 'assistant',
    content,
  })
  const ended = (answer: FinishedAnswer): object => {
    const isComplete = finishReasonOf(answer.finished) === 'stop'
    return response(isComplete ? 'completed' : 'incomplete', {
      incomplete_details: isComplete ? null : { reason: 'max_output_tokens' },
      output: [
        item(isComplete ? 'completed' : 'incomplete', [part(answer.finished.text, answer.finished.logprobs)]),
      ],
      usage: usageOf(answer),
    })
  }
  const place = { item_id: itemId, output_index: 0, content_index: 0 }
  return {
    whole: ended,
    begin: () =>
      event('response.created', { response: response('in_progress') }) +
      event('response.in_progress', { response: response('in_progress') }) +
      event('response.output_item.added', { output_index: 0, item: item('in_progress', []) }) +
      event('response.content_part.added', { ...place, part: part('') }),
    delta: (delta, tokens) => {
      text += delta
      scored.push(...tokens)
      return event('response.output_text.delta', { ...place, delta, logprobs: chatLogprobs(tokens) })
    },
    end: (answer) => {
      const isComplete = finishReasonOf(answer.finished) === 'stop'
      const done = item(isComplete ? 'completed' : 'incomplete', [part(text, scored)])
      return (
        event('response.output_text.done', { ...place, text, logprobs: chatLogprobs(scored) }) +
        event('response.content_part.done', { ...place, part: part(text, scored) }) +
        event('response.output_item.done', { output_index: 0, item: done }) +
        event(isComplete ? 'response.completed' : 'response.incomplete', { response: ended(answer) })
      )
    },
    fail: ({ error }) =>
      event('response.failed', {
        response: response('failed', {
          error: { code: error.code ?? 'server_error', message: error.message },
          output: [item('incomplete', [part(text)])],
        }),
      }),
  }
}

function usageOf({ finished: { usage }, cachedTokens }: FinishedAnswer): object {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.promptTokens + usage.completionTokens,
  }
}
