/** Models from files that a person picked, from a directory handle, or from a server; pictures by address. */
import { createBlobSource } from '../../shared/blob-source.ts'
import { EngineError } from '../../shared/errors.ts'
import type { Fetch } from '../../shared/http-source.ts'
import type { FileHost, LocatedModel, ModelFolder } from '../../shared/model-files.ts'
import { parseUrl } from '../../shared/parse-url.ts'
import { HttpFolder } from './http-folder.ts'

/**
 * Where a model is: the address of a folder or of a `.gguf` file, files that a person picked, a folder that a person
 * opened, or any other folder, such as a stored model that `hub.open` of `onsight/hub` gives.
 */
export type ModelReference = string | URL | Iterable<File> | FileSystemDirectoryHandle | ModelFolder

/** A picture file larger than this is no picture that decodes: 2^27 pixels of 16-bit RGBA without compression. */
const MAX_PICTURE_BYTES = 2 ** 30

/** File names that are part of an address, where an address may also end in the name of a folder. */
const MODEL_FILE = /\.(gguf|safetensors|bin|pt|pth|ckpt|pkl)$/i

export interface BrowserFiles {
  /** What the engine calls the model when it asks `host` for it. */
  readonly name: string
  readonly host: FileHost
}

/** The bytes of a picture of the page's own origin. */
export const readPicture: FileHost['readPicture'] = (picture, signal, maxBytes) =>
  fetchPicture((url, init) => globalThis.fetch(url, init), picture, signal, maxBytes)

/** Other references that the host is asked for, such as a projector's, lie beside the model. */
export function createBrowserFileHost(
  reference: ModelReference,
  fetch: Fetch = (url, init) => globalThis.fetch(url, init),
): BrowserFiles {
  const readPicture: FileHost['readPicture'] = (picture, signal, maxBytes) =>
    fetchPicture(fetch, picture, signal, maxBytes)
  if (typeof reference === 'string' || reference instanceof URL) {
    const base = parseAddress(String(reference), globalThis.location?.href)
    const locateModel: FileHost['locateModel'] = async (address) =>
      locateAddress(fetch, parseAddress(address, base.href))
    return { name: base.href, host: { locateModel, readPicture } }
  }
  const folder = openPickedFolder(reference)
  const locateModel = async (name: string): Promise<LocatedModel> => ({
    folder,
    fileName: name === folder.name ? undefined : name,
  })
  return { name: folder.name, host: { locateModel, readPicture } }
}

/** False where percent signs stand for no text, so that a file's name cannot be told. */
function isDecodable(pathname: string): boolean {
  try {
    decodeURIComponent(pathname)
    return true
  } catch {
    return false
  }
}

/**
 * Files that a person gave, as one folder.
 *
 * @throws EngineError `option/invalid` when there are none, `file/ambiguous-model` for two of one name.
 */
export function openPickedFolder(reference: Exclude<ModelReference, string | URL>): ModelFolder {
  if (isDirectory(reference)) return new OpenedFolder(reference)
  return isModelFolder(reference) ? reference : createPickedFolder(reference)
}

function isModelFolder(reference: unknown): reference is ModelFolder {
  const { name, list, open } = (reference ?? {}) as Partial<Record<keyof ModelFolder, unknown>>
  return typeof name === 'string' && typeof list === 'function' && typeof open === 'function'
}

function isDirectory(reference: unknown): reference is FileSystemDirectoryHandle {
  return (reference as { kind?: unknown } | null | undefined)?.kind === 'directory'
}

function parseAddress(address: string, base: string | undefined): URL {
  const url = parseUrl(address, base)
  if (url && /^https?:$/.test(url.protocol) && isDecodable(url.pathname)) return url
  throw new EngineError('file/bad-url', {
    message: `A model is named by an address that begins with https: or http:, or by one relative to the page; found ${JSON.stringify(address)}.`,
    hint: 'Files on this device have to be picked by a person: give the files of an <input type="file">.',
  })
}

function locateAddress(fetch: Fetch, { origin, pathname, search }: URL): LocatedModel {
  const [folder, last] = splitPath(pathname)
  return MODEL_FILE.test(last)
    ? { folder: new HttpFolder(fetch, origin + folder, search), fileName: decodeURIComponent(last) }
    : { folder: new HttpFolder(fetch, origin + pathname.replace(/\/+$/, ''), search), fileName: undefined }
}

