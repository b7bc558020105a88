import type { ByteSource } from './byte-source.ts'
import { checkReadRange, createClosedError } from './read-range.ts'

/** A source over bytes that are already in memory. The bytes are not copied; `close` lets go of them. */
export function createMemorySource(name: string, bytes: Uint8Array): ByteSource {
  return new MemorySource(name, bytes)
}

class MemorySource implements ByteSource {
  readonly name: string
  readonly byteLength: number
  #bytes: Uint8Array | undefined

  constructor(name: string, bytes: Uint8Array) {
    this.name = name
    this.byteLength = bytes.byteLength
    this.#bytes = bytes
  }

  async readInto(target: Uint8Array, byteOffset: number): Promise<void> {
    if (this.#bytes === undefined) throw createClosedError(this.name)
    checkReadRange(this, byteOffset, target.byteLength)
    target.set(this.#bytes.subarray(byteOffset, byteOffset + target.byteLength))
  }

  async close(): Promise<void> {
    this.#bytes = undefined
  }
}
