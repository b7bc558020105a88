/** The last samples that were heard, so that a sentence is there from before its beginning. */

export class UtteranceBuffer {
  readonly #leadIn: number
  #chunks: Float32Array[] = []
  /** Position of the first sample that is kept. */
  #from = 0
  /** Position behind the last one. */
  #to = 0
  #isKeeping = false

  /** @param leadIn Samples that are kept from before the beginning of an utterance. */
  constructor(leadIn: number) {
    this.#leadIn = leadIn
  }

  /** Samples that were pushed since the buffer was made. */
  get position(): number {
    return this.#to
  }

  /** Samples that are kept. */
  get length(): number {
    return this.#to - this.#from
  }

  push(samples: Float32Array): void {
    this.#chunks.push(samples)
    this.#to += samples.length
    if (!this.#isKeeping) this.#dropBefore(this.#to - this.#leadIn)
  }

  /** An utterance began at position `at`; from `leadIn` samples before that on everything is kept. */
  begin(at: number, leadIn = this.#leadIn): void {
    this.#isKeeping = true
    this.#dropBefore(at - leadIn)
  }

  /** From the lead-in up to now. */
  copy(): Float32Array {
    const samples = new Float32Array(this.#to - this.#from)
    let offset = 0
    for (const chunk of this.#chunks) {
      samples.set(chunk, offset)
      offset += chunk.length
    }
    return samples
  }

  /** Forgets everything: what was heard must not be the lead-in of what comes. */
  clear(): void {
    this.#chunks = []
    this.#from = this.#to
    this.#isKeeping = false
  }

  /** Ends an utterance; its last samples may be the lead-in of the next. */
  end(): void {
    this.#isKeeping = false
    this.#dropBefore(this.#to - this.#leadIn)
  }

  #dropBefore(position: number): void {
    let first = this.#chunks[0]
    while (first !== undefined && this.#from + first.length <= position) {
      this.#chunks.shift()
      this.#from += first.length
      first = this.#chunks[0]
    }
    if (first !== undefined && position > this.#from) {
      this.#chunks[0] = first.subarray(position - this.#from)
      this.#from = position
    }
  }
}
