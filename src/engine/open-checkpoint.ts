/**
 * Opens the files behind a model reference: a Hugging Face folder, or a GGUF text model with the mmproj file that
 * belongs to it. Nothing but headers and small JSON files is read here.
 */
import { type GgufFile, loadGguf } from '../formats/gguf/load-gguf.ts'
import { loadSplitGguf, splitCountOf } from '../formats/gguf/load-split.ts'
import { isProjector } from '../formats/gguf/projector.ts'
import { loadSafetensors } from '../formats/safetensors/load-safetensors.ts'
import { loadShardedSafetensors } from '../formats/safetensors/load-sharded.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { Checkpoint } from '../models/checkpoint.ts'
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost, ModelFolder } from '../shared/model-files.ts'
import { findProjector } from './find-projector.ts'
import { JsonFiles } from './json-files.ts'

/** A checkpoint with what else lies in its folder. */
export interface OpenedCheckpoint {
  readonly checkpoint: Checkpoint
  /** Small files beside the weights; none for GGUF, which carries everything. */
  readonly files: JsonFiles | undefined
  /** Everything to close. */
  readonly sources: readonly ByteSource[]
  readonly warnings: readonly string[]
}

const SINGLE_FILE = 'model.safetensors'
const INDEX_FILE = 'model.safetensors.index.json'
const SHARD = /-\d{5}-of-\d{5}\.safetensors$/
const PICKLE = /\.(bin|pt|pth|ckpt|pkl)$/

/** @param projector An mmproj file that the user named; else it is looked for beside a GGUF model. */
export async function openCheckpoint(
  host: FileHost,
  reference: string,
  projector?: string,
): Promise<OpenedCheckpoint> {
  const { folder, fileName } = await host.locateModel(reference)
  if (fileName === undefined) return openFolder(host, folder, projector)
  if (fileName.endsWith('.safetensors')) return openSafetensors(folder, projector, fileName)
  if (PICKLE.test(fileName)) throw pickleError(`${folder.name}/${fileName}`)
  return openGguf(host, folder, fileName, projector)
}

async function openFolder(
  host: FileHost,
  folder: ModelFolder,
  projector?: string,
): Promise<OpenedCheckpoint> {
  const names = await folder.list()
  const ggufs = names.filter((name) => name.endsWith('.gguf')).sort()
  // Repositories of GGUF files often keep the config.json of the model that they were made from.
  const hasWeights = names.some((name) => /\.safetensors(\.index\.json)?$/.test(name))
  if (names.includes('config.json') && (hasWeights || ggufs.length === 0))
    return openSafetensors(folder, projector)
  if (ggufs.length === 0) throw nothingToLoad(folder, names)
  const texts = await listTextModels(folder, ggufs)
  const [only, ...more] = texts
  if (only !== undefined && more.length === 0) return openGguf(host, folder, only, projector)
  throw new EngineError('file/ambiguous-model', {
    message:
      only === undefined
        ? `${folder.name} has no text model, only projectors: ${ggufs.join(', ')}.`
        : `${folder.name} has several models: ${texts.join(', ')}.`,
    hint:
      only === undefined ? 'Put the text model of the same release beside them.' : 'Name one of these files.',
  })
}

/** GGUF files that are no projectors; of a split model the first part only. */
async function listTextModels(folder: ModelFolder, ggufs: readonly string[]): Promise<string[]> {
  const texts: string[] = []
  for (const name of ggufs) {
    if (/-\d{5}-of-\d{5}\.gguf$/.test(name) && !/-00001-of-/.test(name)) continue
    const source = await folder.open(name)
    try {
      if (!isProjector(await loadGguf(source))) texts.push(name)
    } finally {
      await source.close()
    }
  }
  return texts
}

function nothingToLoad(folder: ModelFolder, names: readonly string[]): EngineError {
  const pickle = names.find((name) => PICKLE.test(name))
  if (pickle !== undefined) return pickleError(`${folder.name}/${pickle}`)
  return new EngineError('file/no-model', {
    message: `${folder.name} holds no model: expected config.json or a .gguf file, found ${
      names.length === 0 ? 'an empty folder' : names.slice(0, 8).join(', ')
    }.`,
    hint: 'Give a folder of a Hugging Face repository or a .gguf file.',
  })
}

function pickleError(name: string): EngineError {
  return new EngineError('format/pickle', {
    message: `${name} is a pickle file, which can run programs when it is opened; it is not read.`,
    hint: 'Use the safetensors or GGUF files of the same model.',
  })
}

