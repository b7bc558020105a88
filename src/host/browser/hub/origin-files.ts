/**
 * The origin private file system, as far as models need it. Folders are looked up from the root each time: Safari sometimes
 * refuses handles that it gave out a while ago (bldrs-ai/Share#1687).
 */
import { EngineError } from '../../../shared/errors.ts'
import { describeSpace } from './storage-space.ts'

/** Of a dedicated worker; TypeScript has it for workers only. Older Safari versions answer with promises. */
export interface SyncAccessHandle {
  read(target: Uint8Array, options: { at: number }): number
  write(bytes: Uint8Array, options: { at: number }): number
  truncate(byteLength: number): void | Promise<void>
  getSize(): number | Promise<number>
  flush(): void | Promise<void>
  close(): void | Promise<void>
}

interface OriginFileHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<SyncAccessHandle>
  move(folder: FileSystemDirectoryHandle, name: string): Promise<void>
}

/** How long a file may still be held by a worker that was ended, in steps of 100 ms. */
const MAX_WAITS = 20

/** @throws EngineError `hub/no-storage` where this page has no private file system. */
export async function openOriginRoot(): Promise<FileSystemDirectoryHandle> {
  try {
    return await navigator.storage.getDirectory()
  } catch (cause) {
    throw new EngineError('hub/no-storage', {
      message: `This page has no private file system: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: 'Models are stored by pages from https: or localhost, outside private windows, in Chrome 102, Firefox 111 or Safari 15.2 and later.',
      cause,
    })
  }
}

/** @throws EngineError `hub/needs-worker`, `hub/no-storage`. */
export function checkOriginWritable(): void {
  const scope = globalThis as { DedicatedWorkerGlobalScope?: unknown; FileSystemFileHandle?: FileHandleClass }
  if (isWritableHere()) return
  if (scope.DedicatedWorkerGlobalScope === undefined) {
    throw new EngineError('hub/needs-worker', {
      message:
        'Models are stored from a dedicated worker; this is a page, a shared worker or a service worker.',
      hint: 'Call openModelHub in a new Worker(…), best in the one that loads the model; listing and opening work everywhere.',
    })
  }
  throw new EngineError('hub/no-storage', {
    message:
      'This browser gives workers no files that are written at offsets (createSyncAccessHandle, move).',
    hint: 'Use Chrome 102, Firefox 111 or Safari 15.2 and later, and a page from https: or localhost.',
  })
}

interface FileHandleClass {
  readonly prototype: object
}

export function isWritableHere(): boolean {
  const { FileSystemFileHandle: fileHandle } = globalThis as { FileSystemFileHandle?: FileHandleClass }
  return (
    fileHandle !== undefined &&
    'createSyncAccessHandle' in fileHandle.prototype &&
    'move' in fileHandle.prototype
  )
}

export async function makeFolder(
  root: FileSystemDirectoryHandle,
  path: readonly string[],
): Promise<FileSystemDirectoryHandle> {
  let folder = root
  for (const name of path) folder = await folder.getDirectoryHandle(name, { create: true })
  return folder
}

/** Undefined when there is none. */
export async function findFolder(
  root: FileSystemDirectoryHandle,
  path: readonly string[],
): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    let folder = root
    for (const name of path) folder = await folder.getDirectoryHandle(name)
    return folder
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Undefined when there is none. */
export async function findFile(
  folder: FileSystemDirectoryHandle | undefined,
  name: string,
): Promise<File | undefined> {
  try {
    return await (await folder?.getFileHandle(name))?.getFile()
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

export async function listSizes(
  folder: FileSystemDirectoryHandle | undefined,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>()
  if (folder === undefined) return sizes
  try {
    for await (const [name, { kind }] of folder.entries()) {
      const file = kind === 'file' ? await findFile(folder, name) : undefined
      if (file) sizes.set(name, file.size)
    }
  } catch (error) {
    // The folder may go while it is read.
    if (!isAbsence(error)) throw error
  }
  return sizes
}

/** Names of the folders in a folder. */
export async function listFolderNames(folder: FileSystemDirectoryHandle | undefined): Promise<string[]> {
  const names: string[] = []
  if (folder === undefined) return names
  try {
    for await (const [name, { kind }] of folder.entries()) if (kind === 'directory') names.push(name)
  } catch (error) {
    if (!isAbsence(error)) throw error
  }
  return names
}

/** @returns Whether it is gone now: a folder with something in it stays unless `recursive`. */
export async function removeEntry(
  folder: FileSystemDirectoryHandle | undefined,
  name: string,
  { recursive = false } = {},
): Promise<boolean> {
  try {
    await folder?.removeEntry(name, { recursive })
    return true
  } catch (error) {
    if (isAbsence(error)) return true
    if (!recursive && nameOf(error) === 'InvalidModificationError') return false
    throw error
  }
}

/** Takes the place of a file of that name. */
export async function moveFile(
  from: FileSystemDirectoryHandle,
  name: string,
  to: FileSystemDirectoryHandle,
  newName: string,
): Promise<void> {
  const file = (await from.getFileHandle(name)) as OriginFileHandle
  // Browsers differ on moving over something.
  await removeEntry(to, newName)
  await file.move(to, newName)
}

/** For reading and writing; makes an empty file where there is none. Nobody else may write to it meanwhile. */
export async function openSyncHandle(
  folder: FileSystemDirectoryHandle,
  name: string,
): Promise<SyncAccessHandle> {
  const file = (await folder.getFileHandle(name, { create: true })) as OriginFileHandle
  for (let waits = 0; ; waits++) {
    try {
      return await file.createSyncAccessHandle()
    } catch (error) {
      // A page that was reloaded a moment ago may have left its worker's handle.
      if (nameOf(error) !== 'NoModificationAllowedError' || waits === MAX_WAITS) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Runs `work`; what the browser reports becomes an `EngineError`. @param what Names the file or folder. */
export async function describeFailures<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (EngineError.isInstance(error)) throw error
    throw await describeFailure(what, error)
  }
}

async function describeFailure(what: string, cause: unknown): Promise<EngineError> {
  const text = cause instanceof Error ? cause.message : String(cause)
  switch (nameOf(cause)) {
    case 'QuotaExceededError':
      return new EngineError('hub/no-space', {
        message: `${what}: the browser gives this site no more room (${await describeSpace()}).`,
        hint: 'Remove a model or free space on the device and begin again; what was fetched is kept.',
        cause,
      })
    case 'NoModificationAllowedError':
      return new EngineError('hub/locked', {
        message: `${what} is being written to by another tab or worker of this site.`,
        hint: 'Wait until it has finished, or close the other tab.',
        cause,
      })
    case 'NotFoundError':
      return new EngineError('hub/write-failed', {
        message: `${what} is gone: the browser, or somebody in another tab, has cleared the site's data.`,
        hint: 'Begin again. After requestPersistence() browsers do not clear it by themselves.',
        cause,
      })
    default:
      return new EngineError('hub/write-failed', {
        message: `${what}: writing failed (${text}).`,
        hint: 'Reload the page and begin again; what was fetched is kept.',
        cause,
      })
  }
}

export function isAbsence(error: unknown): boolean {
  return /^(NotFoundError|TypeMismatchError)$/.test(nameOf(error))
}

/** By name, since errors may come from another realm. */
function nameOf(error: unknown): string {
  return String((error as { name?: unknown } | null)?.name)
}
