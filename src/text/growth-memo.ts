/**
 * Results for parts of a text that grows, kept from one time to the next, so that only new parts cost anything. What the
 * last text did not have is forgotten.
 */
export class GrowthMemo<Result> {
  #scope = ''
  #last = new Map<string, Result>()
  #next = new Map<string, Result>()

  /** Before each text. @param scope What all results depend on; where it changes, nothing is known. */
  begin(scope = ''): void {
    this.#last = scope === this.#scope ? this.#next : new Map()
    this.#next = new Map()
    this.#scope = scope
  }

  of(part: string, make: () => Result): Result {
    const known = this.#next.get(part) ?? this.#last.get(part)
    const result = known ?? make()
    this.#next.set(part, result)
    return result
  }
}
