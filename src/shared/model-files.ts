import type { ByteSource } from './byte-source.ts'

/** What the loader reads of a model folder beside safetensors. */
export const SMALL_MODEL_FILES: readonly string[] = [
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'processor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'chat_template.json',
  'chat_template.jinja',
]

/** A folder of a model, as hosts show it: a directory, files picked in a browser, a repository over HTTP. */
export interface ModelFolder {
  /** What messages call it. */
  readonly name: string
  /** File names without folders. */
  list(): Promise<readonly string[]>
  /** Opens a file by its name. Rejects with `file/not-found` when there is none. */
  open(fileName: string): Promise<ByteSource>
}

/** Where a model reference leads. */
export interface LocatedModel {
  readonly folder: ModelFolder
  /** Set when the reference names a file; undefined when it names the folder. */
  readonly fileName: string | undefined
}

/** Finds models and pictures by the references that users give. */
export interface FileHost {
  locateModel(reference: string): Promise<LocatedModel>
  /** The bytes of a picture that was named by path or URL. Throws `image/too-large` for more than `maxBytes`. */
  readPicture(reference: string | URL, signal?: AbortSignal, maxBytes?: number): Promise<Uint8Array>
}
