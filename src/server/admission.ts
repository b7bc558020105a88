/** Who may ask now: the queue, the requests that run, and their end when the server stops. */
import { isAbortError } from '../shared/abort.ts'
import type { CheckedOptions } from './app-options.ts'
import type { Gauge } from './metrics.ts'
import { RequestLife } from './request-life.ts'
import { type Lane, RequestQueue, type Ticket } from './request-queue.ts'
import type { RequestRecord } from './request-record.ts'

/** A request that was let in. */
export interface Admitted {
  readonly request: Request
  readonly life: RequestLife
  readonly record: RequestRecord
  /** Resolves when it may compute. Rejects with an `AbortError`. */
  turn(): Promise<void>
  /** Gives its place to the next. Safe to call twice. */
  close(): void
}

export class Admission {
  readonly #queue: RequestQueue
  readonly #timeoutMs: number
  readonly #lives = new Set<RequestLife>()
  #isStopping = false
  #onIdle: (() => void) | undefined

  constructor({ queueLength, requestTimeoutMs }: Pick<CheckedOptions, 'queueLength' | 'requestTimeoutMs'>) {
    this.#queue = new RequestQueue(queueLength)
    this.#timeoutMs = requestTimeoutMs
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  get gauges(): readonly Gauge[] {
    return [
      {
        name: 'onsight_requests_running',
        help: 'Requests being answered.',
        read: () => [{ value: this.#queue.running }],
      },
      {
        name: 'onsight_requests_waiting',
        help: 'Requests being read or waiting for their turn.',
        read: () => [{ value: this.#queue.waiting }],
      },
    ]
  }

  /** Takes a place in the queue, which `work` gives back unless it fails. Throws `server/queue-full`. */
  async admit(
    lane: Lane,
    request: Request,
    record: RequestRecord,
    work: (admitted: Admitted) => Promise<Response>,
  ): Promise<Response> {
    const ticket = this.#queue.take(lane)
    const life = new RequestLife(request.signal, this.#timeoutMs)
    this.#lives.add(life)
    const close = (): void => this.#close(life, ticket)
    try {
      return await work({ request, life, record, turn: () => ticket.turn(life.signal), close })
    } catch (error) {
      close()
      throw endOf(life, error)
    }
  }

  /** Waits for what runs; what still runs after `graceMs` is ended. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    if (this.#lives.size === 0) return
    const timer = setTimeout(() => {
      for (const life of this.#lives) life.end('stopping')
    }, graceMs)
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    clearTimeout(timer)
  }

  #close(life: RequestLife, ticket: Ticket): void {
    ticket.leave()
    life.close()
    this.#lives.delete(life)
    if (this.#lives.size === 0) this.#onIdle?.()
  }
}

/** An abort is told by its reason. A body that breaks off is a client that left, known before its signal says so. */
export function endOf(life: RequestLife, error: unknown): unknown {
  if (!isAbortError(error)) return error
  life.end('client-left')
  return life.error
}
