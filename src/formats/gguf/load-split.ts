/** GGUF models split over several files, `name-00001-of-00003.gguf` (llama.cpp `gguf-split`). */
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { MAX_SHARDS } from '../limits.ts'
import { loadShards, type OpenShard } from '../shard-opening.ts'
import type { TensorInfo } from '../tensor-info.ts'
import { type GgufFile, loadGguf } from './load-gguf.ts'
import { optional, requireCount } from './metadata.ts'

const COUNT_KEY = 'split.count'
const NUMBER_KEY = 'split.no'
const TENSOR_COUNT_KEY = 'split.tensors.count'

/** A model put together from its parts: metadata of the first part, tensors of all. */
export interface SplitGgufFile extends GgufFile {
  /** All parts, the first one included. The caller closes them. */
  readonly sources: readonly ByteSource[]
}

/** Number of files that the model is split over; 1 for an ordinary file. */
export function splitCountOf(gguf: GgufFile): number {
  return Math.max(1, optional(gguf, COUNT_KEY, requireCount) ?? 1)
}

/**
 * Opens the other parts of a split model.
 *
 * @param first The loaded first part; it stays open also when this rejects.
 * @param firstFileName Its file name without folders, `name-00001-of-00003.gguf`; the others follow from it.
 * @param open Opens a file in the same folder.
 * @throws EngineError `format/not-first-part`, `format/bad-split`, `file/missing-shard` and everything that
 *   `loadGguf` throws. Parts opened here are closed then.
 */
export async function loadSplitGguf(
  first: GgufFile,
  firstFileName: string,
  open: OpenShard,
): Promise<SplitGgufFile> {
  const count = splitCountOf(first)
  const otherNames = otherFileNames(first, firstFileName, count)
  const tensors = new Map(first.tensors)
  const others = await loadShards(firstFileName, otherNames, open, async (source) => {
    const part = await loadGguf(source)
    checkPart(part, tensors, count)
    return part
  })
  others.forEach((part, index) => {
    const number = optional(part, NUMBER_KEY, requireCount)
    if (number !== index + 1) {
      throw badSplit(part, `${NUMBER_KEY} is ${number}`, `${index + 1}`)
    }
  })
  return { ...first, tensors, sources: [first.source, ...others.map((part) => part.source)] }
}
