/**
 * Lets one conversation at a time use a model's run state. Pieces of work are short (one pass, one frame) and run in
 * the order in which they were asked for, so several conversations share a model fairly, and cancelling one stops
 * nothing of the others.
 */
export class PassQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `work` when everything asked for before has ended. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    await this.#last
  }
}
