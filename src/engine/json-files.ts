import { createWrongKindError, detectContentKind } from '../formats/content-kind.ts'
import { readBytes } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { ModelFolder } from '../shared/model-files.ts'

/** Largest JSON file that is read; tokenizer.json of 256k-token vocabularies has 35 MB. */
const MAX_JSON_BYTES = 128 * 1024 * 1024

/** The small text files of a model folder. */
export class JsonFiles {
  readonly #folder: ModelFolder
  #names: Promise<readonly string[]> | undefined

  constructor(folder: ModelFolder) {
    this.#folder = folder
  }

  /** What messages call a file. */
  label(fileName: string): string {
    return `${this.#folder.name}/${fileName}`
  }

  /** Parsed JSON; undefined when there is no such file. */
  async read(fileName: string): Promise<unknown> {
    const text = await this.readText(fileName)
    if (text === undefined) return undefined
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw this.#notJson(fileName, text, cause)
    }
  }

  /** Parsed JSON of a file that the model cannot do without. */
  async require(fileName: string): Promise<unknown> {
    const value = await this.read(fileName)
    if (value !== undefined) return value
    throw new EngineError('file/missing-file', {
      message: `${this.#folder.name}: ${fileName} is missing.`,
      hint: 'Fetch it from the model repository into this folder.',
    })
  }

  async readText(fileName: string): Promise<string | undefined> {
    this.#names ??= this.#folder.list()
    if (!(await this.#names).includes(fileName)) return undefined
    const source = await this.#folder.open(fileName)
    try {
      if (source.byteLength > MAX_JSON_BYTES) {
        throw new EngineError('file/too-large', {
          message: `${source.name} has ${source.byteLength} bytes; at most ${MAX_JSON_BYTES} are read of a text file.`,
          hint: 'The file is not what its name says; fetch it again.',
        })
      }
      return new TextDecoder().decode(await readBytes(source, 0, source.byteLength))
    } finally {
      await source.close()
    }
  }

  #notJson(fileName: string, text: string, cause: unknown): EngineError {
    const head = new TextEncoder().encode(text.slice(0, 512))
    if (!['json', 'text', 'unknown'].includes(detectContentKind(head)))
      return createWrongKindError(this.label(fileName), 'a JSON file', head)
    return new EngineError('file/not-json', {
      message: `${this.label(fileName)} is not valid JSON: ${(cause as Error).message}`,
      hint: 'The download may be incomplete; fetch the file again.',
      cause,
    })
  }
}
