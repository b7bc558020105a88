/** SHA-256 and SHA-1 of bytes that come in pieces: WebCrypto takes them whole only (docs/decisions has the choice). */
import { createSHA1, createSHA256 } from 'hash-wasm'
import type { Hasher, HashName } from '../../../hub/ports.ts'

type SharedHasher = Awaited<ReturnType<typeof createSHA256>>

/** Compiles both once. Hashes are then made at once, any number side by side. */
export async function prepareHashes(): Promise<(name: HashName) => Hasher> {
  const [sha256, sha1] = await Promise.all([createSHA256(), createSHA1()])
  const shared: Readonly<Record<HashName, SharedHasher>> = { sha256, sha1 }
  return (name) => new SavedHash(shared[name])
}

/** One instance computes all hashes of a kind: each puts its hundred bytes of state in before and takes them out after. */
class SavedHash implements Hasher {
  readonly #hasher: SharedHasher
  #state: Uint8Array

  constructor(hasher: SharedHasher) {
    this.#hasher = hasher
    this.#state = hasher.init().save()
  }

  update(bytes: Uint8Array): void {
    this.#state = this.#hasher.load(this.#state).update(bytes).save()
  }

  digestHex(): string {
    return this.#hasher.load(this.#state).digest('hex')
  }
}
