/** How long a request lives: until it is answered, its client leaves, its time is up, or the server stops. */
import { EngineError } from '../shared/errors.ts'

export type EndOfLife = 'client-left' | 'timeout' | 'stopping' | 'reader-stalled'

const MESSAGES: Readonly<Record<EndOfLife, string>> = {
  'client-left': 'The client closed the connection.',
  timeout: 'The answer took longer than this server allows.',
  stopping: 'The server is stopping.',
  'reader-stalled': 'The client did not read the answer.',
}

export class RequestLife {
  readonly #controller = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #client: AbortSignal
  readonly #onLeave = (): void => this.end('client-left')
  #reason: EndOfLife | undefined

  constructor(client: AbortSignal, timeoutMs: number) {
    this.#client = client
    this.#timer = setTimeout(() => this.end('timeout'), timeoutMs)
    client.addEventListener('abort', this.#onLeave, { once: true })
    if (client.aborted) this.#onLeave()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(reason: EndOfLife): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller.abort()
  }

  /** What to say instead of an `AbortError`. */
  get error(): EngineError | undefined {
    if (this.#reason === undefined) return undefined
    return new EngineError(`server/${this.#reason}`, { message: MESSAGES[this.#reason] })
  }

  /** The request was answered. */
  close(): void {
    clearTimeout(this.#timer)
    this.#client.removeEventListener('abort', this.#onLeave)
  }
}
