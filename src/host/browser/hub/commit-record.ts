/** What a finished download becomes, written down before its files are moved, so that anybody can go on moving them. */
import type { FolderPath } from '../../../hub/storage.ts'
import { findFolder, listSizes, makeFolder, moveFile, removeEntry } from './origin-files.ts'
import { COMMIT, DOWNLOADS, FILES, MANIFEST, MODELS } from './origin-layout.ts'
import { isTextFile, readText, replaceText } from './replace-text.ts'

const VERSION = 1

interface CommitRecord {
  readonly version: typeof VERSION
  readonly model: FolderPath
  /** Sizes by name, of all files. */
  readonly files: Readonly<Record<string, number>>
  readonly manifest: string
}

/** From now on the download is a model, whatever happens; `finishCommit` moves it. */
export async function writeCommitRecord(
  root: FileSystemDirectoryHandle,
  storage: string,
  draft: FolderPath,
  model: FolderPath,
  manifest: string,
): Promise<void> {
  const folder = await makeFolder(root, [storage, DOWNLOADS, ...draft])
  const sizes = await listSizes(await findFolder(folder, [FILES]))
  const record: CommitRecord = { version: VERSION, model, files: Object.fromEntries(sizes), manifest }
  await replaceText(folder, COMMIT, JSON.stringify(record))
}

export async function isCommitWaiting(
  root: FileSystemDirectoryHandle,
  storage: string,
  draft: FolderPath,
): Promise<boolean> {
  return (await readText(await findFolder(root, [storage, DOWNLOADS, ...draft]), COMMIT)) !== undefined
}

/** Moves the files of a commit that was written down, as far as they are not moved yet. Does nothing where there is none. */
export async function finishCommit(
  root: FileSystemDirectoryHandle,
  storage: string,
  draft: FolderPath,
): Promise<void> {
  const folder = await findFolder(root, [storage, DOWNLOADS, ...draft])
  const text = await readText(folder, COMMIT)
  if (folder === undefined || text === undefined) return
  const record = parseRecord(text)
  // Half written: the download is as it was.
  if (record === undefined) return removeRecord(folder)
  const target = await makeFolder(root, [storage, MODELS, ...record.model])
  const from = await findFolder(folder, [FILES])
  const waiting = await listSizes(from)
  // A model that is replaced is no model from here on.
  if (waiting.size > 0) await removeEntry(target, MANIFEST)
  for (const name of waiting.keys())
    if (from && name in record.files) await moveFile(from, name, target, name)
  const moved = await listSizes(target)
  for (const name of moved.keys())
    if (!(name in record.files) && !isTextFile(name, MANIFEST)) await removeEntry(target, name)
  const isWhole = Object.entries(record.files).every(([name, size]) => moved.get(name) === size)
  // Somebody may have removed the model, or the browser a file of it.
  if (isWhole) await replaceText(target, MANIFEST, record.manifest)
  const parent = await findFolder(root, [storage, DOWNLOADS, ...draft.slice(0, -1)])
  await removeEntry(parent, draft.at(-1) as string, { recursive: true })
}

async function removeRecord(folder: FileSystemDirectoryHandle): Promise<void> {
  for (const name of (await listSizes(folder)).keys())
    if (isTextFile(name, COMMIT)) await removeEntry(folder, name)
}

function parseRecord(text: string): CommitRecord | undefined {
  try {
    const record = JSON.parse(text) as CommitRecord
    const isWhole =
      record.version === VERSION &&
      Array.isArray(record.model) &&
      typeof record.files === 'object' &&
      typeof record.manifest === 'string'
    return isWhole ? record : undefined
  } catch {
    return undefined
  }
}
