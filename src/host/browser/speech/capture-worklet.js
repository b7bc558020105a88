/** Runs in the audio thread: hands the microphone's samples to the page, 1024 at a time. */

const BATCH = 1024
// Types of this scope are not among those of pages.
const scope = /** @type {any} */ (globalThis)

class Capture extends scope.AudioWorkletProcessor {
  #batch = new Float32Array(BATCH)
  #filled = 0

  /** @param {Float32Array[][]} inputs */
  process([input]) {
    const samples = input?.[0]
    if (!samples) return true
    // 1024 is a multiple of what comes, 128 samples.
    this.#batch.set(samples, this.#filled)
    this.#filled += samples.length
    if (this.#filled >= BATCH) {
      this.port.postMessage(this.#batch, [this.#batch.buffer])
      this.#batch = new Float32Array(BATCH)
      this.#filled = 0
    }
    return true
  }
}

scope.registerProcessor('onsight-capture', Capture)
