/**
 * Models in the origin private file system:
 *
 *   FOLDER/models/OWNER/NAME/COMMIT+WEIGHTS/      files, and onsight-model.json
 *   FOLDER/downloads/OWNER/NAME/WEIGHTS/          files/, journal.json, commit.json
 *
 * Folders cannot be renamed here, so a finished download first writes down what it becomes (commit.json), then moves its
 * files one by one, and the manifest comes last. Who finds a commit.json that nobody works on goes on from there.
 */
import type { DraftStorage, FolderPath, KeptFolder, ModelStorage } from '../../../hub/storage.ts'
import { createBlobSource } from '../../../shared/blob-source.ts'
import type { ByteSource } from '../../../shared/byte-source.ts'
import { EngineError } from '../../../shared/errors.ts'
import { finishCommit, isCommitWaiting } from './commit-record.ts'
import { OriginDraft } from './origin-draft.ts'
import {
  checkOriginWritable,
  describeFailures,
  findFile,
  findFolder,
  isWritableHere,
  listFolderNames,
  listSizes,
  makeFolder,
  openOriginRoot,
  removeEntry,
} from './origin-files.ts'
import { DOWNLOADS, FILES, JOURNAL, MANIFEST, MODELS } from './origin-layout.ts'
import { acquireOriginLock } from './origin-lock.ts'
import { isTextFile, readText } from './replace-text.ts'

/** Levels of folders: owner, name, weights. */
const DEPTH = 3

/** @param folder Name of one folder of the origin private file system. */
export function createOriginModelStorage(folder: string): ModelStorage {
  return new OriginModelStorage(folder)
}

class OriginModelStorage implements ModelStorage {
  readonly name: string
  readonly #folder: string

  constructor(folder: string) {
    this.name = `the private file system of ${globalThis.location?.origin ?? 'this site'}, folder ${folder}`
    this.#folder = folder
  }

  async checkWritable(): Promise<void> {
    await openOriginRoot()
    checkOriginWritable()
  }

  async listModels(): Promise<readonly KeptFolder[]> {
    await this.#finishCommits()
    const found: KeptFolder[] = []
    for (const path of await this.#listPaths(MODELS)) {
      const folder = await this.#find(MODELS, path)
      const files = new Map(await listSizes(folder))
      for (const name of files.keys()) if (isTextFile(name, MANIFEST)) files.delete(name)
      const description = await readText(folder, MANIFEST)
      found.push({ path, location: this.#locationOf(MODELS, path), description, files })
    }
    return found
  }

  async listDrafts(): Promise<readonly KeptFolder[]> {
    const found: KeptFolder[] = []
    for (const path of await this.#listPaths(DOWNLOADS)) {
      const folder = await this.#find(DOWNLOADS, path)
      const parts = await this.#find(DOWNLOADS, [...path, FILES])
      if (parts === undefined) continue
      const description = await readText(folder, JOURNAL)
      const files = await listSizes(parts)
      found.push({ path, location: this.#locationOf(DOWNLOADS, path), description, files })
    }
    return found
  }

  async open(model: FolderPath, fileName: string): Promise<ByteSource> {
    const name = [...model.slice(0, 2), fileName].join('/')
    const file = await findFile(await this.#find(MODELS, model), fileName)
    if (file) return createBlobSource(name, file)
    throw new EngineError('file/not-found', {
      message: `${name} is no longer stored in this browser.`,
      hint: 'Pull the model again. Browsers may clear a site’s data; see requestPersistence.',
    })
  }

  async openDraft(path: FolderPath): Promise<DraftStorage> {
    await this.checkWritable()
    const what = path.slice(0, 2).join('/')
    const release = await acquireOriginLock(this.#lockName(path), what)
    try {
      return await describeFailures(what, async () => {
        const root = await openOriginRoot()
        await finishCommit(root, this.#folder, path)
        await makeFolder(root, [this.#folder, DOWNLOADS, ...path, FILES])
        return new OriginDraft(this.#folder, path, release)
      })
    } catch (error) {
      await release()
      throw error
    }
  }

  async removeModel(path: FolderPath): Promise<void> {
    await describeFailures(path.slice(0, 2).join('/'), async () => {
      // First the manifest, so that nobody finds half a model.
      const folder = await this.#find(MODELS, path)
      await removeEntry(folder, MANIFEST)
      await this.#remove(MODELS, path)
    })
  }

  async removeDraft(path: FolderPath): Promise<void> {
    const what = path.slice(0, 2).join('/')
    const release = await acquireOriginLock(this.#lockName(path), what)
    try {
      await describeFailures(what, () => this.#remove(DOWNLOADS, path))
    } finally {
      await release()
    }
  }

  /** The browser's estimate is no measure, so nothing is refused by it: see `estimateStorage`. */
  async freeBytes(): Promise<undefined> {
    return undefined
  }

  /** Goes on where a tab was closed in the moment between the last byte and the manifest. */
  async #finishCommits(): Promise<void> {
    if (!isWritableHere()) return
    const root = await openOriginRoot()
    for (const path of await this.#listPaths(DOWNLOADS)) {
      if (!(await isCommitWaiting(root, this.#folder, path))) continue
      try {
        const release = await acquireOriginLock(this.#lockName(path), path.join('/'))
        await finishCommit(root, this.#folder, path).finally(release)
      } catch (error) {
        // Whoever works on it finishes it.
        if (!(EngineError.isInstance(error) && error.code === 'hub/locked')) throw error
      }
    }
  }

  #lockName(path: FolderPath): string {
    return `onsight:${this.#folder}/${path.join('/')}`
  }

  #locationOf(kind: string, path: FolderPath): string {
    return `opfs:/${[this.#folder, kind, ...path].join('/')}`
  }

  async #find(kind: string, path: FolderPath): Promise<FileSystemDirectoryHandle | undefined> {
    return findFolder(await openOriginRoot(), [this.#folder, kind, ...path])
  }

  async #listPaths(kind: string): Promise<string[][]> {
    let paths: string[][] = [[]]
    for (let level = 0; level < DEPTH; level++) {
      const next: string[][] = []
      for (const path of paths)
        for (const name of await listFolderNames(await this.#find(kind, path))) next.push([...path, name])
      paths = next
    }
    return paths
  }

  /** A folder, and those around it that are empty then. */
  async #remove(kind: string, path: FolderPath): Promise<void> {
    const root = await openOriginRoot()
    for (let length = path.length; length > 0; length--) {
      const parent = await findFolder(root, [this.#folder, kind, ...path.slice(0, length - 1)])
      const isGone = await removeEntry(parent, path[length - 1] as string, {
        recursive: length === path.length,
      })
      if (!isGone) return
    }
  }
}
