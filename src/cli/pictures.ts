/** Pictures named on the command line. */
import type { ImageInput } from '../engine/types.ts'
import { openFile } from '../host/node/file-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { InputStream } from './context.ts'

/** Stands for standard input. */
export const STDIN_NAME = '-'

/** Far above any photo, RAW files included; keeps an endless stream from filling the memory. */
const MAX_STDIN_BYTES = 2 ** 30

/**
 * Looks whether the files are there, since finding out after loading a model takes long, and reads standard input.
 *
 * @throws EngineError of the first picture that is missing.
 */
export async function findPictures(names: readonly string[], stdin: InputStream): Promise<ImageInput[]> {
  if (names.filter((name) => name === STDIN_NAME).length > 1) {
    throw new EngineError('option/picture', {
      message: 'Expected standard input (-) as one picture, found it several times.',
    })
  }
  const pictures: ImageInput[] = []
  for (const name of names) pictures.push(name === STDIN_NAME ? await readStdin(stdin) : await findFile(name))
  return pictures
}

export async function findFile(path: string): Promise<string> {
  await (await openFile(path)).close()
  return path
}

/** A file, so that errors about it have a name. */
async function readStdin(stdin: InputStream): Promise<File> {
  if (stdin.isTTY) {
    throw new EngineError('option/picture', {
      message: 'Expected a picture on standard input, found a terminal.',
      hint: 'Pipe a file: onsight describe - < photo.jpg',
    })
  }
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let byteLength = 0
  for await (const chunk of stdin) {
    const bytes = new Uint8Array(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    byteLength += bytes.length
    if (byteLength > MAX_STDIN_BYTES) {
      throw new EngineError('image/too-large', {
        message: `Standard input: expected a picture of at most ${MAX_STDIN_BYTES} bytes, found more.`,
      })
    }
    chunks.push(bytes)
  }
  return new File(chunks, 'standard input')
}
