/** A clock that stands still until a test moves it. */
import type { Clock } from './clock.ts'

interface Timer {
  readonly at: number
  readonly ring: () => void
}

export class FakeClock implements Clock {
  #now = 0
  #timers: Timer[] = []

  now(): number {
    return this.#now
  }

  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const timer = { at: this.#now + ms, ring: resolve }
      this.#timers.push(timer)
      signal?.addEventListener('abort', () => {
        this.#timers = this.#timers.filter((other) => other !== timer)
        resolve()
      })
    })
  }

  /** Lets everything happen that is due, in its order, until `ms`. */
  async moveTo(ms: number): Promise<void> {
    await settle()
    for (;;) {
      const next = this.#timers.reduce<Timer | undefined>(
        (first, timer) => (first && first.at <= timer.at ? first : timer),
        undefined,
      )
      if (next === undefined || next.at > ms) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#now = Math.max(this.#now, next.at)
      next.ring()
      await settle()
    }
    this.#now = ms
  }
}

/** Everything that promises have to do at this moment. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
