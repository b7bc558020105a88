/** Fits a model into a limit of memory before its weights are read: what it needs, what the plan says, what to refuse. */
import type { Backend } from '../backend/backend.ts'
import { MAX_EDGE_AFTER_RESIZE } from '../image/idefics3.ts'
import type { PreprocessorSettings } from '../image/preprocess.ts'
import { MAX_PASS_TOKENS, runStateByteLength } from '../models/language-model.ts'
import { tokensPerFrame } from '../models/model-config.ts'
import { choosePrecision, defaultKv, type KvName, type Precision } from '../models/precision.ts'
import { STAGING_BYTES } from '../models/weight-loader.ts'
import { measureWeights } from '../models/weight-sizes.ts'
import { EngineError } from '../shared/errors.ts'
import type { WorkerHost } from '../shared/worker-port.ts'
import { type AssembleOptions, DEFAULT_IMAGE_CACHE_BYTES, type PreparedModel } from './assemble-model.ts'
import { type MemoryNeeds, type MemoryOutcome, type PlannedLook, planMemory } from './memory-plan.ts'
import type { LoadModelOptions, MemoryPart } from './types.ts'

/** From the most to the least memory. */
const KV_ORDER: readonly KvName[] = ['f32', 'f16', 'q8']
/** How far features are pooled where nothing else helps: 576 tokens become 144, then 64. */
const POOLS = [2, 3]

/** Upper bounds, and who is told. */
export type PlanOptions = Pick<
  LoadModelOptions,
  | 'precision'
  | 'kv'
  | 'contextLength'
  | 'imageTokens'
  | 'imageCacheBytes'
  | 'onMemoryPlan'
  | 'onProgress'
  | 'signal'
>

/** What a plan must know of a model. */
export type PlannedModel = Pick<PreparedModel, 'name' | 'container' | 'config' | 'tensors' | 'preprocessor'>

/**
 * Holds `backend` to the limit and returns how to load the model. Throws `backend/memory-limit`.
 * @param memoryLimit In bytes.
 */
export async function planLoad(
  prepared: PlannedModel,
  backend: Backend,
  workers: WorkerHost,
  options: PlanOptions,
  memoryLimit: number,
): Promise<AssembleOptions> {
  const { config, container, tensors } = prepared
  // What building the tokenizer left behind would count as the program's.
  await workers.reclaimMemory?.()
  const precision = choosePrecision(options.precision ?? 'auto', container)
  const weigh = (one: Precision): Promise<number> =>
    measureWeights(config, tensors, one, (type, rows, columns) =>
      backend.matrixByteLength(type, rows, columns),
    )
  const { decoder } = config
  const preferred = options.kv ?? defaultKv(precision)
  const needs: MemoryNeeds = {
    limitBytes: memoryLimit,
    programBytes: workers.overheadBytes(backend.info.threads),
    weightBytes: await weigh(precision),
    loadingBytes: STAGING_BYTES,
    runStateBytes: (passTokens) => runStateByteLength(config, passTokens),
    decoder,
    kvTypes: options.kv ? [preferred] : KV_ORDER.slice(KV_ORDER.indexOf(preferred)),
    passTokens: MAX_PASS_TOKENS,
    contextLength: Math.min(options.contextLength ?? decoder.contextLength, decoder.contextLength),
    looks: looksOf(prepared, options.imageTokens),
    imageCacheBytes: options.imageCacheBytes ?? DEFAULT_IMAGE_CACHE_BYTES,
  }
  const outcome = planMemory(needs)
  if (!outcome.fits) throw await createLimitError(prepared.name, needs, outcome, weigh)
  options.onMemoryPlan?.(outcome.plan)
  const { bufferBytes, ...settings } = outcome.settings
  backend.limitMemory(bufferBytes)
  const { imageTokens, pictureLimits, ...rest } = settings
  return {
    ...options,
    ...rest,
    ...(imageTokens !== undefined && { imageTokens }),
    ...(pictureLimits !== undefined && { pictureLimits }),
  }
}

function looksOf(
  { config, preprocessor }: PlannedModel,
  imageTokens = Number.POSITIVE_INFINITY,
): PlannedLook[] {
  const { vision, projector, decoder } = config
  if (!vision || !projector || !preprocessor) return []
  const tokens = tokensPerFrame(vision, projector)
  const edge = vision.imageSize
  const looks: PlannedLook[] = []
  for (let tiles = tilesAlongLongSide(preprocessor); tiles > 1; tiles--) {
    looks.push({
      tokens: (tiles * tiles + 1) * tokens,
      edge: tiles * edge,
      resizedEdge: tiles * edge,
      scratchBytes: 0,
    })
  }
  const single = { edge, resizedEdge: resizedEdgeOf(preprocessor, edge) }
  looks.push({ ...single, tokens, scratchBytes: 0 })
  const side = Math.sqrt(tokens)
  const pooled = POOLS.filter((pool) => side % pool === 0).map((pool) => (side / pool) ** 2)
  for (const count of imageTokens < tokens ? [...pooled, imageTokens] : pooled) {
    looks.push({ ...single, tokens: count, scratchBytes: tokens * decoder.dim * 4 })
  }
  return looks.filter((look) => look.tokens <= imageTokens)
}

function tilesAlongLongSide(settings: PreprocessorSettings): number {
  if (settings.kind !== 'idefics3' || !settings.split) return 1
  return Math.ceil(Math.min(settings.longestEdge, MAX_EDGE_AFTER_RESIZE) / settings.tileEdge)
}

/** Tiling models bring a picture to their longest edge also where it becomes one tile. */
function resizedEdgeOf(settings: PreprocessorSettings, edge: number): number {
  return settings.kind === 'idefics3' && settings.resize
    ? Math.min(settings.longestEdge, MAX_EDGE_AFTER_RESIZE)
    : edge
}

async function createLimitError(
  name: string,
  needs: MemoryNeeds,
  { leastBytes, parts }: Extract<MemoryOutcome, { fits: false }>,
  weigh: (precision: Precision) => Promise<number>,
): Promise<EngineError> {
  const smaller: string[] = []
  for (const kind of ['q8', 'q4'] as const) {
    const saved = needs.weightBytes - (await weigh({ kind }))
    if (saved > 0) smaller.push(`--precision ${kind} needs ${megabytes(leastBytes - saved)}`)
  }
  return new EngineError('backend/memory-limit', {
    message: `${name} needs at least ${megabytes(leastBytes)} (${parts.map(describePart).join(', ')}); the memory limit is ${megabytes(needs.limitBytes)}.`,
    hint:
      smaller.length > 0
        ? `Of the same model, ${smaller.join(', ')}. Or raise the limit.`
        : 'Use a smaller model, or raise the limit.',
  })
}

const USES: Readonly<Record<MemoryPart['use'], string>> = {
  program: 'the program',
  weights: 'weights',
  'run-state': 'computing',
  'keys-and-values': 'keys and values',
  'picture-features': 'picture features',
  'reading-pictures': 'reading pictures',
}

function describePart({ use, bytes }: MemoryPart): string {
  return `${megabytes(bytes)} for ${USES[use]}`
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