function splitPath(pathname: string): [folder: string, last: string] {
  const at = pathname.lastIndexOf('/')
  return [pathname.slice(0, at), pathname.slice(at + 1)]
}

/** Files of one folder, or files picked one by one. Folders inside a picked folder do not count. */
function createPickedFolder(reference: Iterable<File>): ModelFolder {
  const picked = isIterable(reference) ? [...reference] : []
  const files = new Map<string, File>()
  let name = 'the picked files'
  for (const file of picked) {
    if (!(file instanceof File)) throw createNoFilesError()
    const [folder, ...inside] = (file.webkitRelativePath || '').split('/')
    if (inside.length > 1) continue
    if (folder) name = folder
    if (files.has(file.name)) {
      throw new EngineError('file/ambiguous-model', {
        message: `Two of the picked files are called ${file.name}.`,
        hint: 'Pick the files of one model.',
      })
    }
    files.set(file.name, file)
  }
  if (picked.length === 0) throw createNoFilesError()
  return {
    name,
    list: async () => [...files.keys()],
    async open(fileName) {
      const file = files.get(fileName)
      if (file) return createBlobSource(fileName, file)
      throw createMissingError(name, fileName)
    },
  }
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value

function createNoFilesError(): EngineError {
  return new EngineError('option/invalid', {
    message:
      'A model is named by an address, by a list of files with at least one, or by a directory handle.',
    hint: 'Give the files of an <input type="file" multiple>, or what showDirectoryPicker() resolves to.',
  })
}

function createMissingError(folder: string, fileName: string, cause?: unknown): EngineError {
  return new EngineError('file/not-found', {
    message: `There is no file ${fileName} in ${folder}.`,
    hint: 'Pick the whole folder of the model, or all of its files.',
    cause,
  })
}

/** Handles of a folder on the disk or in the origin's private file system. */
class OpenedFolder implements ModelFolder {
  readonly name: string
  readonly #handle: FileSystemDirectoryHandle

  constructor(handle: FileSystemDirectoryHandle) {
    this.name = handle.name || 'the private folder of this origin'
    this.#handle = handle
  }

  async list(): Promise<readonly string[]> {
    const names: string[] = []
    try {
      for await (const [name, { kind }] of this.#handle.entries()) if (kind === 'file') names.push(name)
    } catch (cause) {
      throw this.#accessError(cause)
    }
    return names
  }

  async open(fileName: string) {
    try {
      const handle = await this.#handle.getFileHandle(fileName)
      return createBlobSource(fileName, await handle.getFile())
    } catch (cause) {
      const isMissing = cause instanceof DOMException && /^(NotFound|TypeMismatch)Error$/.test(cause.name)
      throw isMissing ? createMissingError(this.name, fileName, cause) : this.#accessError(cause)
    }
  }

  #accessError(cause: unknown): EngineError {
    return new EngineError('file/read-failed', {
      message: `${this.name} could not be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: 'Handles kept from an earlier visit need requestPermission() after a click; or open the folder again.',
      cause,
    })
  }
}

/** Pictures of the page itself: a picture of another origin would tell its server what is looked at. */
async function fetchPicture(
  fetch: Fetch,
  reference: string | URL,
  signal?: AbortSignal,
  maxBytes = MAX_PICTURE_BYTES,
): Promise<Uint8Array> {
  const url = parseUrl(String(reference), globalThis.location?.href)
  if (!url || !(/^(blob|data):$/.test(url.protocol) || url.origin === globalThis.location?.origin)) {
    throw new EngineError('image/remote', {
      message: `The picture ${String(reference)} is not of this page's origin; pictures are not fetched from elsewhere.`,
      hint: 'Give its bytes, a Blob, or pixels.',
    })
  }
  let file: Blob
  try {
    const response = await fetch(url.href, signal ? { signal } : {})
    if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`.trim())
    file = await response.blob()
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new EngineError('file/read-failed', {
      message: `The picture ${String(reference)} could not be fetched: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: 'Check the address; blob: and data: addresses need connect-src in a content security policy.',
      cause,
    })
  }
  if (file.size <= maxBytes) return new Uint8Array(await file.arrayBuffer())
  throw new EngineError('image/too-large', {
    message: `${String(reference)} has ${file.size} bytes; picture files of at most ${maxBytes} bytes are read.`,
    hint: 'Give a picture, or save it smaller.',
  })
}
