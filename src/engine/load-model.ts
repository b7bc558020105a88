/** The composition root: from a model reference to a model that answers. */
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import { optional, requireNumber, requireNumbers } from '../formats/gguf/metadata.ts'
import { PassQueue } from '../generation/pass-queue.ts'
import type { ImageDecoder } from '../image/decoder.ts'
import type { PreprocessorSettings } from '../image/preprocess.ts'
import { parsePreprocessorConfig, preprocessorFromProjector } from '../image/preprocessor-config.ts'
import { loadLanguageModel } from '../models/language-model.ts'
import { choosePrecision, PRECISIONS } from '../models/precision.ts'
import { type ParsedCheckpoint, parseCheckpoint, pictureKind } from '../models/registry.ts'
import { WeightLoader } from '../models/weight-loader.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost } from '../shared/model-files.ts'
import type { WorkerHost } from '../shared/worker-port.ts'
import { Conversation } from './conversation.ts'
import type { LoadedModel } from './loaded-model.ts'
import { loadModelText } from './model-text.ts'
import { type OpenedCheckpoint, openCheckpoint } from './open-checkpoint.ts'
import { runTrace } from './trace.ts'
import type {
  Chat,
  ChatOptions,
  GenerationOptions,
  LoadModelOptions,
  Model,
  ModelInfo,
  TraceRequest,
  TraceTensor,
} from './types.ts'

/** What the engine needs of the system it runs on. */
export interface EngineHost {
  readonly workers: WorkerHost
  readonly files: FileHost
  readonly images: ImageDecoder
}

