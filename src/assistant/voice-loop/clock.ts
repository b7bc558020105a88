/** Time as the loop knows it, so that tests can make it. */
import { createAbortError } from '../../shared/abort.ts'

export interface Clock {
  /** Milliseconds from any beginning. */
  now(): number
  /** Resolves after `ms`, or as soon as `signal` is aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

export const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done)
    }),
}

/** Settles as `promise` does; rejects when that takes longer than `ms`, or when `signal` is aborted. */
export async function within<T>(
  clock: Clock,
  ms: number,
  promise: Promise<T>,
  onTimeout: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  const timer = new AbortController()
  const stop = (): void => timer.abort()
  signal?.addEventListener('abort', stop)
  try {
    return await Promise.race([
      promise,
      clock.wait(ms, timer.signal).then(() => {
        if (signal?.aborted) throw createAbortError()
        throw onTimeout()
      }),
    ])
  } finally {
    signal?.removeEventListener('abort', stop)
    timer.abort()
    // Whoever lost the race must not be reported as unhandled.
    promise.catch(() => {})
  }
}
