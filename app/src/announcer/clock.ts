/** Time, so that tests can turn it by hand. */
export interface Clock {
  /** Milliseconds from any beginning. */
  now(): number
  /** @returns Cancels it. */
  after(delayMs: number, callback: () => void): () => void
}

export const pageClock: Clock = {
  now: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
