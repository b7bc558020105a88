/** From errors to what OpenAI clients expect: a status, and `{ error: { message, type, param, code } }`. One table. */
import { EngineError, type ErrorArea, type ErrorCode } from '../shared/errors.ts'

export interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
}

export interface Refusal {
  readonly status: number
  readonly body: ErrorBody
  readonly headers: Readonly<Record<string, string>>
}

interface Verdict {
  readonly status: number
  readonly type: string
  readonly code: string | null
  /** When trying again makes sense. */
  readonly retryAfterSeconds?: number
}

const request = (code: string | null, status = 400): Verdict => ({
  status,
  type: 'invalid_request_error',
  code,
})
const FAILURE: Verdict = { status: 500, type: 'server_error', code: null }

/** About the time of a short answer; clients back off by themselves after it. */
const RETRY_AFTER_SECONDS = 2

const BY_CODE: Readonly<Partial<Record<ErrorCode, Verdict>>> = {
  'server/unsupported-parameter': request('unsupported_parameter'),
  'server/invalid-value': request('invalid_value'),
  'server/not-json': request('invalid_json'),
  'server/content-type': request('unsupported_media_type', 415),
  'server/body-too-large': request('request_too_large', 413),
  'server/no-route': { status: 404, type: 'not_found_error', code: 'unknown_url' },
  'server/model-not-found': { status: 404, type: 'not_found_error', code: 'model_not_found' },
  'server/unauthorized': { status: 401, type: 'authentication_error', code: 'invalid_api_key' },
  'server/host-refused': { status: 403, type: 'permission_error', code: 'host_refused' },
  'server/origin-refused': { status: 403, type: 'permission_error', code: 'origin_refused' },
  'server/queue-full': {
    status: 429,
    type: 'rate_limit_error',
    code: 'queue_full',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  },
  'server/stopping': {
    status: 503,
    type: 'unavailable_error',
    code: 'stopping',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  },
  'server/timeout': { status: 504, type: 'server_error', code: 'timeout' },
  'server/reader-stalled': { status: 408, type: 'server_error', code: 'reader_stalled' },
  // The client has left; nobody reads this, but the log and the metrics show it.
  'server/client-left': { status: 499, type: 'server_error', code: 'client_closed_request' },
  'backend/out-of-memory': {
    status: 503,
    type: 'unavailable_error',
    code: 'out_of_memory',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  },
  'option/schema': request('unsupported_schema'),
  'model/no-images': request('unsupported_content'),
  'image/decoder-missing': FAILURE,
  'audio/decoder-missing': FAILURE,
  'generation/context-full': request('context_length_exceeded'),
  // The template refuses an order of turns, such as two answers in a row.
  'text/template': request('invalid_messages'),
  'text/empty-prompt': request('invalid_value'),
}

const BY_AREA: Readonly<Record<ErrorArea, Verdict>> = {
  option: request('invalid_value'),
  image: request('invalid_image'),
  audio: request('invalid_audio'),
  server: request(null),
  file: FAILURE,
  format: FAILURE,
  config: FAILURE,
  model: FAILURE,
  text: FAILURE,
  backend: FAILURE,
  generation: FAILURE,
  hub: FAILURE,
  speech: request(null),
  remote: FAILURE,
  snapshot: FAILURE,
}

/** Errors that nobody foresaw tell the client nothing: their messages may hold paths. */
export function refusalOf(error: unknown): Refusal {
  if (!EngineError.isInstance(error)) {
    return build(FAILURE, 'The server failed in a way that it did not expect; its log says more.', null)
  }
  const verdict = BY_CODE[error.code] ?? BY_AREA[error.code.split('/', 1)[0] as ErrorArea] ?? FAILURE
  const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`
  return build(verdict, message, error.field ?? null)
}

function build(
  { status, type, code, retryAfterSeconds }: Verdict,
  message: string,
  param: string | null,
): Refusal {
  const headers: Record<string, string> = {}
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  // Clients repeat whatever fails with 408 or 5xx; the same request would fail the same way.
  else if (status >= 500 || status === 408) headers['x-should-retry'] = 'false'
  return { status, body: { error: { message, type, param, code } }, headers }
}
