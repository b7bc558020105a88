/**
 * A list of commands whose arguments grow by constant steps from one index to the next, as those of a model do from one
 * position to the next: addresses in caches and tables, numbers of keys. Encoded for two indexes, the difference gives
 * the steps, and any further index needs additions only instead of hundreds of checked calls.
 */
export class Recording {
  readonly #first: Int32Array<ArrayBuffer>
  readonly #index: number
  /** Places of words that change, and by how much an index changes them. */
  readonly #places: Int32Array
  readonly #steps: Int32Array

  /** `first` for `index`, `second` for `index + 1`. Throws when they are not the same commands. */
  constructor(index: number, first: Int32Array<ArrayBuffer>, second: Int32Array<ArrayBuffer>) {
    if (first.length !== second.length)
      throw new Error('A recorded list changed its length between two indexes.')
    this.#first = first
    this.#index = index
    const places: number[] = []
    for (let place = 0; place < first.length; place++) if (first[place] !== second[place]) places.push(place)
    this.#places = Int32Array.from(places)
    this.#steps = Int32Array.from(places, (place) => (second[place] as number) - (first[place] as number))
  }

  /** The commands for `index`. */
  at(index: number): Int32Array<ArrayBuffer> {
    const words = this.#first.slice()
    const distance = index - this.#index
    for (let i = 0; i < this.#places.length; i++) {
      const place = this.#places[i] as number
      words[place] = (words[place] as number) + (this.#steps[i] as number) * distance
    }
    return words
  }
}
