/** Opening the parts of a model that is split over several files. */
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'

/** Opens a file by its name beside the index or the first part. */
export type OpenShard = (fileName: string) => Promise<ByteSource>

/**
 * Opens and loads every part, in order, then combines them. When any step fails, all that were opened are closed.
 *
 * @throws EngineError `file/missing-shard` naming the part that could not be opened, or what `load` and `combine`
 *   throw.
 */
export async function loadShards<Part, Whole>(
  ownerName: string,
  fileNames: readonly string[],
  open: OpenShard,
  load: (source: ByteSource) => Promise<Part>,
  combine: (parts: readonly Part[]) => Whole,
): Promise<Whole> {
  const sources: ByteSource[] = []
  try {
    const parts: Part[] = []
    for (const fileName of fileNames) {
      const source = await openShard(ownerName, fileName, open)
      sources.push(source)
      parts.push(await load(source))
    }
    return combine(parts)
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

async function openShard(ownerName: string, fileName: string, open: OpenShard): Promise<ByteSource> {
  try {
    return await open(fileName)
  } catch (cause) {
    if (EngineError.isInstance(cause) && cause.code !== 'file/not-found') throw cause
    throw new EngineError('file/missing-shard', {
      message: `${ownerName}: part "${fileName}" could not be opened: ${(cause as Error).message}`,
      hint: 'Put all parts of the model into one folder; fetch the missing one again.',
      cause,
    })
  }
}
