/** A file that grows by a download. */
import { type FileHandle, open } from 'node:fs/promises'
import type { PartFile } from '../../hub/storage.ts'
import { createTruncatedError } from '../../shared/read-range.ts'
import { describeFailures } from './write-failure.ts'

/** Opens a file for reading and writing at any offset; makes an empty one where there is none. */
export function openPartFile(path: string): Promise<PartFile> {
  return describeFailures(path, async () => {
    // "r+" does not empty it; "a+" would ignore offsets.
    const handle = await open(path, 'r+').catch(() => open(path, 'w+'))
    return new FolderPart(path, handle, (await handle.stat()).size)
  })
}

class FolderPart implements PartFile {
  readonly #path: string
  readonly #handle: FileHandle
  #byteLength: number

  constructor(path: string, handle: FileHandle, byteLength: number) {
    this.#path = path
    this.#handle = handle
    this.#byteLength = byteLength
  }

  get byteLength(): number {
    return this.#byteLength
  }

  async write(bytes: Uint8Array, byteOffset: number): Promise<void> {
    await describeFailures(this.#path, async () => {
      for (let done = 0; done < bytes.byteLength; ) {
        const { bytesWritten } = await this.#handle.write(
          bytes,
          done,
          bytes.byteLength - done,
          byteOffset + done,
        )
        done += bytesWritten
        this.#byteLength = Math.max(this.#byteLength, byteOffset + done)
      }
    })
  }

  async readInto(target: Uint8Array, byteOffset: number): Promise<void> {
    for (let done = 0; done < target.byteLength; ) {
      const { bytesRead } = await this.#handle.read(target, done, target.byteLength - done, byteOffset + done)
      if (bytesRead === 0)
        throw createTruncatedError(this.#path, byteOffset, target.byteLength, byteOffset + done)
      done += bytesRead
    }
  }

  async truncate(byteLength: number): Promise<void> {
    await describeFailures(this.#path, () => this.#handle.truncate(byteLength))
    this.#byteLength = byteLength
  }

  flush(): Promise<void> {
    return describeFailures(this.#path, () => this.#handle.sync())
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
