/**
 * Models as folders:
 *
 *   models/OWNER/NAME/COMMIT+WEIGHTS/      files, and onsight-model.json
 *   downloads/OWNER/NAME/WEIGHTS/          files/, journal.json, lock
 *   trash/                                 what is being deleted
 *
 * A download becomes a model by the renaming of one folder, and a model is deleted the same way.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DraftStorage, FolderPath, KeptFolder, ModelStorage, PartFile } from '../../hub/storage.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import { openFile } from './file-source.ts'
import { openPartFile } from './part-file.ts'
import { acquireLock } from './process-lock.ts'
import { replaceFile, syncFolder } from './replace-file.ts'
import { describeFailures } from './write-failure.ts'

const MANIFEST = 'onsight-model.json'
const JOURNAL = 'journal.json'
/** Levels of folders: owner, name, weights. */
const DEPTH = 3
/** Manifests and journals of a thousand files have 0.5 MB. */
const MAX_DESCRIPTION_BYTES = 2 ** 22
const MAX_VANISHINGS = 5

/** @param home Folder of this application's data; made when the first model is pulled. */
export function createNodeModelStorage(home: string): ModelStorage {
  return new FolderStorage(home)
}

class FolderStorage implements ModelStorage {
  readonly name: string
  readonly #models: string
  readonly #downloads: string
  readonly #trash: string

  constructor(home: string) {
    this.name = home
    this.#models = join(home, 'models')
    this.#downloads = join(home, 'downloads')
    this.#trash = join(home, 'trash')
  }

  /** Folders that cannot be written to say so themselves. */
  async checkWritable(): Promise<void> {}

