/** Checkpoints split over several safetensors files with an index (`model.safetensors.index.json`). */
import { EngineError } from '../../shared/errors.ts'
import { MAX_SHARDS, MAX_TENSORS } from '../limits.ts'
import { loadShards, type OpenShard } from '../shard-opening.ts'
import type { TensorInfo } from '../tensor-info.ts'
import { loadSafetensors } from './load-safetensors.ts'

/**
 * Loads all files that the index names. The caller closes the sources of the tensors; when this rejects, they are
 * closed already.
 *
 * @param indexJson The parsed index: `{ weight_map: { tensorName: fileName } }`.
 * @param indexName How messages name the index.
 * @param open Opens a file in the folder of the index.
 * @returns Tensors by name, in the order of the index. Tensors that the index does not list are left out.
 * @throws EngineError `format/bad-index`, `format/unsafe-file-name`, `format/tensor-missing-in-shard`,
 *   `file/missing-shard` and everything that `loadSafetensors` throws.
 */
export async function loadShardedSafetensors(
  indexJson: unknown,
  indexName: string,
  open: OpenShard,
): Promise<Map<string, TensorInfo>> {
  const weightMap = parseSafetensorsIndex(indexJson, indexName)
  const fileNames = [...new Set(weightMap.values())].sort()
  return loadShards(indexName, fileNames, open, loadSafetensors, (shards) => {
    const shardByName = new Map(fileNames.map((fileName, index) => [fileName, shards[index]]))
    const tensors = new Map<string, TensorInfo>()
    for (const [tensorName, fileName] of weightMap) {
      const tensor = shardByName.get(fileName)?.get(tensorName)
      if (tensor === undefined) throw missingTensor(indexName, tensorName, fileName)
      tensors.set(tensorName, tensor)
    }
    return tensors
  })
}

/**
 * Tensor names with the files that hold them.
 *
 * @throws EngineError `format/bad-index`, `format/unsafe-file-name`.
 */
export function parseSafetensorsIndex(indexJson: unknown, indexName: string): Map<string, string> {
  const weightMap = (indexJson as { weight_map?: unknown } | null)?.weight_map
  if (typeof weightMap !== 'object' || weightMap === null || Array.isArray(weightMap)) {
    throw badIndex(indexName, 'has no object "weight_map"', 'tensor names with their file names')
  }
  const entries = Object.entries(weightMap)
  if (entries.length === 0 || entries.length > MAX_TENSORS) {
    throw badIndex(indexName, `lists ${entries.length} tensors`, `1 to ${MAX_TENSORS}`)
  }
  for (const [tensorName, fileName] of entries) checkFileName(indexName, tensorName, fileName)
  const map = new Map(entries as [string, string][])
  const shardCount = new Set(map.values()).size
  if (shardCount > MAX_SHARDS) throw badIndex(indexName, `names ${shardCount} files`, `at most ${MAX_SHARDS}`)
  return map
}

function checkFileName(indexName: string, tensorName: string, fileName: unknown): void {
  if (typeof fileName !== 'string') {
    throw badIndex(
      indexName,
      `has a value of type ${typeof fileName} for tensor "${tensorName}"`,
      'a file name as a string',
    )
  }
  // An index from the network must not reach outside its folder: no separators, drives or parent names.
  if (!/^[^/\\:]+\.safetensors$/.test(fileName)) {
    throw new EngineError('format/unsafe-file-name', {
      message: `${indexName}: tensor "${tensorName}" is in ${JSON.stringify(fileName)}; expected a .safetensors file in the folder of the index.`,
      hint: 'Do not use this index; fetch the model from its original source.',
    })
  }
}

function badIndex(indexName: string, found: string, expected: string): EngineError {
  return new EngineError('format/bad-index', {
    message: `${indexName}: the index ${found}; expected ${expected}.`,
    hint: 'Fetch the index file again.',
  })
}

function missingTensor(indexName: string, tensorName: string, fileName: string): EngineError {
  return new EngineError('format/tensor-missing-in-shard', {
    message: `${fileName}: tensor "${tensorName}" is not in this file, although ${indexName} says so.`,
    hint: 'The files are of different versions of the model; fetch all of them again.',
  })
}