/** @param named The file of weights that the user named; a shard stands for the whole of its index. */
async function openSafetensors(
  folder: ModelFolder,
  projector?: string,
  named?: string,
): Promise<OpenedCheckpoint> {
  if (projector !== undefined) {
    throw new EngineError('option/projector', {
      message: `${folder.name} is a Hugging Face folder, which holds its projector itself; ${projector} goes with a GGUF model only.`,
      hint: 'Leave the projector out, or give the .gguf text model.',
    })
  }
  const files = new JsonFiles(folder)
  const config = await files.require('config.json')
  const tensors = await openTensors(folder, files, named)
  const sources = [...new Set([...tensors.values()].map((tensor) => tensor.source))]
  return {
    checkpoint: { container: 'safetensors', name: folder.name, config, tensors },
    files,
    sources,
    warnings: [],
  }
}

async function openTensors(
  folder: ModelFolder,
  files: JsonFiles,
  named?: string,
): Promise<Map<string, TensorInfo>> {
  const names = await folder.list()
  const single = named !== undefined && !SHARD.test(named) ? named : undefined
  if (single === undefined && names.includes(INDEX_FILE)) {
    const index = await files.require(INDEX_FILE)
    return loadShardedSafetensors(index, `${folder.name}/${INDEX_FILE}`, (name) => folder.open(name))
  }
  const candidates = names.filter((name) => name.endsWith('.safetensors'))
  const only = candidates.length === 1 ? candidates[0] : undefined
  const chosen = single ?? (candidates.includes(SINGLE_FILE) ? SINGLE_FILE : only)
  if (chosen === undefined) {
    const pickle = names.find((name) => PICKLE.test(name))
    if (candidates.length === 0 && pickle !== undefined) throw pickleError(`${folder.name}/${pickle}`)
    throw new EngineError('file/no-weights', {
      message: `${folder.name}: expected ${SINGLE_FILE} or ${INDEX_FILE}, found ${candidates.join(', ') || 'neither'}.`,
      hint: 'Fetch the weights of the model repository into this folder.',
    })
  }
  const source = await folder.open(chosen)
  try {
    return await loadSafetensors(source)
  } catch (error) {
    await source.close()
    throw error
  }
}

async function openGguf(
  host: FileHost,
  folder: ModelFolder,
  fileName: string,
  projector?: string,
): Promise<OpenedCheckpoint> {
  const sources: ByteSource[] = []
  try {
    const text = await loadTextModel(folder, fileName, sources)
    const named = projector === undefined ? undefined : await loadNamedProjector(host, projector, sources)
    const { projector: found, warnings } = named
      ? { projector: named, warnings: [] }
      : await findProjector(folder, fileName, text)
    if (found && !named) sources.push(found.source)
    return {
      checkpoint: { container: 'gguf', name: text.source.name, text, projector: found },
      files: undefined,
      sources,
      warnings,
    }
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

async function loadTextModel(
  folder: ModelFolder,
  fileName: string,
  sources: ByteSource[],
): Promise<GgufFile> {
  const source = await folder.open(fileName)
  sources.push(source)
  const first = await loadGguf(source)
  if (isProjector(first)) {
    throw new EngineError('model/projector-alone', {
      message: `${source.name} is a projector (mmproj), the part of a model that turns pictures into tokens.`,
      hint: 'Give the text model and name this file with --mmproj.',
    })
  }
  if (splitCountOf(first) === 1) return first
  const whole = await loadSplitGguf(first, fileName, (name) => folder.open(name))
  sources.push(...whole.sources.filter((part) => part !== source))
  return whole
}

async function loadNamedProjector(
  host: FileHost,
  reference: string,
  sources: ByteSource[],
): Promise<GgufFile> {
  const { folder, fileName } = await host.locateModel(reference)
  if (fileName === undefined) {
    throw new EngineError('file/is-directory', {
      message: `${reference}: expected an mmproj file, found a directory.`,
      hint: 'Name the .gguf file with the projector.',
    })
  }
  const source = await folder.open(fileName)
  sources.push(source)
  const projector = await loadGguf(source)
  if (isProjector(projector)) return projector
  throw new EngineError('model/not-a-projector', {
    message: `${source.name}: expected a projector (general.architecture "clip"), found a model of architecture "${String(
      projector.metadata.get('general.architecture'),
    )}".`,
    hint: 'Give the mmproj file of the same release.',
  })
}
