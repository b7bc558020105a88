/** The stretch of a long sound that is being looked at: samples come in at the end and leave at the beginning. */
export class SampleWindow {
  #buffer = new Float32Array(0)
  #start = 0
  #end = 0
  #dropped = 0

  /** Samples held. */
  get length(): number {
    return this.#end - this.#start
  }

  /** Samples that have left. */
  get dropped(): number {
    return this.#dropped
  }

  push(samples: Float32Array): void {
    if (this.#end + samples.length > this.#buffer.length) this.#makeRoom(samples.length)
    this.#buffer.set(samples, this.#end)
    this.#end += samples.length
  }

  /** The first `count` samples held, or all; valid until the next `push`. */
  first(count: number): Float32Array {
    return this.#buffer.subarray(this.#start, Math.min(this.#end, this.#start + count))
  }

  drop(count: number): void {
    const dropped = Math.min(count, this.length)
    this.#start += dropped
    this.#dropped += dropped
  }

  #makeRoom(count: number): void {
    const held = this.#buffer.subarray(this.#start, this.#end)
    const needed = held.length + count
    // Doubling, so that many small pieces are copied a few times only.
    const target = needed > this.#buffer.length ? new Float32Array(needed * 2) : this.#buffer
    target.set(held)
    this.#buffer = target
    this.#start = 0
    this.#end = held.length
  }
}
