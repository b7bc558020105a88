import { createAbortError, throwIfAborted } from '../shared/abort.ts'
import { nextTurn } from '../shared/steps.ts'

/** Runs pieces of work one after the other. */
export interface PassLine {
  /** Runs `work` when it is its turn. Rejects with an `AbortError`, and runs nothing, when `signal` is aborted before. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

interface Waiting {
  readonly line: Line
  readonly start: () => void
}

interface Line {
  /** Milliseconds of work, counted as if a line that comes back had used no less than those that were here. */
  usedMs: number
}

/**
 * Lets one conversation at a time use a model's run state. Pieces of work are short: one pass, one frame. Each
 * conversation has a line of its own, and of those that wait the one that has worked least comes next, so the time is
 * shared equally however long their pieces are: while one reads a long text, another goes on word by word.
 *
 * Method: start-time fair queuing (Goyal et al. 1996), with measured time instead of lengths known beforehand.
 */
export class PassQueue implements PassLine {
  readonly #now: () => number
  readonly #own = this.line()
  #waiting: Waiting[] = []
  #isRunning = false
  /** Where the line that was started last stood. */
  #clockMs = 0

  /** @param now Milliseconds of a clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Of those that belong to no conversation, in the order in which they were asked for. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return this.#own.run(work, signal)
  }

  line(): PassLine {
    const line: Line = { usedMs: 0 }
    return { run: (work, signal) => this.#run(line, work, signal) }
  }

  async #run<Result>(line: Line, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    throwIfAborted(signal)
    await this.#turn(line, signal)
    const start = this.#now()
    try {
      return await work()
    } finally {
      line.usedMs += this.#now() - start
      void this.#next(line)
    }
  }

  #turn(line: Line, signal: AbortSignal | undefined): Promise<void> {
    // Time in which a line wanted nothing is not owed to it.
    if (!this.#waiting.some((one) => one.line === line)) line.usedMs = Math.max(line.usedMs, this.#clockMs)
    if (!this.#isRunning) {
      this.#isRunning = true
      this.#clockMs = line.usedMs
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        line,
        start: () => {
          signal?.removeEventListener('abort', onAbort)
          this.#clockMs = line.usedMs
          resolve()
        },
      }
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        reject(createAbortError())
      }
      this.#waiting.push(waiting)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Starts the next piece after one of `last`. */
  async #next(last: Line): Promise<void> {
    const least = Math.min(...this.#waiting.map(({ line }) => line.usedMs))
    // Whoever is behind gets a moment to come back: to read logits, choose a token and ask for the next pass.
    if (last.usedMs < least && this.#waiting.length > 0) await nextTurn()
    const next = this.#waiting.reduce<Waiting | undefined>(
      (best, one) => (best === undefined || one.line.usedMs < best.line.usedMs ? one : best),
      undefined,
    )
    this.#isRunning = next !== undefined
    if (!next) return
    this.#waiting = this.#waiting.filter((one) => one !== next)
    next.start()
  }
}
