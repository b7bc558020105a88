/** A model folder on a server. Servers list nothing, so the names that a model folder may have are asked for. */
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { type Fetch, openHttpSource } from '../../shared/http-source.ts'
import { type ModelFolder, SMALL_MODEL_FILES } from '../../shared/model-files.ts'

/** Shards are named by their index. */
const KNOWN_NAMES = [...SMALL_MODEL_FILES, 'model.safetensors', 'model.safetensors.index.json']

export class HttpFolder implements ModelFolder {
  readonly name: string
  readonly #fetch: Fetch
  readonly #search: string
  /** What listing has opened, until somebody wants it. */
  readonly #found = new Map<string, ByteSource>()
  #names: Promise<readonly string[]> | undefined

  /** @param name Address of the folder, without the slash at the end. @param search Goes behind every address. */
  constructor(fetch: Fetch, name: string, search: string) {
    this.#fetch = fetch
    this.name = name
    this.#search = search
  }

  list(): Promise<readonly string[]> {
    this.#names ??= this.#probe()
    return this.#names
  }

  async open(fileName: string): Promise<ByteSource> {
    const found = this.#found.get(fileName)
    this.#found.delete(fileName)
    const source = found ?? (await openHttpSource(this.#fetch, this.#addressOf(fileName)))
    if (source) return source
    throw new EngineError('file/not-found', {
      message: `There is no file ${this.#addressOf(fileName)}.`,
      hint: 'Check the address, and that the server gives the file as it is.',
    })
  }

  async #probe(): Promise<readonly string[]> {
    const opened = await Promise.all(
      KNOWN_NAMES.map(async (name) => {
        const source = await openHttpSource(this.#fetch, this.#addressOf(name))
        if (source) this.#found.set(name, source)
        return source ? [name] : []
      }),
    )
    return opened.flat()
  }

  #addressOf(fileName: string): string {
    return `${this.name}/${encodeURIComponent(fileName)}${this.#search}`
  }
}
