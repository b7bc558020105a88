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
  const otherNames = listOtherParts(first, firstFileName)
  return loadShards(firstFileName, otherNames, open, loadGguf, (others) => {
    const parts = [first, ...others]
    const tensors = new Map<string, TensorInfo>()
    for (const [number, part] of parts.entries()) {
      checkKey(part, NUMBER_KEY, number)
      checkKey(part, COUNT_KEY, parts.length)
      for (const [name, tensor] of part.tensors) {
        if (tensors.has(name)) throw repeatedTensor(part, name)
        tensors.set(name, tensor)
      }
    }
    const total = optional(first, TENSOR_COUNT_KEY, requireCount)
    if (total !== undefined) checkTotal(first, total, tensors.size)
    return { ...first, tensors, sources: parts.map((part) => part.source) }
  })
}

/**
 * File names of the second and all further parts.
 *
 * @throws EngineError `format/not-first-part`, `format/bad-split`.
 */
export function listOtherParts(first: GgufFile, firstFileName: string): string[] {
  const count = splitCountOf(first)
  if (count > MAX_SHARDS) throw badSplit(first, `${COUNT_KEY} is ${count}`, `at most ${MAX_SHARDS}`)
  const total = String(count).padStart(5, '0')
  const ending = `-00001-of-${total}.gguf`
  if (!firstFileName.endsWith(ending)) {
    throw new EngineError('format/not-first-part', {
      message: `${first.source.name}: one of ${count} parts of a model; expected the first, whose name ends in "${ending}".`,
      hint: 'Name the first part and keep all parts in one folder under their original names.',
    })
  }
  const stem = firstFileName.slice(0, -ending.length)
  return Array.from({ length: count - 1 }, (_, index) => {
    return `${stem}-${String(index + 2).padStart(5, '0')}-of-${total}.gguf`
  })
}

function checkKey(part: GgufFile, key: string, expected: number): void {
  const found = requireCount(part, key)
  if (found !== expected) throw badSplit(part, `${key} is ${found}`, String(expected))
}

function checkTotal(first: GgufFile, expected: number, found: number): void {
  if (found !== expected) {
    throw badSplit(first, `all parts together have ${found} tensors`, `${expected} (${TENSOR_COUNT_KEY})`)
  }
}

function repeatedTensor(part: GgufFile, name: string): EngineError {
  return badSplit(part, `tensor "${name}" is also in an earlier part`, 'each tensor once')
}

function badSplit(part: GgufFile, found: string, expected: string): EngineError {
  return new EngineError('format/bad-split', {
    message: `${part.source.name}: ${found}; expected ${expected}.`,
    hint: 'The parts are of different models or versions; fetch all of them again.',
  })
}
