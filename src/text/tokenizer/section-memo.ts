/**
 * Ids of the stretches between added tokens, kept from one encoding of a growing text to the next. Such a stretch is
 * encoded for itself, so the ids are those of encoding everything again. What the last text did not have is forgotten.
 */
export class SectionMemo {
  #last = new Map<string, readonly number[]>()
  #next = new Map<string, readonly number[]>()

  /** Before each text. */
  begin(): void {
    this.#last = this.#next
    this.#next = new Map()
  }

  /** @param isFirst Whether the text begins with the stretch, which some tokenizers mark. */
  idsOf(section: string, isFirst: boolean, encode: () => readonly number[]): readonly number[] {
    const key = `${isFirst ? '^' : ' '}${section}`
    const ids = this.#next.get(key) ?? this.#last.get(key) ?? encode()
    this.#next.set(key, ids)
    return ids
  }
}
