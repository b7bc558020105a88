/** Trying again, later and later, what may work the next time. */
import { throwIfAborted } from '../shared/abort.ts'
import type { EngineError } from '../shared/errors.ts'
import type { Clock } from './ports.ts'

/** A failure that may be over soon. Never leaves the hub: when patience ends, `error` is thrown. */
export class TransientFailure {
  readonly error: EngineError
  /** What the server asked for. */
  readonly retryAfterMs: number | undefined

  constructor(error: EngineError, retryAfterMs?: number) {
    this.error = error
    this.retryAfterMs = retryAfterMs
  }
}

/** Times in a row, without anything gained in between. */
const MAX_FAILURES = 5

const FIRST_DELAY_MS = 1000
const LONGEST_DELAY_MS = 30_000

export interface RetryOptions {
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly onRetry?: ((retry: Retry) => void) | undefined
  /** Default 5. */
  readonly maxFailures?: number
}

export interface Retry {
  /** 1 for the first repetition. */
  readonly failures: number
  readonly delayMs: number
  readonly reason: string
}

/** Counts failures and waits. */
export class Patience {
  readonly #options: RetryOptions
  #failures = 0

  constructor(options: RetryOptions) {
    this.#options = options
  }

  /** Something was gained: the count starts anew. */
  renew(): void {
    this.#failures = 0
  }

  /** Waits before the next try; throws what is not transient, and what has failed too often. */
  async wait(error: unknown): Promise<void> {
    if (!(error instanceof TransientFailure)) throw error
    this.#failures++
    const { clock, signal, onRetry, maxFailures = MAX_FAILURES } = this.#options
    if (this.#failures >= maxFailures) throw error.error
    const delayMs = error.retryAfterMs ?? backoffMs(this.#failures, clock.random())
    onRetry?.({ failures: this.#failures, delayMs, reason: error.error.message })
    await clock.sleep(delayMs, signal)
    throwIfAborted(signal)
  }
}

/** 1, 2, 4 … 30 seconds; of that the half to the whole, so that many clients do not come back at once. */
export function backoffMs(failures: number, random: number): number {
  const longest = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS)
  return Math.round(longest * (0.5 + random / 2))
}

/** Repeats `attempt` while it fails in a way that may pass. */
export async function withRetries<T>(options: RetryOptions, attempt: () => Promise<T>): Promise<T> {
  const patience = new Patience(options)
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      await patience.wait(error)
    }
  }
}