/** Loads a model through the files of `host`. Rejects with an `AbortError` when the signal is aborted. */
export async function loadModelOn(
  host: EngineHost,
  reference: string,
  options: LoadModelOptions = {},
): Promise<Model> {
  checkOptions(reference, options)
  const start = performance.now()
  throwIfAborted(options.signal)
  const opened = await openCheckpoint(host.files, reference, options.projector)
  try {
    const { loaded, fileBytes } = await loadParts(host, opened, options)
    const warnings = [...opened.warnings, ...loaded.text.warnings]
    return new EngineModel(loaded, {
      ...describe(loaded, options, fileBytes),
      warnings,
      loadMs: performance.now() - start,
    })
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}

async function loadParts(
  host: EngineHost,
  opened: OpenedCheckpoint,
  options: LoadModelOptions,
): Promise<{ loaded: LoadedModel; fileBytes: number }> {
  const { checkpoint } = opened
  const parsed = parseCheckpoint(checkpoint)
  const { config } = parsed
  const preprocessor = await loadPreprocessor(opened, parsed)
  const text = await loadModelText(opened, config)
  const fileBytes = [...parsed.tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  const precision = choosePrecision(options.precision ?? 'auto', checkpoint.container)
  const backend = await createWasmBackend(
    host.workers,
    options.threads === undefined ? {} : { threads: options.threads },
  )
  try {
    const loader = new WeightLoader({
      backend,
      tensors: parsed.tensors,
      precision,
      name: checkpoint.name,
      signal: options.signal,
      onProgress: (loadedBytes) => options.onProgress?.({ loadedBytes, totalBytes: fileBytes }),
    })
    const model = await loadLanguageModel(backend, config, loader, {
      kvType: precision.kind === 'f32' ? 'F32' : 'F16',
    })
    const contextLength = Math.min(
      options.contextLength ?? config.decoder.contextLength,
      config.decoder.contextLength,
    )
    const { images, files } = host
    const loaded = {
      name: checkpoint.name,
      backend,
      model,
      text,
      preprocessor,
      queue: new PassQueue(),
      images,
      files,
      contextLength,
    }
    return { loaded, fileBytes }
  } catch (error) {
    await backend.dispose()
    throw error
  }
}

async function loadPreprocessor(
  opened: OpenedCheckpoint,
  parsed: ParsedCheckpoint,
): Promise<PreprocessorSettings | undefined> {
  const kind = pictureKind(parsed)
  const { vision } = parsed.config
  if (!kind || !vision) return undefined
  const { checkpoint, files } = opened
  if (checkpoint.container === 'gguf') {
    const file = checkpoint.projector as NonNullable<typeof checkpoint.projector>
    return preprocessorFromProjector(
      {
        projector: kind,
        imageSize: vision.imageSize,
        mean: requireNumbers(file, 'clip.vision.image_mean'),
        std: requireNumbers(file, 'clip.vision.image_std'),
        longestEdge: optional(file, 'clip.vision.preproc_image_size', requireNumber),
      },
      file.source.name,
    )
  }
  const read = async (name: string) => {
    const value = await files?.read(name)
    return value === undefined ? undefined : { name: files?.label(name) ?? name, value }
  }
  const settings = parsePreprocessorConfig({
    preprocessor: await read('preprocessor_config.json'),
    processor: await read('processor_config.json'),
  })
  checkFrameSize(settings, vision.imageSize, checkpoint.name)
  return settings
}

/** Frames of another size than the tower's position table would be read wrongly. */
function checkFrameSize(settings: PreprocessorSettings, imageSize: number, name: string): void {
  const side = settings.kind === 'idefics3' ? settings.tileEdge : imageSize
  if (side === imageSize) return
  throw new EngineError('model/frame-size', {
    message: `${name}: pictures are cut to ${side} pixels (preprocessor_config.json), but the vision tower takes ${imageSize} (config.json).`,
    hint: 'The two files belong to different models; fetch them again.',
  })
}

function describe(
  { name, backend, model, contextLength }: LoadedModel,
  options: LoadModelOptions,
  fileBytes: number,
) {
  const { config, pictures } = model
  return {
    name,
    architecture: config.architecture,
    takesImages: pictures !== undefined,
    imageTokensPerTile: pictures?.tokensPerFrame ?? 0,
    contextLength,
    precision: options.precision ?? 'auto',
    backend: backend.info.name,
    threads: backend.info.threads,
    fileBytes,
  } satisfies Partial<ModelInfo>
}

class EngineModel implements Model {
  readonly #loaded: LoadedModel
  readonly #info: Omit<ModelInfo, 'allocatedBytes'>
  readonly #chats = new Set<Conversation>()
  #disposal: Promise<void> | undefined

  constructor(loaded: LoadedModel, info: Omit<ModelInfo, 'allocatedBytes'>) {
    this.#loaded = loaded
    this.#info = info
  }

  get info(): ModelInfo {
    return { ...this.#info, allocatedBytes: this.#loaded.backend.allocatedBytes }
  }

  get defaults(): GenerationOptions {
    return this.#loaded.text.defaults
  }

  chat(options: ChatOptions = {}): Chat {
    const chat = new Conversation(this.#requireLoaded(), options, () => this.#chats.delete(chat))
    this.#chats.add(chat)
    return chat
  }

  trace(request: TraceRequest): Promise<readonly TraceTensor[]> {
    return runTrace(this.#requireLoaded(), request)
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#dispose()
    return this.#disposal
  }

  async #dispose(): Promise<void> {
    for (const chat of this.#chats) chat.dispose()
    const { backend } = this.#loaded
    await backend.dispose()
  }

  #requireLoaded(): LoadedModel {
    if (!this.#disposal) return this.#loaded
    throw new EngineError('backend/disposed', {
      message: `${this.#loaded.name} was closed.`,
      hint: 'Load the model again to go on.',
    })
  }
}

const OPTIONS = ['projector', 'precision', 'threads', 'contextLength', 'onProgress', 'signal']

function checkOptions(reference: unknown, options: LoadModelOptions): void {
  if (typeof reference !== 'string' || reference === '') {
    throw new EngineError('option/invalid', {
      message: `A model is named by the path of its folder or .gguf file; found ${JSON.stringify(reference) ?? String(reference)}.`,
    })
  }
  for (const name of Object.keys(options)) {
    if (OPTIONS.includes(name)) continue
    throw new EngineError('option/unknown', {
      message: `There is no option "${name}" for loading a model.`,
      hint: `Options are ${OPTIONS.join(', ')}.`,
    })
  }
  const { precision, contextLength } = options
  if (precision !== undefined && !PRECISIONS.includes(precision)) {
    throw new EngineError('option/invalid', {
      message: `The option "precision" must be one of ${PRECISIONS.join(', ')}; found ${JSON.stringify(precision)}.`,
    })
  }
  if (contextLength !== undefined && !(Number.isInteger(contextLength) && contextLength > 0)) {
    throw new EngineError('option/invalid', {
      message: `The option "contextLength" must be a whole number of at least 1; found ${contextLength}.`,
    })
  }
}
