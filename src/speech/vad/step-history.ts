/** The last steps that were heard, for stages that wake up and want to know what came before. */
export class StepHistory {
  readonly #stepLength: number
  readonly #capacity: number
  readonly #samples: Float32Array
  #count = 0

  /** Keeps `capacity` steps of `stepLength` samples. */
  constructor(stepLength: number, capacity: number) {
    this.#stepLength = stepLength
    this.#capacity = capacity
    this.#samples = new Float32Array(stepLength * capacity)
  }

  /** Steps since the beginning. */
  get count(): number {
    return this.#count
  }

  add(samples: Float32Array): void {
    this.#samples.set(samples, (this.#count % this.#capacity) * this.#stepLength)
    this.#count++
  }

  /** The samples of step `index`, one of the last `capacity`. */
  step(index: number): Float32Array {
    const from = (index % this.#capacity) * this.#stepLength
    return this.#samples.subarray(from, from + this.#stepLength)
  }

  reset(): void {
    this.#count = 0
  }
}
