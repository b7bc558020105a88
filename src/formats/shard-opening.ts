/** Opening the parts of a model that is split over several files. */
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'

/** Opens a file by its name beside the index or the first part. */
export type OpenShard = (fileName: string) => Promise<ByteSource>

/**
 * Opens and loads every part, in order. When one fails, all that were opened are closed again.
 *
 * @throws EngineError `file/missing-shard` naming the part that could not be opened, or what `load` throws.
 */
export async function loadShards<T>(
  ownerName: string,
  fileNames: readonly string[],
  open: OpenShard,
  load: (source: ByteSource, fileName: string) => Promise<T>,
): Promise<T[]> {
  const sources: ByteSource[] = []
  try {
    const loaded: T[] = []
    for (const [index, fileName] of fileNames.entries()) {
      const source = await openShard(ownerName, fileName, index, fileNames.length, open)
      sources.push(source)
      loaded.push(await load(source, fileName))
    }
    return loaded
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

async function openShard(
  ownerName: string,
  fileName: string,
  index: number,
  count: number,
  open: OpenShard,
): Promise<ByteSource> {
  try {
    return await open(fileName)
  } catch (cause) {
    if (EngineError.isInstance(cause) && cause.code !== 'file/not-found') throw cause
    throw new EngineError('file/missing-shard', {
      message: `${ownerName}: part ${index + 1} of ${count}, "${fileName}", could not be opened: ${(cause as Error).message}`,
      hint: 'Put all parts of the model into one folder; fetch the missing one again.',
      cause,
    })
  }
}