  async listModels(): Promise<readonly KeptFolder[]> {
    const folders = await listFolders(this.#models)
    return Promise.all(
      folders.map(async (path) => {
        const location = join(this.#models, ...path)
        return {
          path,
          location,
          description: await readDescription(join(location, MANIFEST)),
          files: await listSizes(location),
        }
      }),
    )
  }

  async listDrafts(): Promise<readonly KeptFolder[]> {
    const drafts: KeptFolder[] = []
    for (const path of await listFolders(this.#downloads)) {
      const location = join(this.#downloads, ...path)
      const isBegun = await stat(join(location, 'files')).catch(() => undefined)
      if (!isBegun) continue
      const description = await readDescription(join(location, JOURNAL))
      drafts.push({ path, location, description, files: await listSizes(join(location, 'files')) })
    }
    return drafts
  }

  open(model: FolderPath, fileName: string): Promise<ByteSource> {
    return openFile(join(this.#models, ...model, fileName))
  }

  async openDraft(path: FolderPath): Promise<DraftStorage> {
    const folder = join(this.#downloads, ...path)
    return describeFailures(folder, async () => {
      await this.#emptyTrash()
      // Whoever had the lock before may have finished in between, which takes the folder away.
      const release = await whileVanishing(async () => {
        await mkdir(join(folder, 'files'), { recursive: true })
        return acquireLock(join(folder, 'lock'), path.slice(0, 2).join('/'))
      })
      return new FolderDraft(folder, release, {
        adopt: (files, model) => this.#adopt(files, model),
        discard: async () => {
          await this.#discard(folder)
          await removeEmptyParents(folder, this.#downloads)
          await this.#emptyTrash()
        },
      })
    })
  }

  async removeModel(path: FolderPath): Promise<void> {
    await describeFailures(this.#models, async () => {
      await this.#discard(join(this.#models, ...path))
      await removeEmptyParents(join(this.#models, ...path), this.#models)
      await this.#emptyTrash()
    })
  }

  async removeDraft(path: FolderPath): Promise<void> {
    const folder = join(this.#downloads, ...path)
    await describeFailures(folder, async () => {
      const release = await acquireLock(join(folder, 'lock'), path.slice(0, 2).join('/'))
      try {
        await this.#discard(folder)
      } finally {
        await release()
      }
      await removeEmptyParents(folder, this.#downloads)
      await this.#emptyTrash()
    })
  }

  async freeBytes(): Promise<number | undefined> {
    for (let folder = this.#models; ; folder = dirname(folder)) {
      const found = await statfs(folder).catch(() => undefined)
      if (found) return found.bavail * found.bsize
      if (dirname(folder) === folder) return undefined
    }
  }

  /** Puts a finished download where models are. */
  async #adopt(files: string, model: FolderPath): Promise<void> {
    const target = join(this.#models, ...model)
    if (await stat(target).catch(() => undefined)) await this.#discard(target)
    await whileVanishing(async () => {
      await mkdir(dirname(target), { recursive: true })
      await rename(files, target)
    })
    await syncFolder(dirname(target))
  }

  /** Gone at once for everybody who looks, deleted afterwards. */
  async #discard(folder: string): Promise<void> {
    // Another process may be emptying the trash.
    await whileVanishing(async () => {
      await mkdir(this.#trash, { recursive: true })
      await rename(folder, join(this.#trash, randomUUID()))
    })
  }

  /** What an interrupted deletion has left too. */
  async #emptyTrash(): Promise<void> {
    await rm(this.#trash, { recursive: true, force: true })
  }
}

/** What a draft asks of its storage when it ends. */
interface DraftEnd {
  adopt(files: string, model: FolderPath): Promise<void>
  discard(): Promise<void>
}

class FolderDraft implements DraftStorage {
  readonly #folder: string
  readonly #files: string
  readonly #release: () => Promise<void>
  readonly #end: DraftEnd

  constructor(folder: string, release: () => Promise<void>, end: DraftEnd) {
    this.#folder = folder
    this.#files = join(folder, 'files')
    this.#release = release
    this.#end = end
  }

  readJournal(): Promise<string | undefined> {
    return readDescription(join(this.#folder, JOURNAL))
  }

  writeJournal(text: string): Promise<void> {
    return replaceFile(join(this.#folder, JOURNAL), text)
  }

  listParts(): Promise<ReadonlyMap<string, number>> {
    return listSizes(this.#files)
  }

  openPart(fileName: string): Promise<PartFile> {
    return openPartFile(join(this.#files, fileName))
  }

  removePart(fileName: string): Promise<void> {
    return rm(join(this.#files, fileName), { force: true })
  }

  async commit(model: FolderPath, manifest: string): Promise<void> {
    await describeFailures(this.#folder, async () => {
      await replaceFile(join(this.#files, MANIFEST), manifest)
      await syncFolder(this.#files)
      await this.#end.adopt(this.#files, model)
      await this.#end.discard()
    })
  }

  release(): Promise<void> {
    return this.#release()
  }
}

/** Folders `DEPTH` levels below `root`. */
async function listFolders(root: string): Promise<string[][]> {
  let paths: string[][] = [[]]
  for (let level = 0; level < DEPTH; level++) {
    const next = paths.map(async (path) => {
      const entries = await readdir(join(root, ...path), { withFileTypes: true }).catch(() => [])
      return entries.filter((entry) => entry.isDirectory()).map((entry) => [...path, entry.name])
    })
    paths = (await Promise.all(next)).flat()
  }
  return paths
}

async function listSizes(folder: string): Promise<ReadonlyMap<string, number>> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const sizes = new Map<string, number>()
  for (const entry of entries.filter((entry) => entry.isFile() && entry.name !== MANIFEST)) {
    // What vanishes meanwhile is not there.
    const found = await stat(join(folder, entry.name)).catch(() => undefined)
    if (found) sizes.set(entry.name, found.size)
  }
  return sizes
}

async function readDescription(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile() || found.size > MAX_DESCRIPTION_BYTES) return undefined
  return readFile(path, 'utf8').catch(() => undefined)
}

/** Up to, but without `root`. */
async function removeEmptyParents(path: string, root: string): Promise<void> {
  for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (!isRemoved) return
  }
}

/** Tries again when another process has just taken a folder away. */
async function whileVanishing<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === MAX_VANISHINGS) throw error
    }
  }
}
