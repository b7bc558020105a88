/** What the store knows of a model: a JSON file beside its files, written last. */
import { isSafeFileName } from './file-names.ts'

const VERSION = 1

export interface StoredFile {
  readonly name: string
  readonly byteLength: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
  /** What the server called this content. */
  readonly etag?: string
}

export interface ModelManifest {
  /** `owner/name`, or `host/file` for a file from anywhere else. */
  readonly id: string
  /** Commit of the repository; for other files the hash of their address. */
  readonly revision: string
  /** The branch, tag or commit that was asked for. */
  readonly requestedRevision: string
  /** Which weights of the repository these are: `safetensors`, or the names of the GGUF files without endings. */
  readonly variant: string
  /** Address without user, query and fragment. */
  readonly source: string
  /** As the repository states it; undefined when it does not. */
  readonly licence?: string
  /** ISO 8601, UTC. */
  readonly committedAt: string
  readonly files: readonly StoredFile[]
}

export function encodeManifest(manifest: ModelManifest): string {
  return `${JSON.stringify({ version: VERSION, ...manifest }, null, 2)}\n`
}

/** @returns undefined for anything that is no whole manifest: such a folder is not a stored model. */
export function parseManifest(text: string): ModelManifest | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const { version, ...manifest } = (value ?? {}) as { version?: unknown } & Record<
    keyof ModelManifest,
    unknown
  >
  const { id, revision, requestedRevision, variant, source, licence, committedAt, files } = manifest
  const texts = [id, revision, requestedRevision, variant, source, committedAt, licence ?? '']
  const isWhole =
    version === VERSION &&
    texts.every((text) => typeof text === 'string') &&
    Array.isArray(files) &&
    files.length > 0 &&
    files.every(isStoredFile)
  return isWhole ? (manifest as ModelManifest) : undefined
}

function isStoredFile(value: unknown): value is StoredFile {
  const { name, byteLength, sha256, etag } = (value ?? {}) as Record<keyof StoredFile, unknown>
  return (
    typeof name === 'string' &&
    isSafeFileName(name) &&
    Number.isSafeInteger(byteLength) &&
    (byteLength as number) >= 0 &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    (etag === undefined || typeof etag === 'string')
  )
}
