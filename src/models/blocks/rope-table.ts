import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'

/** Rows added at a time. */
const STEP = 256

/** Cosines and sines per position on the device, made as far as a conversation has come. */
export class RopeTable {
  readonly #backend: Backend
  readonly #frequencies: Float32Array // (headDim / 2)
  #buffer: DeviceBuffer | undefined // f32 (capacity, 2, headDim / 2)
  #capacity = 0

  constructor(backend: Backend, frequencies: Float32Array) {
    this.#backend = backend
    this.#frequencies = frequencies
  }

  /** The table's row of `position`; rows for `count` positions follow. Nothing enqueued may still use the table. */
  rows(position: number, count: number): BufferRef {
    if (position + count > this.#capacity || !this.#buffer) this.#extend(position + count)
    return (this.#buffer as DeviceBuffer).at(position * this.#rowBytes)
  }

  /** Positions the table holds. */
  get capacity(): number {
    return this.#capacity
  }

  get #rowBytes(): number {
    return this.#frequencies.length * 8
  }

  #extend(needed: number): void {
    // Doubling, so that a growing conversation computes each row twice at most.
    const capacity = Math.ceil(Math.max(needed, this.#capacity * 2) / STEP) * STEP
    if (this.#buffer) this.#backend.free(this.#buffer)
    this.#buffer = this.#backend.alloc(capacity * this.#rowBytes)
    const table = new Float32Array(capacity * this.#frequencies.length * 2)
    const half = this.#frequencies.length
    for (let position = 0; position < capacity; position++) {
      for (let i = 0; i < half; i++) {
        // The reference rounds the angle to float32 before it takes the cosine.
        const angle = Math.fround(position * (this.#frequencies[i] as number))
        table[(position * 2 + 0) * half + i] = Math.cos(angle)
        table[(position * 2 + 1) * half + i] = Math.sin(angle)
      }
    }
    this.#backend.write(this.#buffer, new Uint8Array(table.buffer))
    this.#capacity = capacity
  }

  dispose(): void {
    if (this.#buffer) this.#backend.free(this.#buffer)
    this.#buffer = undefined
    this.#capacity = 0
  }
}
