/**
 * Where bytes of models are kept. Two hosts implement this: folders in Node, and a browser's origin private file system,
 * which has no rename of folders and no list of processes, but files that are written at offsets.
 *
 * What the texts of manifests and journals say is none of the host's business. A model is there when its manifest is
 * there, and the manifest appears after everything else.
 */
import type { ByteSource } from '../shared/byte-source.ts'

/** Names of folders, one inside the other. */
export type FolderPath = readonly string[]

export interface KeptFolder {
  /** Relative to the storage. */
  readonly path: FolderPath
  /** What a person may open: a path. */
  readonly location: string
  /** Text of the manifest, or of the journal of a draft; undefined when there is none. */
  readonly description: string | undefined
  /** Sizes by name; manifest and journal left out. */
  readonly files: ReadonlyMap<string, number>
}

export interface ModelStorage {
  /** What messages call it. */
  readonly name: string
  /**
   * Asked before anything is fetched.
   *
   * @throws EngineError where nothing can be written: `hub/needs-worker`, `hub/no-storage`.
   */
  checkWritable(): Promise<void>
  listModels(): Promise<readonly KeptFolder[]>
  listDrafts(): Promise<readonly KeptFolder[]>
  /** Opens a file of a model; the caller closes it. */
  open(model: FolderPath, fileName: string): Promise<ByteSource>
  /**
   * Opens what an earlier download left, or begins one.
   *
   * @throws EngineError `hub/locked` while somebody else works on it.
   */
  openDraft(path: FolderPath): Promise<DraftStorage>
  /** After this nobody finds the model; returns when its bytes are free. */
  removeModel(path: FolderPath): Promise<void>
  /** @throws EngineError `hub/locked` while the download runs. */
  removeDraft(path: FolderPath): Promise<void>
  /** Undefined where the system does not tell, or not reliably. */
  freeBytes(): Promise<number | undefined>
}

/** A download: files that grow, and a journal of what they are. One process at a time holds it. */
export interface DraftStorage {
  /** Undefined when there is none yet. */
  readJournal(): Promise<string | undefined>
  /** Replaces the journal at once: nobody ever reads half of one. */
  writeJournal(text: string): Promise<void>
  /** Sizes by name. */
  listParts(): Promise<ReadonlyMap<string, number>>
  /** Opens a file for writing, empty where there was none. */
  openPart(fileName: string): Promise<PartFile>
  removePart(fileName: string): Promise<void>
  /** Makes the parts a model, in place of one at the same path, and ends the draft. */
  commit(model: FolderPath, manifest: string): Promise<void>
  /** Lets others work on the download. Safe to call twice. */
  release(): Promise<void>
}

export interface PartFile {
  readonly byteLength: number
  /** @throws EngineError `hub/no-space`, `hub/write-failed`. */
  write(bytes: Uint8Array, byteOffset: number): Promise<void>
  readInto(target: Uint8Array, byteOffset: number): Promise<void>
  truncate(byteLength: number): Promise<void>
  /** Returns when the bytes are on the disk. */
  flush(): Promise<void>
  close(): Promise<void>
}
