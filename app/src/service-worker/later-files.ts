/**
 * Files that are kept as they are asked for, whole: the bundled model, and parts of the app that only some use. One
 * download serves everybody who waits for it.
 */
import type { BuiltFile } from './built-files.ts'

export interface LaterFilesPorts {
  openCache(): Promise<Pick<Cache, 'match' | 'put' | 'keys' | 'delete'>>
  fetch(address: string, init: RequestInit): Promise<Response>
}

export class LaterFiles {
  readonly #ports: LaterFilesPorts
  /** Where each is kept, by its address. */
  readonly #keys: ReadonlyMap<string, string>
  readonly #underWay = new Map<string, Promise<void>>()

  /** @param base Address of the folder of the app. */
  constructor(files: readonly BuiltFile[], base: string, ports: LaterFilesPorts) {
    this.#ports = ports
    this.#keys = new Map(
      files.map(({ url, revision }) => {
        const { href } = new URL(url, base)
        return [href, revision === null ? href : `${href}?revision=${revision}`]
      }),
    )
  }

  has(address: string): boolean {
    return this.#keys.has(address)
  }

  /** The whole file, from the cache where it is. What cannot be kept, since the disk is full, is passed on all the same. */
  async answer(address: string): Promise<Response> {
    const cache = await this.#ports.openCache()
    const key = this.#keyOf(address)
    const kept = await cache.match(key)
    if (kept) return kept
    try {
      await this.#keep(address)
    } catch {
      return this.#ports.fetch(address, {})
    }
    return (await cache.match(key)) ?? this.#ports.fetch(address, {})
  }

  /** Fetches what is still missing, one after the other. */
  async keepAll(): Promise<void> {
    for (const address of this.#keys.keys()) await this.#keep(address)
  }

  /** Deletes what an earlier version has left. */
  async deleteOthers(): Promise<void> {
    const cache = await this.#ports.openCache()
    const wanted = new Set(this.#keys.values())
    for (const request of await cache.keys()) if (!wanted.has(request.url)) await cache.delete(request)
  }

  #keep(address: string): Promise<void> {
    const running = this.#underWay.get(address)
    if (running) return running
    const keeping = this.#fetchInto(address).finally(() => this.#underWay.delete(address))
    this.#underWay.set(address, keeping)
    return keeping
  }

  async #fetchInto(address: string): Promise<void> {
    const cache = await this.#ports.openCache()
    const key = this.#keyOf(address)
    if (await cache.match(key)) return
    // Asks whether what the browser may have of an earlier visit is still right.
    const response = await this.#ports.fetch(address, { cache: 'no-cache' })
    if (!response.ok) throw new Error(`${address} answered ${response.status}.`)
    await cache.put(key, response)
  }

  #keyOf(address: string): string {
    return this.#keys.get(address) ?? address
  }
}
