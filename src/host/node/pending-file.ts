/** Files on the local disk that are written under a temporary name and renamed when complete. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import process from 'node:process'
import { EngineError } from '../../shared/errors.ts'
import type { PendingFile, PendingFileHost, TargetState } from '../../shared/pending-file.ts'
import { syncFolder } from './replace-file.ts'

/** @param mode Who may do what with the files. Default: what the system gives. */
export function createPendingFileHost(mode?: number): PendingFileHost {
  return { inspectTarget, createFile: (path) => createFile(path, mode) }
}

async function inspectTarget(path: string): Promise<TargetState> {
  const folder = dirname(path)
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) {
    throw new EngineError('file/not-found', {
      message: `${path}: the folder ${folder} does not exist.`,
      hint: 'Make the folder first.',
    })
  }
  const target = await stat(path).catch(() => undefined)
  if (target?.isDirectory()) {
    throw new EngineError('file/is-directory', {
      message: `${path}: expected the name of a file, found a folder.`,
      hint: 'Name a file inside the folder.',
    })
  }
  // Renaming would put a file in the place of /dev/null.
  if (target && !target.isFile()) {
    throw new EngineError('file/not-a-file', {
      message: `${path}: expected the name of a file, found a device, pipe or socket.`,
      hint: 'Name a file that may be written.',
    })
  }
  const space = await statfs(folder).catch(() => undefined)
  return { exists: target !== undefined, freeBytes: space && space.bavail * space.bsize }
}

async function createFile(path: string, mode: number | undefined): Promise<PendingFile> {
  const unfinished = `${path}.${randomUUID()}.part`
  const handle = await open(unfinished, 'wx', mode).catch((cause: unknown) => {
    throw writeError(path, cause)
  })
  return new DiskFile(path, unfinished, handle)
}

class DiskFile implements PendingFile {
  readonly path: string
  readonly #unfinished: string
  #handle: FileHandle | undefined
  #isGone = false
  /** A process that ends at once, as after a second Ctrl-C, leaves nothing behind either. */
  readonly #onExit = (): void => rmSync(this.#unfinished, { force: true })

  constructor(path: string, unfinished: string, handle: FileHandle) {
    this.path = path
    this.#unfinished = unfinished
    this.#handle = handle
    process.once('exit', this.#onExit)
  }

  async write(bytes: Uint8Array): Promise<void> {
    const handle = this.#requireHandle()
    try {
      for (let done = 0; done < bytes.byteLength; ) {
        done += (await handle.write(bytes, done, bytes.byteLength - done)).bytesWritten
      }
    } catch (cause) {
      throw writeError(this.path, cause)
    }
  }

  async seal(): Promise<void> {
    const handle = this.#requireHandle()
    try {
      await handle.sync()
      this.#handle = undefined
      await handle.close()
    } catch (cause) {
      throw writeError(this.path, cause)
    }
  }

  async publish(): Promise<void> {
    try {
      await rename(this.#unfinished, this.path)
    } catch (cause) {
      throw writeError(this.path, cause)
    }
    this.#isGone = true
    process.removeListener('exit', this.#onExit)
    await syncFolder(dirname(this.path))
  }

  async discard(): Promise<void> {
    if (this.#isGone) return
    this.#isGone = true
    process.removeListener('exit', this.#onExit)
    await this.#handle?.close().catch(() => {}) // the write that failed has been reported
    this.#handle = undefined
    await rm(this.#unfinished, { force: true })
  }

  #requireHandle(): FileHandle {
    if (this.#handle) return this.#handle
    throw new EngineError('file/closed', { message: `${this.path}: written to after it was complete.` })
  }
}

function writeError(path: string, cause: unknown): EngineError {
  const { code } = (cause ?? {}) as { code?: unknown }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new EngineError('file/disk-full', {
      message: `${path}: the disk is full.`,
      hint: 'Free some space or write to another disk. Nothing was left behind.',
      cause,
    })
  }
  return new EngineError('file/write-failed', {
    message: `${path}: writing failed (${typeof code === 'string' ? code : String(cause)}).`,
    hint: 'Check the permissions of the folder and the disk.',
    cause,
  })
}
