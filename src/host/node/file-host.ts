/** Models and pictures on the local disk. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EngineError } from '../../shared/errors.ts'
import type { FileHost, LocatedModel, ModelFolder } from '../../shared/model-files.ts'
import { openFile } from './file-source.ts'

/** A picture file larger than this is no picture that decodes: 2^27 pixels of 16-bit RGBA without compression. */
const MAX_PICTURE_BYTES = 2 ** 30

/** Where a pulled model lies. */
export interface StoredLocation {
  readonly location: string
  /** Set when the reference names one of its files. */
  readonly fileName: string | undefined
}

/**
 * Looks among the pulled models. `not-stored` for what could be pulled, `no-reference` for anything else, such as a
 * path.
 */
export type FindStoredModel = (reference: string) => Promise<StoredLocation | 'not-stored' | 'no-reference'>

/** @param findStored Asked for references that are no paths. Default: there are paths only. */
export function createNodeFileHost(findStored: FindStoredModel = async () => 'no-reference'): FileHost {
  return { locateModel: (reference) => locateModel(reference, findStored), readPicture }
}

async function locateModel(reference: string, findStored: FindStoredModel): Promise<LocatedModel> {
  const path = resolve(reference)
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return locateStored(reference, await findStored(reference))
  if (found.isDirectory()) return { folder: createFolder(path, reference), fileName: undefined }
  return { folder: createFolder(dirname(path), dirname(reference)), fileName: basename(path) }
}

function locateStored(reference: string, stored: Awaited<ReturnType<FindStoredModel>>): LocatedModel {
  if (typeof stored === 'object') {
    return { folder: createFolder(stored.location, reference), fileName: stored.fileName }
  }
  throw new EngineError(
    'file/model-not-found',
    stored === 'no-reference'
      ? {
          message: `There is no model at ${reference}.`,
          hint: 'Give a model folder (config.json, tokenizer.json, *.safetensors) or a .gguf file.',
        }
      : {
          message: `There is no model at ${reference}, and none of that name is stored.`,
          hint: `Fetch it once with: onsight pull ${reference}`,
        },
  )
}

/**
 * A folder of files that make a model.
 *
 * @throws EngineError `file/not-found` when there is no folder at this path.
 */
export async function openModelFolder(path: string): Promise<ModelFolder> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return createFolder(resolve(path), basename(resolve(path)))
  throw new EngineError('file/not-found', {
    message: `${path}: expected a folder, found ${found ? 'a file' : 'nothing'}.`,
    hint: 'Give the folder that holds the files of one model.',
  })
}

function createFolder(path: string, name: string): ModelFolder {
  return {
    name,
    async list() {
      const entries = await readdir(path, { withFileTypes: true })
      return entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name)
    },
    open: (fileName) => openFile(join(path, fileName)),
  }
}

async function readPicture(
  reference: string | URL,
  signal?: AbortSignal,
  maxBytes = MAX_PICTURE_BYTES,
): Promise<Uint8Array> {
  const path = picturePath(reference)
  const source = await openFile(path)
  try {
    if (source.byteLength > maxBytes) {
      throw new EngineError('image/too-large', {
        message: `${path} has ${source.byteLength} bytes; picture files of at most ${maxBytes} bytes are read.`,
        hint: 'Give a picture, or save it smaller.',
      })
    }
  } finally {
    await source.close()
  }
  return readFile(path, signal && { signal })
}

function picturePath(reference: string | URL): string {
  const text = String(reference)
  if (/^https?:/i.test(text)) {
    throw new EngineError('image/remote', {
      message: `The picture ${text} is not on this device; pictures are not fetched from the network.`,
      hint: 'Save the picture and give its path.',
    })
  }
  if (!text.startsWith('file:')) return text
  try {
    return fileURLToPath(text)
  } catch (cause) {
    throw new EngineError('file/bad-url', {
      message: `${text} names no file on this device: ${(cause as Error).message}.`,
      hint: 'Give the path of the picture, or a URL as pathToFileURL makes it.',
      cause,
    })
  }
}
