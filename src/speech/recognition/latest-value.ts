/** Values that come faster than they are taken: only the newest counts. */
export class LatestValue<Value> {
  #value: Value | undefined
  #wake: (() => void) | undefined

  set(value: Value): void {
    this.#value = value
    this.#wake?.()
  }

  /** Resolves with the newest value that nobody took, as soon as there is one; with undefined when `end` settles first. */
  async take(end: Promise<unknown>): Promise<Value | undefined> {
    if (this.#value === undefined) {
      const change = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      await Promise.race([change, end.catch(() => {})])
    }
    const value = this.#value
    this.#value = undefined
    return value
  }
}
