/** A download in the origin private file system. */
import type { DraftStorage, FolderPath, PartFile } from '../../../hub/storage.ts'
import { finishCommit, writeCommitRecord } from './commit-record.ts'
import {
  describeFailures,
  findFolder,
  listSizes,
  makeFolder,
  openOriginRoot,
  removeEntry,
} from './origin-files.ts'
import { DOWNLOADS, FILES, JOURNAL } from './origin-layout.ts'
import { openOriginPart } from './origin-part-file.ts'
import { readText, replaceText } from './replace-text.ts'

export class OriginDraft implements DraftStorage {
  readonly #storage: string
  readonly #path: FolderPath
  readonly #what: string
  readonly #release: () => Promise<void>

  /** @param storage Folder of the models. @param release Gives the lock back. */
  constructor(storage: string, path: FolderPath, release: () => Promise<void>) {
    this.#storage = storage
    this.#path = path
    this.#what = path.slice(0, 2).join('/')
    this.#release = release
  }

  async readJournal(): Promise<string | undefined> {
    return readText(await findFolder(await openOriginRoot(), this.#place()), JOURNAL)
  }

  writeJournal(text: string): Promise<void> {
    return describeFailures(this.#what, async () =>
      replaceText(await makeFolder(await openOriginRoot(), this.#place()), JOURNAL, text),
    )
  }

  async listParts(): Promise<ReadonlyMap<string, number>> {
    return listSizes(await findFolder(await openOriginRoot(), this.#place(FILES)))
  }

  openPart(fileName: string): Promise<PartFile> {
    const what = `${this.#what}/${fileName}`
    return describeFailures(what, async () =>
      openOriginPart(await makeFolder(await openOriginRoot(), this.#place(FILES)), fileName, what),
    )
  }

  async removePart(fileName: string): Promise<void> {
    await removeEntry(await findFolder(await openOriginRoot(), this.#place(FILES)), fileName)
  }

  async commit(model: FolderPath, manifest: string): Promise<void> {
    await describeFailures(this.#what, async () => {
      const root = await openOriginRoot()
      await writeCommitRecord(root, this.#storage, this.#path, model, manifest)
      await finishCommit(root, this.#storage, this.#path)
    })
  }

  release(): Promise<void> {
    return this.#release()
  }

  #place(...inside: readonly string[]): string[] {
    return [this.#storage, DOWNLOADS, ...this.#path, ...inside]
  }
}
