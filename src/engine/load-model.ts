/** The composition root: from a model reference to a model that answers. */
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import type { ImageDecoder } from '../image/decoder.ts'
import { KV_TYPES, PRECISIONS } from '../models/precision.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost } from '../shared/model-files.ts'
import type { SnapshotFiles } from '../shared/snapshot-files.ts'
import type { WorkerHost } from '../shared/worker-port.ts'
import { type AssembleOptions, assembleModel, type PreparedModel, prepareModel } from './assemble-model.ts'
import {
  ANY_RULE,
  checkOptions,
  choiceRule,
  FUNCTION_RULE,
  type OptionRules,
  SIGNAL_RULE,
  wholeNumberRule,
} from './check-options.ts'
import { Conversation } from './conversation.ts'
import { IMAGE_TOKENS_RULE } from './generation-options.ts'
import type { LoadedModel } from './loaded-model.ts'
import { type OpenedCheckpoint, openCheckpoint } from './open-checkpoint.ts'
import type { ConversationState } from './snapshot/save.ts'
import { runTrace } from './trace.ts'
import type {
  Chat,
  ChatOptions,
  Embedding,
  EmbedOptions,
  GenerationOptions,
  LoadModelOptions,
  Model,
  ModelInfo,
  SnapshotOptions,
  SnapshotSource,
  TraceRequest,
  TraceTensor,
  WarmUpOptions,
} from './types.ts'
import { WarmUp } from './warm-up.ts'

/** What the engine needs of the system it runs on. */
export interface EngineHost {
  readonly workers: WorkerHost
  readonly files: FileHost
  readonly images: ImageDecoder
  readonly snapshots: SnapshotFiles
}

/**
 * Loads a model through the files of `host`. Rejects with an `AbortError` when the signal is aborted.
 *
 * @param backend The model's own, disposed of with it: a lease where others share the memory. Default: a new one.
 */
export async function loadModelOn(
  host: EngineHost,
  reference: string,
  options: LoadModelOptions = {},
  backend?: Backend,
): Promise<Model> {
  checkRequest(reference, options)
  const start = performance.now()
  throwIfAborted(options.signal)
  const opened = await openCheckpoint(host.files, reference, options.projector)
  try {
    const { loaded, fileBytes } = await loadParts(host, opened, options, backend)
    const warnings = [...opened.warnings, ...loaded.text.warnings]
    return new EngineModel(loaded, host.workers, {
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
  backend: Backend | undefined,
): Promise<{ loaded: LoadedModel; fileBytes: number }> {
  // Workers start while the tokenizer is built.
  const starting = backend
    ? Promise.resolve(backend)
    : createWasmBackend(host.workers, options.threads === undefined ? {} : { threads: options.threads })
  starting.catch(() => {}) // awaited below, where it counts
  try {
    const prepared = await prepareModel(opened)
    const backend = await starting
    const settings = await fitOptions(prepared, backend, host.workers, options)
    const loaded = await assembleModel(prepared, backend, host, settings)
    return { loaded, fileBytes: prepared.fileBytes }
  } catch (error) {
    await starting.then(
      (started) => started.dispose(),
      () => {}, // nothing was started
    )
    throw error
  }
}

async function fitOptions(
  prepared: PreparedModel,
  backend: Backend,
  workers: WorkerHost,
  options: LoadModelOptions,
): Promise<AssembleOptions> {
  if (options.memoryLimit === undefined) return options
  const { planLoad } = await import('./plan-load.ts')
  return planLoad(prepared, backend, workers, options, options.memoryLimit)
}

function describe(
  { name, backend, model, kv, contextLength }: LoadedModel,
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
    kv,
    backend: backend.info.name,
    threads: backend.info.threads,
    fileBytes,
  } satisfies Partial<ModelInfo>
}

class EngineModel implements Model {
  /** Undefined once closed, so that nothing keeps the memory. */
  #loaded: LoadedModel | undefined
  readonly #workers: WorkerHost
  readonly #defaults: GenerationOptions
  readonly #info: Omit<ModelInfo, 'allocatedBytes'>
  readonly #chats = new Set<Conversation>()
  #warmUp: WarmUp | undefined
  #disposal: Promise<void> | undefined

  constructor(loaded: LoadedModel, workers: WorkerHost, info: Omit<ModelInfo, 'allocatedBytes'>) {
    this.#loaded = loaded
    this.#workers = workers
    this.#defaults = loaded.text.defaults
    this.#info = info
  }

  get info(): ModelInfo {
    return { ...this.#info, allocatedBytes: this.#loaded?.backend.allocatedBytes ?? 0 }
  }

  get defaults(): GenerationOptions {
    return this.#defaults
  }

  chat(options: ChatOptions = {}): Chat {
    return this.#open(options)
  }

  async warmUp(options: WarmUpOptions = {}): Promise<void> {
    this.#warmUp ??= new WarmUp(this.#requireLoaded())
    await this.#warmUp.run(options)
  }

  async restore(from: SnapshotSource, options: SnapshotOptions = {}): Promise<Chat> {
    checkOptions(options, { signal: SIGNAL_RULE }, 'for restoring a conversation')
    const { restoreConversation } = await import('./snapshot/restore.ts')
    const restored = await restoreConversation(this.#requireLoaded(), from, options.signal)
    return this.#open(restored.options, restored)
  }

  #open(options: ChatOptions, restored?: ConversationState): Chat {
    const chat = new Conversation(this.#requireLoaded(), options, () => this.#chats.delete(chat), restored)
    this.#chats.add(chat)
    return chat
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Embedding[]> {
    const loaded = this.#requireLoaded()
    const { embedTexts } = await import('./embed.ts')
    return embedTexts(loaded, texts, options)
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
    const disposal = this.#loaded?.backend.dispose()
    this.#loaded = undefined
    this.#warmUp = undefined
    await disposal
    await this.#workers.reclaimMemory?.()
  }

  #requireLoaded(): LoadedModel {
    if (this.#loaded) return this.#loaded
    throw new EngineError('backend/disposed', {
      message: `${this.#info.name} was closed.`,
      hint: 'Load the model again to go on.',
    })
  }
}

const RULES = {
  projector: {
    accepts: (value) => typeof value === 'string' && value !== '',
    says: 'the path of an mmproj file',
  },
  precision: choiceRule(PRECISIONS),
  kv: choiceRule(Object.keys(KV_TYPES)),
  threads: ANY_RULE, // the backend knows its bounds
  contextLength: wholeNumberRule(1, Number.MAX_SAFE_INTEGER, 'a whole number of at least 1'),
  imageTokens: IMAGE_TOKENS_RULE,
  imageCacheBytes: wholeNumberRule(0, Number.MAX_SAFE_INTEGER, 'a whole number of at least 0'),
  memoryLimit: wholeNumberRule(1, Number.MAX_SAFE_INTEGER, 'a whole number of bytes'),
  onMemoryPlan: FUNCTION_RULE,
  onProgress: FUNCTION_RULE,
  signal: SIGNAL_RULE,
} satisfies OptionRules

function checkRequest(reference: unknown, options: LoadModelOptions): void {
  if (typeof reference !== 'string' || reference === '') {
    throw new EngineError('option/invalid', {
      message: `A model is named by the path of its folder or .gguf file; found ${JSON.stringify(reference) ?? String(reference)}.`,
    })
  }
  checkOptions(options, RULES, 'for loading a model')
}
