/** Local files as byte sources, read in place with `pread`: nothing is buffered here. */
import { type FileHandle, open, stat } from 'node:fs/promises'
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { checkReadRange, createClosedError, createTruncatedError } from '../../shared/read-range.ts'

// One read call takes a signed 32-bit length.
const MAX_READ_BYTES = 2 ** 30

/**
 * Opens a regular file for reading at any offset. The caller closes the source.
 *
 * @throws EngineError `file/not-found`, `file/is-directory`, `file/not-a-file`, `file/no-permission` or
 *   `file/open-failed`.
 */
export async function openFile(path: string): Promise<ByteSource> {
  try {
    // Looking before opening: opening a named pipe would wait for a writer forever.
    const found = await stat(path)
    if (found.isDirectory()) {
      throw new EngineError('file/is-directory', {
        message: `${path}: expected a file, found a directory.`,
        hint: 'Name a file inside the directory.',
      })
    }
    if (!found.isFile()) {
      throw new EngineError('file/not-a-file', {
        message: `${path}: expected a regular file, found a device, pipe or socket.`,
        hint: 'Copy the content into a regular file first.',
      })
    }
    const handle = await open(path, 'r')
    try {
      return new FileSource(path, (await handle.stat()).size, handle)
    } catch (error) {
      await handle.close()
      throw error
    }
  } catch (error) {
    throw EngineError.isInstance(error) ? error : describeOpenFailure(path, error)
  }
}

class FileSource implements ByteSource {
  readonly name: string
  readonly byteLength: number
  #handle: FileHandle | undefined

  constructor(name: string, byteLength: number, handle: FileHandle) {
    this.name = name
    this.byteLength = byteLength
    this.#handle = handle
  }

  async readInto(target: Uint8Array, byteOffset: number): Promise<void> {
    const handle = this.#handle
    if (handle === undefined) throw createClosedError(this.name)
    checkReadRange(this, byteOffset, target.byteLength)
    let done = 0
    while (done < target.byteLength) {
      const length = Math.min(target.byteLength - done, MAX_READ_BYTES)
      let bytesRead: number
      try {
        bytesRead = (await handle.read(target, done, length, byteOffset + done)).bytesRead
      } catch (cause) {
        throw new EngineError('file/read-failed', {
          message: `${this.name}: reading ${length} bytes at byte ${byteOffset + done} failed (${codeOf(cause)}).`,
          hint: 'Check the disk, then try again.',
          cause,
        })
      }
      if (bytesRead === 0) {
        throw createTruncatedError(this.name, byteOffset, target.byteLength, byteOffset + done)
      }
      done += bytesRead
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
  }
}

function describeOpenFailure(path: string, cause: unknown): EngineError {
  const code = codeOf(cause)
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new EngineError('file/not-found', {
        message: path === '' ? 'Expected the path of a file, found an empty text.' : `${path}: no such file.`,
        hint: 'Check the spelling and the current directory.',
        cause,
      })
    case 'EACCES':
    case 'EPERM':
      return new EngineError('file/no-permission', {
        message: `${path}: no permission to read this file.`,
        hint: 'Give the current user read access to it.',
        cause,
      })
    default:
      return new EngineError('file/open-failed', {
        message: `${path}: the file could not be opened (${code}).`,
        hint: 'Check the path and the state of the system (open files, disk, network drive).',
        cause,
      })
  }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : String(error)
}
