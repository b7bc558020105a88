/** Files that appear under their names only when they are complete, as hosts make them. */

export interface PendingFile {
  /** The name it will have. */
  readonly path: string
  /** Appends. The bytes may be reused after the promise resolves. */
  write(bytes: Uint8Array): Promise<void>
  /** Waits until everything is on the disk. Nothing can be written after it. */
  seal(): Promise<void>
  /** Gives the sealed file its name, in place of one that has it. */
  publish(): Promise<void>
  /** Takes an unpublished file away. Safe to call at any time. */
  discard(): Promise<void>
}

export interface TargetState {
  readonly exists: boolean
  /** Bytes that may still be written to the folder; undefined where the host cannot tell. */
  readonly freeBytes: number | undefined
}

export interface PendingFileHost {
  /**
   * Looks at a place where a file is to be. Rejects with `file/not-found` when its folder is missing and with
   * `file/is-directory` when it is a folder itself.
   */
  inspectTarget(path: string): Promise<TargetState>
  /** Begins a file beside its final place. */
  createFile(path: string): Promise<PendingFile>
}

/** A folder for files that are needed only while something runs. */
export interface ScratchFolder {
  /** The path of a file in it. */
  pathOf(fileName: string): string
  remove(fileName: string): Promise<void>
  /** Takes it away with everything in it. */
  dispose(): Promise<void>
}
