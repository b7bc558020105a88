/** Reads stored files again and compares them with what was pulled. */
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { ContentHash, readPieces } from './content-hash.ts'
import type { ModelStore, StoredModel } from './model-store.ts'
import type { HubPorts } from './ports.ts'

/** What became of a file: as it was pulled, gone, of another size, or of the same size with other bytes. */
export type FileState = 'intact' | 'missing' | 'wrong-size' | 'wrong-hash' | 'unreadable'

export interface FileVerdict {
  readonly name: string
  readonly state: FileState
  /** What was expected and found; empty for intact files. */
  readonly detail: string
}

export interface VerifyReport {
  readonly id: string
  readonly revision: string
  readonly isIntact: boolean
  readonly files: readonly FileVerdict[]
}

export interface VerifyOptions {
  readonly signal?: AbortSignal
  /** Bytes of this model that were read so far. */
  readonly onProgress?: (progress: {
    readonly id: string
    readonly readBytes: number
    readonly totalBytes: number
  }) => void
}

export async function verifyModel(
  model: StoredModel,
  store: ModelStore,
  ports: HubPorts,
  { signal, onProgress }: VerifyOptions = {},
): Promise<VerifyReport> {
  const files: FileVerdict[] = []
  let readBytes = 0
  for (const file of model.files) {
    throwIfAborted(signal)
    files.push(
      await verifyFile(model, file, store, ports, signal, (bytes) => {
        readBytes += bytes
        onProgress?.({ id: model.id, readBytes, totalBytes: model.byteLength })
      }),
    )
  }
  const isIntact = files.every(({ state }) => state === 'intact')
  return { id: model.id, revision: model.revision, isIntact, files }
}

async function verifyFile(
  model: StoredModel,
  { name, byteLength, sha256 }: StoredModel['files'][number],
  store: ModelStore,
  ports: HubPorts,
  signal: AbortSignal | undefined,
  onRead: (bytes: number) => void,
): Promise<FileVerdict> {
  const hash = new ContentHash(ports, { byteLength, sha256, gitSha1: undefined })
  try {
    const source = await store.open(model, name)
    try {
      if (source.byteLength !== byteLength) {
        const detail = `expected ${byteLength} bytes, found ${source.byteLength}`
        return { name, state: 'wrong-size', detail }
      }
      await readPieces(
        source,
        (piece) => {
          hash.update(piece)
          onRead(piece.byteLength)
        },
        signal,
      )
    } finally {
      await source.close()
    }
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error
    return { name, state: error.code === 'file/not-found' ? 'missing' : 'unreadable', detail: error.message }
  }
  const result = hash.finish(name)
  if (typeof result === 'string') return { name, state: 'intact', detail: '' }
  return { name, state: 'wrong-hash', detail: result.message.slice(name.length + 2) }
}
