/** What a remote endpoint answers instead of an answer, as errors. */
import { EngineError } from '../../shared/errors.ts'

/** Longest part of a foreign message that is passed on. */
const MAX_QUOTED = 300

/** @param body The text of the response, in whichever form. */
export function statusError(host: string, status: number, body: string): EngineError {
  const said = quote(messageOf(body))
  const message = `${host} answered with status ${status}${said ? `: ${said}` : ''}.`
  if (status === 401 || status === 403) {
    return new EngineError('remote/not-allowed', {
      message,
      hint: 'Check the API key and what it may be used for.',
    })
  }
  if (status === 404) {
    return new EngineError('remote/not-found', {
      message,
      hint: 'Check the address (it usually ends in /v1) and the name of the model.',
    })
  }
  if (status === 429) return new EngineError('remote/limited', { message, hint: 'Try again later.' })
  if (status === 413) {
    return new EngineError('remote/too-large', { message, hint: 'Send fewer or smaller pictures.' })
  }
  if (status >= 500 || status === 408) {
    return new EngineError('remote/unavailable', { message, hint: 'Try again later.' })
  }
  return new EngineError('remote/refused', {
    message,
    hint: 'The endpoint may not know an option or a kind of input of this request.',
  })
}

export function unreachableError(host: string, cause: unknown): EngineError {
  return new EngineError('remote/unavailable', {
    message: `${host} could not be reached: ${quote(reasonOf(cause))}.`,
    hint: 'Check the network and the address; a model on this device needs neither.',
    cause,
  })
}

export function answerError(host: string, expected: string, found: string): EngineError {
  return new EngineError('remote/invalid-answer', {
    message: `${host}: expected ${expected}; found ${quote(found) || 'nothing'}.`,
    hint: 'The address may not be that of an OpenAI-compatible API.',
  })
}

export function timeoutError(host: string, seconds: number): EngineError {
  return new EngineError('remote/timeout', {
    message: `${host} sent nothing for ${seconds} seconds.`,
    hint: 'Try again, or allow more time with timeoutMs.',
  })
}

/** Servers write `{error: {message}}`, `{error: "…"}`, `{message}`, or plain text. */
function messageOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body)
    if (typeof parsed !== 'object' || parsed === null) return body
    const { error = parsed, message } = parsed as { error?: unknown; message?: unknown }
    if (typeof error === 'string') return error
    if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
    return typeof message === 'string' ? message : body
  } catch {
    return body
  }
}

function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
  return line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line
}

/** The reason of a failed request stands in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message ? error.cause.message : error.message
}
