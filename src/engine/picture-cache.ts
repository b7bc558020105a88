/**
 * Pictures that were encoded, shared by the conversations of a model: who asks about a picture that is known here skips
 * its frames and the vision tower. What nobody uses any more is kept as long as there is room.
 */
import type { Backend } from '../backend/backend.ts'
import type { FramePlan } from '../image/preprocess.ts'
import type { RgbImage } from '../image/rgb-image.ts'
import type { Picture } from './picture.ts'

interface Entry {
  readonly picture: Picture
  users: number
}

export class PictureCache {
  readonly #backend: Backend
  readonly #budget: number
  /** By key, the least recently used first. */
  readonly #entries = new Map<string, Entry>()
  #byteLength = 0

  /** @param budget Bytes of features; those in use may be more, and then nothing else is kept. */
  constructor(backend: Backend, budget: number) {
    this.#backend = backend
    this.#budget = budget
  }

  /** Bytes of the features that are held, used or not. */
  get byteLength(): number {
    return this.#byteLength
  }

  /** The picture is kept at least until it is released. */
  take(key: string): Picture | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    entry.users++
    this.#touch(key, entry)
    return entry.picture
  }

  /**
   * Takes over a picture that was encoded for one user. Returns the one to use: another of the same key may have been
   * faster, and a conversation knows its pictures by their buffers.
   */
  put(key: string, picture: Picture): Picture {
    const faster = this.take(key)
    if (faster) {
      this.#backend.free(picture.features)
      return faster
    }
    this.#entries.set(key, { picture, users: 1 })
    this.#byteLength += picture.features.byteLength
    this.#evict()
    return picture
  }

  /** Ends one use of a picture. Those that are not from here are freed. */
  release({ key, features }: Picture): void {
    const entry = key === undefined ? undefined : this.#entries.get(key)
    if (key === undefined || entry?.picture.features !== features) {
      this.#backend.free(features)
      return
    }
    entry.users--
    this.#touch(key, entry)
    this.#evict()
  }

  #touch(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
  }

  #evict(): void {
    for (const [key, { picture, users }] of this.#entries) {
      if (this.#byteLength <= this.#budget) return
      if (users > 0) continue
      this.#entries.delete(key)
      this.#byteLength -= picture.features.byteLength
      this.#backend.free(picture.features)
    }
  }
}

/**
 * The same for the same pixels turned into the same features, and for no others. Undefined where the browser has no
 * digests, as in pages without TLS: pictures are then not shared.
 * @param pool Side of the squares of features that become one.
 */
export async function keyOfPicture(
  { data, width, height }: RgbImage,
  plan: FramePlan,
  pool: number,
): Promise<string | undefined> {
  if (globalThis.crypto?.subtle === undefined) return undefined
  // Views of shared memory cannot be digested.
  const own = data.buffer instanceof ArrayBuffer ? (data as Uint8Array<ArrayBuffer>) : data.slice()
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', own))
  const pixels = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return JSON.stringify([pixels, width, height, plan, pool])
}
