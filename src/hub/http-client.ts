/**
 * Requests to the hub. Redirects are followed here and not by `fetch`, because the token must stay with the endpoint,
 * and because the hub tells what a file is in the headers of the redirect, not of the answer.
 */
import { createAbortError, isAbortError, throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { parseUrl } from '../shared/parse-url.ts'
import type { HubPorts, HubSettings } from './ports.ts'
import { showAddress } from './reference.ts'
import { TransientFailure } from './retry.ts'

/** The hub needs one or two; mirrors add one. Browsers stop at 20. */
const MAX_REDIRECTS = 10
const DEFAULT_IDLE_TIMEOUT_MS = 30_000
/** Servers may ask for more patience than anybody has. */
const MAX_RETRY_AFTER_MS = 60_000
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 520, 522, 524])
/** Failures that trying again does not mend: certificates. */
const LASTING_CAUSES = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL)/

export interface RequestOptions {
  /** What is fetched, for messages. */
  readonly what: string
  /** Page where a gated model's terms are accepted. */
  readonly gatePage?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
}

export interface HttpAnswer {
  readonly response: Response
  /** What the server calls this content: the hub's name for it where there is one, else the ETag or the date. */
  readonly contentTag: string | undefined
  /** Where the hub itself states it, in the header of its redirect. */
  readonly sha256: string | undefined
  /** The bytes, as they come. Ending the loop early closes the connection. */
  readChunks(): AsyncGenerator<Uint8Array, void, undefined>
  /** Closes the connection. */
  cancel(): Promise<void>
}

export class HttpClient {
  readonly #ports: HubPorts
  readonly #settings: HubSettings
  readonly #endpointOrigin: string

  constructor(ports: HubPorts, settings: HubSettings) {
    this.#ports = ports
    this.#settings = settings
    this.#endpointOrigin = new URL(settings.endpoint).origin
  }

  /**
   * @throws EngineError `hub/…` for what trying again does not mend.
   * @throws TransientFailure for what it may.
   */
  async get(address: string, options: RequestOptions): Promise<HttpAnswer> {
    throwIfAborted(options.signal)
    const connection = new Connection(
      this.#settings.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
      showAddress(address),
      options.signal,
    )
    try {
      return await this.#follow(address, options, connection)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async #follow(address: string, options: RequestOptions, connection: Connection): Promise<HttpAnswer> {
    const visited = new Set<string>()
    let linkedTag: string | undefined
    for (let url = address; ; ) {
      if (visited.has(url) || visited.size > MAX_REDIRECTS) {
        throw new EngineError('hub/redirect-loop', {
          message: `${options.what}: ${showAddress(address)} redirects in a circle (${visited.size} steps, last ${showAddress(url)}).`,
          hint: 'The server is set up wrongly; try again later or use another endpoint (HF_ENDPOINT).',
        })
      }
      visited.add(url)
      const response = await connection.wait(
        this.#ports.fetch(url, {
          headers: this.#headersFor(url, options.headers),
          redirect: 'manual',
          signal: connection.signal,
        }),
      )
      linkedTag ??= cleanTag(response.headers.get('x-linked-etag'))
      if (!REDIRECTS.has(response.status)) {
        // Browsers have followed redirects by themselves.
        const reached = response.redirected ? response.url : url
        const isRedirected = visited.size > 1 || response.redirected
        if (!isAsSafe(url, new URL(reached))) throw unsafeRedirect(options.what, url, new URL(reached))
        if (!response.ok) throw await this.#refusal(response, reached, isRedirected, options)
        const { headers } = response
        return {
          response,
          contentTag: linkedTag ?? cleanTag(headers.get('etag')) ?? headers.get('last-modified') ?? undefined,
          sha256: /^[0-9a-f]{64}$/.test(linkedTag ?? '') ? linkedTag : undefined,
          readChunks: () => connection.read(response),
          cancel: async () => {
            connection.close()
            await cancelBody(response)
          },
        }
      }
      await cancelBody(response)
      url = nextAddress(response, url, options)
    }
  }

  #headersFor(url: string, headers: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { token } = this.#settings
    const { origin, protocol, hostname } = new URL(url)
    // A token in clear text is a token given away, except on this machine.
    const isPrivate = protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
    const takesToken = token !== undefined && origin === this.#endpointOrigin && isPrivate
    return {
      // Ranges of compressed bytes are no ranges of the file.
      'accept-encoding': 'identity',
      ...headers,
      ...(takesToken && { authorization: `Bearer ${token}` }),
    }
  }

  async #refusal(
    response: Response,
    url: string,
    isRedirected: boolean,
    options: RequestOptions,
  ): Promise<unknown> {
    const { status, headers } = response
    await cancelBody(response)
    const reason = headers.get('x-error-code') ?? ''
    const isEndpoint = new URL(url).origin === this.#endpointOrigin
    const { what } = options
    const isClosed = status === 401 || status === 403
    if (isClosed && isEndpoint) return this.#gateError(status, reason, options)
    if (status === 404 || status === 410) {
      const isRevision = reason === 'RevisionNotFound'
      return new EngineError('hub/not-found', {
        message: `${what} is not at ${showAddress(url)} (${status}${reason && `, ${reason}`}).`,
        hint: isRevision
          ? 'Check --revision: a branch, a tag or a commit.'
          : 'Check the spelling; upper and lower case count.',
      })
    }
    const message = `${what}: ${new URL(url).host} answered ${status}${response.statusText && ` ${response.statusText}`}.`
    // Addresses of object stores are signed for about an hour; asking the hub again gives a fresh one.
    if (TRANSIENT_STATUSES.has(status) || (isClosed && isRedirected)) {
      return new TransientFailure(
        new EngineError('hub/server-error', { message, hint: 'Try again later; what was fetched is kept.' }),
        retryAfterMs(headers, this.#ports.clock.now()),
      )
    }
    if (status === 416) return new EngineError('hub/bad-range', { message })
    return new EngineError('hub/refused', {
      message,
      hint: 'Check the address and the endpoint (HF_ENDPOINT).',
    })
  }

  #gateError(status: number, reason: string, { what, gatePage }: RequestOptions): EngineError {
    const page = gatePage ?? this.#settings.endpoint
    const hasToken = this.#settings.token !== undefined
    // The hub answers 401 for repositories that do not exist, so as not to tell which private ones do.
    if (reason === 'RepoNotFound') {
      return new EngineError('hub/not-found', {
        message: `${what} does not exist, or is private (${status}, ${reason}).`,
        hint: `Check the spelling at ${page}${hasToken ? '' : '; for a private model set HF_TOKEN'}.`,
      })
    }
    return new EngineError('hub/gated', {
      message: `${what} is not open to ${hasToken ? 'this HF_TOKEN' : 'everybody'} (${status}${reason && `, ${reason}`}).`,
      hint: hasToken
        ? `See that the token is valid and may read gated models, and accept the licence at ${page} with its account.`
        : `Accept the licence at ${page}, then set HF_TOKEN to a token of your account.`,
    })
  }
}

