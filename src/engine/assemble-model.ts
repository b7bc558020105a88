/** From opened files to a model on a backend: everything that is read and checked before, and what goes to the device. */
import type { Backend } from '../backend/backend.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import { PassQueue } from '../generation/pass-queue.ts'
import type { PreprocessorSettings } from '../image/preprocess.ts'
import type { Matrix } from '../models/blocks/matrix.ts'
import { loadLanguageModel } from '../models/language-model.ts'
import type { ModelConfig } from '../models/model-config.ts'
import { choosePrecision, defaultKv, KV_TYPES } from '../models/precision.ts'
import { parseCheckpoint } from '../models/registry.ts'
import { WeightLoader } from '../models/weight-loader.ts'
import { loadPreprocessor } from './load-preprocessor.ts'
import type { LoadedModel } from './loaded-model.ts'
import { loadModelText, type ModelText } from './model-text.ts'
import type { OpenedCheckpoint } from './open-checkpoint.ts'
import { PictureCache } from './picture-cache.ts'
import type { PictureLimits } from './read-image.ts'
import { architectureChecksum } from './snapshot/fingerprint.ts'
import type { LoadModelOptions } from './types.ts'

/** A model whose configuration, text and picture settings are read and fit together; no weight is read yet. */
export interface PreparedModel {
  readonly name: string
  readonly container: 'safetensors' | 'gguf'
  readonly config: ModelConfig
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly text: ModelText
  readonly preprocessor: PreprocessorSettings | undefined
  /** Of all tensors. */
  readonly fileBytes: number
}

export async function prepareModel(opened: OpenedCheckpoint): Promise<PreparedModel> {
  const { name, container } = opened.checkpoint
  const { config, tensors } = parseCheckpoint(opened.checkpoint)
  const preprocessor = await loadPreprocessor(opened, config)
  const text = await loadModelText(opened, config)
  const fileBytes = [...tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  return { name, container, config, tensors, text, preprocessor, fileBytes }
}

/** Eight pictures of SmolVLM-500M at full detail, or 130 at low; three of LLaVA 7B. */
export const DEFAULT_IMAGE_CACHE_BYTES = 32 * 2 ** 20

export interface AssembleOptions
  extends Pick<
    LoadModelOptions,
    'precision' | 'kv' | 'contextLength' | 'imageTokens' | 'imageCacheBytes' | 'onProgress' | 'signal'
  > {
  /** Most tokens of one pass through the decoder. Default: the model's own. */
  readonly maxPassTokens?: number
  /** What is left for pictures while they are read. Default: no limit. */
  readonly pictureLimits?: PictureLimits
  /** Told the name of each matrix. */
  readonly onMatrix?: (name: string, matrix: Matrix) => void
}

/** Reads the weights to `backend`, which is the caller's to dispose also when this fails. */
export async function assembleModel(
  prepared: PreparedModel,
  backend: Backend,
  host: Pick<LoadedModel, 'images' | 'files' | 'snapshots'>,
  options: AssembleOptions,
): Promise<LoadedModel> {
  const { name, container, config, tensors, text, preprocessor, fileBytes } = prepared
  const precision = choosePrecision(options.precision ?? 'auto', container)
  const kv = options.kv ?? defaultKv(precision)
  const loader = new WeightLoader({
    backend,
    tensors,
    precision,
    name,
    signal: options.signal,
    onMatrix: options.onMatrix,
    onProgress: (loadedBytes) => options.onProgress?.({ loadedBytes, totalBytes: fileBytes }),
  })
  const model = await loadLanguageModel(backend, config, loader, {
    kvType: KV_TYPES[kv],
    ...(options.maxPassTokens === undefined ? {} : { maxPassTokens: options.maxPassTokens }),
  })
  const { contextLength } = config.decoder
  return {
    name,
    identity: {
      architecture: architectureChecksum(prepared),
      weights: loader.sampleChecksum,
      precision: precision.kind,
    },
    backend,
    model,
    text,
    preprocessor,
    queue: new PassQueue(),
    sessions: new Set(),
    kv,
    pictureCache: new PictureCache(backend, options.imageCacheBytes ?? DEFAULT_IMAGE_CACHE_BYTES),
    images: host.images,
    files: host.files,
    snapshots: host.snapshots,
    contextLength: Math.min(options.contextLength ?? contextLength, contextLength),
    imageTokens: options.imageTokens,
    pictureLimits: options.pictureLimits,
  }
}
