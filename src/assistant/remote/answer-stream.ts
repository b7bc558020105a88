/** A streamed answer of the chat completions API: server-sent events with pieces of text. */
import { createParser } from 'eventsource-parser'
import type { FinishReason } from '../../engine/types.ts'
import { EngineError } from '../../shared/errors.ts'
import { answerError } from './remote-errors.ts'

export interface RemoteUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
}

export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'finish'; readonly reason: FinishReason }
  | { readonly type: 'usage'; readonly usage: RemoteUsage }

/** No endpoint has a reason to send a single event of more than this many characters. */
const MAX_EVENT_LENGTH = 1 << 20

/** Throws `remote/invalid-answer` for what is no such stream or ends without a reason, `remote/refused` for errors in it. */
export async function* readAnswerStream(
  host: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<AnswerPart, void, undefined> {
  const events: string[] = []
  let held = 0
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) })
  const decoder = new TextDecoder()
  let isFinished = false
  for await (const chunk of chunks) {
    held += chunk.length
    if (held > MAX_EVENT_LENGTH) throw answerError(host, 'an event stream', `${held} bytes without an event`)
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (events.length > 0) held = 0
    for (const data of events.splice(0)) {
      if (data === '[DONE]') return requireFinished(host, isFinished)
      for (const part of parsePart(host, data)) {
        isFinished ||= part.type === 'finish'
        yield part
      }
    }
  }
  requireFinished(host, isFinished)
}

/** Without a reason the rest was lost on the way. */
function requireFinished(host: string, isFinished: boolean): void {
  if (!isFinished) throw answerError(host, 'an answer that ends with a reason', 'the end of the stream')
}

const REASONS: Readonly<Record<string, FinishReason>> = { stop: 'stop', length: 'length', eos: 'stop' }

function* parsePart(host: string, data: string): Generator<AnswerPart, void, undefined> {
  const chunk = parseObject(host, data)
  if (chunk['error'] !== undefined) {
    throw new EngineError('remote/refused', {
      message: `${host} broke the answer off: ${textOf(chunk['error']).slice(0, 300)}.`,
    })
  }
  const [choice] = Array.isArray(chunk['choices']) ? chunk['choices'] : []
  if (isRecord(choice)) {
    const { delta, finish_reason: reason } = choice
    if (isRecord(delta) && typeof delta['content'] === 'string' && delta['content'] !== '') {
      yield { type: 'text', text: delta['content'] }
    }
    if (typeof reason === 'string') yield { type: 'finish', reason: finishReasonOf(host, reason) }
  }
  if (isRecord(chunk['usage'])) yield { type: 'usage', usage: usageOf(chunk['usage']) }
}

function finishReasonOf(host: string, reason: string): FinishReason {
  const known = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined
  if (known) return known
  throw new EngineError('remote/refused', {
    message: `${host} ended the answer for a reason of its own: ${reason.slice(0, 100)}.`,
    hint: 'Ask in another way, or a model on this device.',
  })
}

function usageOf(usage: Record<string, unknown>): RemoteUsage {
  const details = usage['prompt_tokens_details']
  return {
    promptTokens: countOf(usage['prompt_tokens']),
    cachedTokens: isRecord(details) ? countOf(details['cached_tokens']) : 0,
    completionTokens: countOf(usage['completion_tokens']),
  }
}

function parseObject(host: string, data: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    throw answerError(host, 'events that hold JSON', data)
  }
  if (isRecord(value)) return value
  throw answerError(host, 'events that hold an object', data)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0
}

function textOf(error: unknown): string {
  return isRecord(error) && typeof error['message'] === 'string' ? error['message'] : JSON.stringify(error)
}
