import type { ByteSource } from './byte-source.ts'
import { EngineError } from './errors.ts'
import { checkReadRange, createClosedError } from './read-range.ts'

/** A source over a `Blob` or `File`, for example one that a person picked in a page. Nothing is read up front. */
export function createBlobSource(name: string, blob: Blob): ByteSource {
  return new BlobSource(name, blob)
}

class BlobSource implements ByteSource {
  readonly name: string
  readonly byteLength: number
  #blob: Blob | undefined

  constructor(name: string, blob: Blob) {
    this.name = name
    this.byteLength = blob.size
    this.#blob = blob
  }

  async readInto(target: Uint8Array, byteOffset: number): Promise<void> {
    if (this.#blob === undefined) throw createClosedError(this.name)
    checkReadRange(this, byteOffset, target.byteLength)
    const slice = this.#blob.slice(byteOffset, byteOffset + target.byteLength)
    let bytes: ArrayBuffer
    try {
      bytes = await slice.arrayBuffer()
    } catch (cause) {
      throw new EngineError('file/read-failed', {
        message: `${this.name}: reading ${target.byteLength} bytes at byte ${byteOffset} failed.`,
        hint: 'The file may have been changed or removed since it was chosen; choose it again.',
        cause,
      })
    }
    target.set(new Uint8Array(bytes))
  }

  async close(): Promise<void> {
    this.#blob = undefined
  }
}