/** Of a body that is not there. */
const END: Promise<ReadableStreamReadResult<Uint8Array>> = Promise.resolve({ done: true, value: undefined })

/** One request with its redirects and its body, given up when nothing comes for too long. */
class Connection {
  readonly #controller = new AbortController()
  readonly #idleTimeoutMs: number
  readonly #name: string
  readonly #callerSignal: AbortSignal | undefined
  readonly #onAbort = (): void => this.#controller.abort(createAbortError())
  #hasStalled = false

  constructor(idleTimeoutMs: number, name: string, callerSignal: AbortSignal | undefined) {
    this.#idleTimeoutMs = idleTimeoutMs
    this.#name = name
    this.#callerSignal = callerSignal
    callerSignal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  close(): void {
    this.#callerSignal?.removeEventListener('abort', this.#onAbort)
    this.#controller.abort(createAbortError())
  }

  /** Settles as `promise` does; gives up when it takes too long. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    let stop = (): void => {}
    const stall = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => {
        this.#hasStalled = true
        this.#controller.abort(createAbortError())
        reject(new Error('stalled'))
      }, this.#idleTimeoutMs)
      stop = () => clearTimeout(timer)
    })
    try {
      return await Promise.race([promise, stall])
    } catch (error) {
      throw this.#failure(error)
    } finally {
      stop()
    }
  }

  async *read(response: Response): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = response.body?.getReader()
    try {
      for (;;) {
        const chunk = await this.wait(reader ? reader.read() : END)
        if (chunk.done) return
        yield chunk.value
      }
    } finally {
      this.close()
      await reader?.cancel().catch(() => {})
    }
  }

  #failure(error: unknown): unknown {
    if (this.#callerSignal?.aborted) return createAbortError()
    if (this.#hasStalled) {
      return new TransientFailure(
        new EngineError('hub/stalled', {
          message: `${this.#name}: nothing came for ${this.#idleTimeoutMs / 1000} s.`,
          hint: 'Check the connection and run the same command again; it goes on where it stopped.',
        }),
      )
    }
    if (isAbortError(error)) return error
    const cause = codeOf(error)
    const unreachable = new EngineError('hub/unreachable', {
      message: `${this.#name}: the connection failed (${cause}).`,
      hint: 'Check the connection, proxy and endpoint (HF_ENDPOINT), and run the same command again; what was fetched is kept.',
      cause: error,
    })
    return LASTING_CAUSES.test(cause) ? unreachable : new TransientFailure(unreachable)
  }
}

function nextAddress(response: Response, url: string, { what }: RequestOptions): string {
  const location = response.headers.get('location')
  const next = location === null ? undefined : parseUrl(location, url)
  if (next !== undefined && isAsSafe(url, next)) return next.href
  throw unsafeRedirect(what, url, next)
}

function isAsSafe(url: string, next: URL): boolean {
  return next.protocol === 'https:' || (next.protocol === 'http:' && url.startsWith('http:'))
}

function unsafeRedirect(what: string, url: string, next: URL | undefined): EngineError {
  return new EngineError('hub/bad-redirect', {
    message: `${what}: ${showAddress(url)} redirects to ${next ? `${next.protocol}//${next.host}, which is not as safe` : 'no address'}.`,
    hint: 'Use another endpoint (HF_ENDPOINT), one that stays with https.',
  })
}

/** `W/"abc"` → `abc`: the hub gives the same file both ways. */
function cleanTag(tag: string | null): string | undefined {
  return tag === null ? undefined : tag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')
}

function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

function codeOf(error: unknown): string {
  const { code, cause, message } = (error ?? {}) as { code?: unknown; cause?: unknown; message?: unknown }
  if (typeof code === 'string') return code
  return cause === undefined || cause === null ? String(message ?? error) : codeOf(cause)
}

async function cancelBody(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}
