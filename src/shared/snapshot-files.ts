/** Where saved conversations go to and come from. Streams, blobs and bytes are the same everywhere; hosts add their files. */
import { createBlobSource } from './blob-source.ts'
import type { ByteSource } from './byte-source.ts'
import type { Checksum } from './checksum.ts'
import { EngineError } from './errors.ts'
import { createMemorySource } from './memory-source.ts'
import type { PendingFile } from './pending-file.ts'

/** A file handle of a browser, as file pickers and the origin's private file system give it. */
export interface SnapshotHandle {
  readonly name?: string
  getFile(): Promise<Blob>
  createWritable(): Promise<WritableStream<Uint8Array>>
}

/** In Node a path or file URL, in a browser a file handle, anywhere a stream. Files are replaced only when complete. */
export type SnapshotTarget = string | URL | SnapshotHandle | WritableStream<Uint8Array>

/** In Node a path or file URL, in a browser a file handle, anywhere bytes or a `Blob`. */
export type SnapshotSource = string | URL | SnapshotHandle | Blob | Uint8Array

/** Port. */
export interface SnapshotFiles {
  readonly checksum: Checksum
  /** Begins a file that appears when it is published. */
  create(to: SnapshotTarget): Promise<PendingFile>
  open(from: SnapshotSource): Promise<ByteSource>
}

const NAME = 'the snapshot'

/** Undefined for what only a host knows. */
export async function createStreamFile(to: SnapshotTarget): Promise<PendingFile | undefined> {
  if (hasMethod(to, 'getWriter')) return new StreamFile(NAME, to)
  if (hasMethod(to, 'createWritable')) return new StreamFile(to.name ?? NAME, await to.createWritable())
  return undefined
}

/** Undefined for what only a host knows. */
export async function openBytes(from: SnapshotSource): Promise<ByteSource | undefined> {
  if (from instanceof Uint8Array) return createMemorySource(NAME, from)
  if (typeof Blob !== 'undefined' && from instanceof Blob) return createBlobSource(nameOf(from), from)
  return hasMethod(from, 'getFile') ? createBlobSource(from.name ?? NAME, await from.getFile()) : undefined
}

export function createPlaceError(found: unknown, expected: string): EngineError {
  return new EngineError('option/invalid', {
    message: `A conversation is saved to and restored from ${expected}; found ${typeof found === 'object' ? 'another object' : String(found)}.`,
  })
}

function nameOf(blob: Blob): string {
  return 'name' in blob && typeof blob.name === 'string' ? blob.name : NAME
}

/** Callers may give anything, whatever the types say. */
function hasMethod<Name extends string>(
  value: unknown,
  name: Name,
): value is Extract<SnapshotTarget, Record<Name, unknown>> {
  return typeof value === 'object' && value !== null && name in value
}

/** Closing a stream is what makes a browser's file appear. */
class StreamFile implements PendingFile {
  readonly path: string
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  #isDone = false

  constructor(name: string, stream: WritableStream<Uint8Array>) {
    this.path = name
    this.#writer = stream.getWriter()
  }

  /** Streams may keep what they are given, so they get a copy. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#try(() => this.#writer.write(bytes.slice()))
  }

  async seal(): Promise<void> {}

  async publish(): Promise<void> {
    await this.#try(() => this.#writer.close())
    this.#isDone = true
  }

  async discard(): Promise<void> {
    if (this.#isDone) return
    this.#isDone = true
    await this.#writer.abort().catch(() => {}) // what failed has been reported
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (cause) {
      throw new EngineError('file/write-failed', {
        message: `${this.path}: writing failed (${cause instanceof Error ? cause.message : String(cause)}).`,
        hint: 'Check the space that is left.',
        cause,
      })
    }
  }
}

/** A file in memory, or wherever the host keeps blobs, that is never held twice. */
export class BlobFile implements PendingFile {
  readonly path = NAME
  readonly #parts: Blob[] = []

  async write(bytes: Uint8Array): Promise<void> {
    this.#parts.push(new Blob([bytes.slice()]))
  }

  async seal(): Promise<void> {}
  async publish(): Promise<void> {}

  async discard(): Promise<void> {
    this.#parts.length = 0
  }

  /** Everything that was written. */
  get blob(): Blob {
    return new Blob(this.#parts)
  }
}
