/** Saved conversations on the local disk. */
import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import type { PendingFile } from '../../shared/pending-file.ts'
import {
  createPlaceError,
  createStreamFile,
  openBytes,
  type SnapshotFiles,
  type SnapshotSource,
  type SnapshotTarget,
} from '../../shared/snapshot-files.ts'
import { openFile } from './file-source.ts'
import { createPendingFileHost } from './pending-file.ts'

/** A file that nobody wrote to for so long was left behind by a process that was killed. */
const STALE_MS = 10 * 60 * 1000

/** What was said is nobody else's business. */
const OWNER_ONLY = 0o600

/** @throws EngineError of kind `file/…`, for example `file/not-found` or `file/disk-full`. */
export function createSnapshotFiles(): SnapshotFiles {
  return {
    checksum: crc32, // three times as fast as JavaScript
    create: async (to) => (await createStreamFile(to)) ?? createFile(pathOf(to)),
    open: async (from) => (await openBytes(from)) ?? openFile(pathOf(from)),
  }
}

async function createFile(path: string): Promise<PendingFile> {
  const files = createPendingFileHost(OWNER_ONLY)
  await files.inspectTarget(path)
  await removeStale(path)
  return files.createFile(path)
}

function pathOf(place: SnapshotTarget | SnapshotSource): string {
  if (typeof place === 'string' && place !== '') return place
  if (place instanceof URL && place.protocol === 'file:') return fileURLToPath(place)
  throw createPlaceError(place, 'a path, a file URL, a stream, bytes or a Blob')
}

async function removeStale(path: string): Promise<void> {
  const folder = dirname(path)
  const prefix = `${basename(path)}.`
  for (const name of await readdir(folder).catch((): string[] => [])) {
    if (!name.startsWith(prefix) || !/^[0-9a-f-]{36}\.part$/.test(name.slice(prefix.length))) continue
    const file = join(folder, name)
    const found = await stat(file).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > STALE_MS) await rm(file, { force: true })
  }
}
