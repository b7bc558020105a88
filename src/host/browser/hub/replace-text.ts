/** Small texts that are either the old or the new, whenever a tab is closed. */
import { findFile, moveFile, openSyncHandle } from './origin-files.ts'

/** Manifests and journals of a thousand files have 0.5 MB. */
const MAX_TEXT_BYTES = 2 ** 22
const NEXT = '.next'

/** Writes beside the file, then takes its place. */
export async function replaceText(
  folder: FileSystemDirectoryHandle,
  name: string,
  text: string,
): Promise<void> {
  const bytes = new TextEncoder().encode(text)
  const handle = await openSyncHandle(folder, name + NEXT)
  try {
    await handle.truncate(0)
    const written = handle.write(bytes, { at: 0 })
    if (written !== bytes.byteLength) throw new Error(`${written} of ${bytes.byteLength} bytes were written`)
    await handle.flush()
  } finally {
    await handle.close()
  }
  await moveFile(folder, name + NEXT, folder, name)
}

/** Undefined when there is none. Between taking the old one away and putting the new one there, it is the new one. */
export async function readText(
  folder: FileSystemDirectoryHandle | undefined,
  name: string,
): Promise<string | undefined> {
  const file = (await findFile(folder, name)) ?? (await findFile(folder, name + NEXT))
  return file === undefined || file.size > MAX_TEXT_BYTES ? undefined : file.text()
}

/** Whether a file of a folder is one of those, written or half written. */
export function isTextFile(fileName: string, name: string): boolean {
  return fileName === name || fileName === name + NEXT
}
