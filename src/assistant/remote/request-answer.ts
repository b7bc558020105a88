/** One request to a remote endpoint, from its body to the parts of its answer. */
import { createAbortError, isAbortError } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import { type AnswerPart, readAnswerStream } from './answer-stream.ts'
import { answerError, statusError, timeoutError, unreachableError } from './remote-errors.ts'
import { asksForNewerLimit, type RequestBody, withNewerLimit } from './request-body.ts'

export interface RemoteEndpoint {
  readonly fetch: typeof fetch
  readonly address: URL
  readonly model: string
  readonly apiKey: string | undefined
  readonly timeoutMs: number
}

/** Times that a busy endpoint is asked again, before anything of the answer was heard. */
const RETRIES = 2
/** An endpoint that wants longer waits is left alone. */
const MAX_RETRY_SECONDS = 10
/** Longest part of an error response that is read. */
const MAX_ERROR_BYTES = 64 * 1024

/** Rejects with an `AbortError` when aborted, else with `remote/…`. */
export async function* requestAnswer(
  endpoint: RemoteEndpoint,
  body: RequestBody,
  signal: AbortSignal | undefined,
): AsyncGenerator<AnswerPart, void, undefined> {
  const watch = new SilenceWatch(endpoint.timeoutMs, signal)
  try {
    const response = await ask(endpoint, body, watch)
    const { host } = endpoint.address
    const type = response.headers.get('content-type') ?? ''
    if (!response.body || !type.includes('event-stream')) {
      throw answerError(host, 'an event stream', `content type "${type}"`)
    }
    yield* readAnswerStream(host, chunksOf(response.body, watch))
  } catch (error) {
    if (signal?.aborted) throw createAbortError()
    if (watch.isOver) throw timeoutError(endpoint.address.host, endpoint.timeoutMs / 1000)
    if (EngineError.isInstance(error)) throw error
    throw unreachableError(endpoint.address.host, error)
  } finally {
    watch.end()
  }
}

async function ask(endpoint: RemoteEndpoint, body: RequestBody, watch: SilenceWatch): Promise<Response> {
  let asked = body
  for (let attempt = 0; ; attempt++) {
    const response = await post(endpoint, asked, watch.signal)
    watch.heard()
    if (response.ok) return response
    const text = await readStart(response)
    const wait = waitSeconds(response)
    if (asksForNewerLimit(asked, response.status, text)) asked = withNewerLimit(asked)
    else if (attempt < RETRIES && wait !== undefined) await sleep(wait * 1000, watch)
    else throw statusError(endpoint.address.host, response.status, text)
  }
}

function post(
  { fetch, address, apiKey }: RemoteEndpoint,
  body: RequestBody,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify(body),
    // Pictures and keys go to the address that was named and to no other.
    redirect: 'error',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    signal,
  })
}

/** Undefined for answers that would be the same the next time. */
function waitSeconds({ status, headers }: Response): number | undefined {
  if (status !== 429 && status !== 503) return undefined
  const seconds = Number(headers.get('retry-after') ?? 1)
  return seconds >= 0 && seconds <= MAX_RETRY_SECONDS ? seconds : undefined
}

async function sleep(ms: number, watch: SilenceWatch): Promise<void> {
  watch.heard(ms)
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    watch.signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(createAbortError())
      },
      { once: true },
    )
  })
  watch.heard()
}

async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  watch: SilenceWatch,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      watch.heard()
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {}) // whatever ended it is known already
  }
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  if (!response.body) return text
  const reader = response.body.getReader()
  try {
    while (text.length < MAX_ERROR_BYTES) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    if (isAbortError(error)) throw error // the status says enough otherwise
  } finally {
    await reader.cancel().catch(() => {})
  }
  return text
}

/** Aborts a request on behalf of the caller, or when nothing was heard for too long. */
class SilenceWatch {
  readonly #controller = new AbortController()
  readonly #timeoutMs: number
  readonly #caller: AbortSignal | undefined
  readonly #onAbort = (): void => this.#controller.abort()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs
    this.#caller = caller
    caller?.addEventListener('abort', this.#onAbort)
    if (caller?.aborted) this.#controller.abort()
    this.heard()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The silence was too long. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Starts the time anew, `extraMs` longer than usual. */
  heard(extraMs = 0): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#isOver = true
      this.#controller.abort()
    }, this.#timeoutMs + extraMs)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#caller?.removeEventListener('abort', this.#onAbort)
    this.#controller.abort()
  }
}
