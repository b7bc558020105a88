/** The hashes of a file while it grows: SHA-256 always, git's SHA-1 where the listing gives nothing else. */
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { Hasher, HubPorts } from './ports.ts'

/** Read at once when bytes on disk are hashed again. */
const PIECE_BYTES = 2 ** 20

export interface ExpectedContent {
  readonly byteLength: number | undefined
  readonly sha256: string | undefined
  readonly gitSha1: string | undefined
}

export class ContentHash {
  readonly #expected: ExpectedContent
  readonly #sha256: Hasher
  readonly #gitSha1: Hasher | undefined

  constructor(ports: HubPorts, expected: ExpectedContent) {
    this.#expected = expected
    this.#sha256 = ports.createHash('sha256')
    if (expected.gitSha1 !== undefined && expected.byteLength !== undefined) {
      this.#gitSha1 = ports.createHash('sha1')
      this.#gitSha1.update(new TextEncoder().encode(`blob ${expected.byteLength}\0`))
    }
  }

  update(bytes: Uint8Array): void {
    this.#sha256.update(bytes)
    this.#gitSha1?.update(bytes)
  }

  /** Ends hashing. @returns The SHA-256, or an error that tells both hashes. */
  finish(name: string): string | EngineError {
    const sha256 = this.#sha256.digestHex()
    const sha1 = this.#gitSha1?.digestHex()
    const { sha256: wanted, gitSha1 } = this.#expected
    if (wanted !== undefined && wanted !== sha256) return wrongHash(name, 'SHA-256', wanted, sha256)
    if (gitSha1 !== undefined && sha1 !== undefined && gitSha1 !== sha1)
      return wrongHash(name, 'git SHA-1', gitSha1, sha1)
    return sha256
  }
}

function wrongHash(name: string, kind: string, expected: string, found: string): EngineError {
  return new EngineError('hub/wrong-hash', {
    message: `${name}: expected ${kind} ${expected}, found ${found}.`,
    hint: 'The file was damaged on its way or replaced; it was deleted. Pull again, or try another endpoint (HF_ENDPOINT).',
  })
}

export interface ReadableBytes {
  readonly byteLength: number
  readInto(target: Uint8Array, byteOffset: number): Promise<void>
}

/** Reads everything once, in pieces. */
export async function readPieces(
  source: ReadableBytes,
  take: (piece: Uint8Array, byteOffset: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const buffer = new Uint8Array(Math.min(PIECE_BYTES, source.byteLength))
  for (let offset = 0; offset < source.byteLength; offset += buffer.byteLength) {
    throwIfAborted(signal)
    const piece = buffer.subarray(0, Math.min(buffer.byteLength, source.byteLength - offset))
    await source.readInto(piece, offset)
    take(piece, offset)
  }
}
