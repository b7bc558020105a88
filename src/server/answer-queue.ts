/** One answer at a time; the others wait in order, and not too many of them. */
import { createAbortError, throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'

/** A place in the queue. */
export interface Ticket {
  /** Resolves when it is this one's turn. Rejects with an `AbortError`. */
  turn(signal: AbortSignal): Promise<void>
  /** Gives the place to the next. Safe to call twice. */
  leave(): void
}

export class AnswerQueue {
  readonly #limit: number
  #tickets = 0
  #isTaken = false
  readonly #waiting: (() => void)[] = []

  /** @param limit How many may wait while one is answered. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get running(): number {
    return this.#isTaken ? 1 : 0
  }

  /** Requests that are being read or wait for their turn. */
  get waiting(): number {
    return this.#tickets - this.running
  }

  /** Taken before a body is read, so that bodies cannot fill the memory. Throws `server/queue-full`. */
  take(): Ticket {
    if (this.#tickets > this.#limit) {
      throw new EngineError('server/queue-full', {
        message: `${this.waiting} requests wait already, and ${this.#limit} may.`,
        hint: 'Try again in a moment.',
      })
    }
    this.#tickets++
    let state: 'held' | 'running' | 'left' = 'held'
    return {
      turn: async (signal) => {
        throwIfAborted(signal)
        if (this.#isTaken) await this.#wait(signal)
        this.#isTaken = true
        state = 'running'
      },
      leave: () => {
        if (state === 'left') return
        const wasRunning = state === 'running'
        state = 'left'
        this.#tickets--
        if (!wasRunning) return
        const next = this.#waiting.shift()
        // The next one takes over without a gap in which another could step in.
        if (next) next()
        else this.#isTaken = false
      },
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(createAbortError())
      }
      this.#waiting.push(enter)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
