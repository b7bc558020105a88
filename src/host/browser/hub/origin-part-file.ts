/** A file that grows by a download, through a handle that writes at once: a dedicated worker's only. */
import type { PartFile } from '../../../hub/storage.ts'
import { createTruncatedError } from '../../../shared/read-range.ts'
import { describeFailures, openSyncHandle, type SyncAccessHandle } from './origin-files.ts'

/** @param what For messages: model and file. */
export function openOriginPart(
  folder: FileSystemDirectoryHandle,
  fileName: string,
  what: string,
): Promise<PartFile> {
  return describeFailures(what, async () => {
    const handle = await openSyncHandle(folder, fileName)
    return new OriginPart(what, handle, await handle.getSize())
  })
}

class OriginPart implements PartFile {
  readonly #what: string
  readonly #handle: SyncAccessHandle
  #byteLength: number

  constructor(what: string, handle: SyncAccessHandle, byteLength: number) {
    this.#what = what
    this.#handle = handle
    this.#byteLength = byteLength
  }

  get byteLength(): number {
    return this.#byteLength
  }

  async write(bytes: Uint8Array, byteOffset: number): Promise<void> {
    await describeFailures(this.#what, async () => {
      for (let done = 0; done < bytes.byteLength; ) {
        const written = this.#handle.write(bytes.subarray(done), { at: byteOffset + done })
        if (written === 0) throw new Error(`0 of ${bytes.byteLength - done} bytes were written`)
        done += written
        this.#byteLength = Math.max(this.#byteLength, byteOffset + done)
      }
    })
  }

  async readInto(target: Uint8Array, byteOffset: number): Promise<void> {
    for (let done = 0; done < target.byteLength; ) {
      const read = this.#handle.read(target.subarray(done), { at: byteOffset + done })
      if (read === 0) throw createTruncatedError(this.#what, byteOffset, target.byteLength, byteOffset + done)
      done += read
    }
  }

  async truncate(byteLength: number): Promise<void> {
    await describeFailures(this.#what, async () => this.#handle.truncate(byteLength))
    this.#byteLength = byteLength
  }

  async flush(): Promise<void> {
    await describeFailures(this.#what, async () => this.#handle.flush())
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}
