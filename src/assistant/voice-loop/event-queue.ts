/** Events that wait for whoever reads them. */

export class EventQueue<Event> implements AsyncIterableIterator<Event> {
  readonly #events: Event[] = []
  readonly #onReturn: () => void
  #end: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined

  /** @param onReturn Called when the reader leaves. */
  constructor(onReturn: () => void) {
    this.#onReturn = onReturn
  }

  push(event: Event): void {
    if (this.#end) return
    this.#events.push(event)
    this.#wake?.()
  }

  /** What waits is still read; then the end, or the error. */
  close(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<Event>> {
    for (;;) {
      const event = this.#events.shift()
      if (event !== undefined) return { done: false, value: event }
      if (this.#end) {
        if (!('error' in this.#end)) return { done: true, value: undefined }
        const { error } = this.#end
        this.#end = {}
        throw error
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async return(): Promise<IteratorResult<Event>> {
    this.#events.length = 0
    this.close()
    this.#onReturn()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
