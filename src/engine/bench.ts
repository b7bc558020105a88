/** Measures a model: loading, pictures, prompts, answers. Times are the best of several runs, since machines are shared. */
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import type { Checkpoint } from '../models/checkpoint.ts'
import { loadLanguageModel } from '../models/language-model.ts'
import type { ModelConfig } from '../models/model-config.ts'
import { choosePrecision, defaultKv, KV_TYPES, type KvName, type PrecisionName } from '../models/precision.ts'
import { parseCheckpoint } from '../models/registry.ts'
import { WeightLoader } from '../models/weight-loader.ts'
import { type FirstWordMs, measureFirstWord } from './bench-first-word.ts'
import { measureReading } from './bench-reading.ts'
import { measureSnapshot } from './bench-snapshot.ts'
import { measureSpeeds, Stopwatch } from './bench-speeds.ts'
import type { EngineHost } from './load-model.ts'
import { openCheckpoint } from './open-checkpoint.ts'
import { planLoad } from './plan-load.ts'
import { createSyntheticCheckpoint, type SyntheticTypes } from './synthetic-checkpoint.ts'
import type { MemoryPlan } from './types.ts'

export interface BenchRequest {
  /** Default: q4 for shapes, `auto` for files. */
  readonly precision?: PrecisionName
  /** Default as `LoadModelOptions.kv`. */
  readonly kv?: KvName
  readonly threads?: number
  /**
   * As `LoadModelOptions`, but that no picture is read. How fast the machine reads memory is then not measured, which
   * takes memory of its own.
   */
  readonly memoryLimit?: number
  readonly onMemoryPlan?: (plan: MemoryPlan) => void
  /** Runs of each measurement. Default 3. */
  readonly repeat?: number
  readonly signal?: AbortSignal
}

/** Numbers by name, units in the names. What a model cannot do is left out. */
export interface BenchMeasurement {
  readonly numbers: Readonly<Record<string, number>>
  /** From a question to its first word, in milliseconds. */
  readonly firstWordMs: FirstWordMs
  readonly backend: string
  readonly threads: number
}

const SHAPE_TYPES: Readonly<Record<PrecisionName, SyntheticTypes>> = {
  auto: { layers: 'Q4_0', others: 'Q8_0' },
  q4: { layers: 'Q4_0', others: 'Q8_0' },
  q8: { layers: 'Q8_0', others: 'Q8_0' },
  f32: { layers: 'F32', others: 'F32' },
}

export async function measureModel(
  host: EngineHost,
  subject: string | { readonly shape: string },
  request: BenchRequest,
): Promise<BenchMeasurement> {
  const precision = request.precision ?? 'auto'
  if (typeof subject !== 'string') {
    const checkpoint = createSyntheticCheckpoint(subject.shape, SHAPE_TYPES[precision])
    return measureCheckpoint(host, checkpoint, precision === 'f32' ? 'f32' : 'auto', 'gguf', request)
  }
  const opened = await openCheckpoint(host.files, subject)
  try {
    return await measureCheckpoint(host, opened.checkpoint, precision, opened.checkpoint.container, request)
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}

async function measureCheckpoint(
  host: EngineHost,
  checkpoint: Checkpoint,
  precisionName: PrecisionName,
  container: Checkpoint['container'],
  request: BenchRequest,
): Promise<BenchMeasurement> {
  const start = performance.now()
  const { name } = checkpoint
  const { config, tensors } = parseCheckpoint(checkpoint)
  const precision = choosePrecision(precisionName, container)
  const { threads, memoryLimit, signal, repeat = 3 } = request
  const backend = await createWasmBackend(host.workers, threads === undefined ? {} : { threads })
  try {
    const prepared = { name, container, config, tensors, preprocessor: undefined }
    const { kv, contextLength, maxPassTokens } =
      memoryLimit === undefined
        ? { kv: request.kv }
        : await planLoad(
            prepared,
            backend,
            host.workers,
            { ...request, precision: precisionName },
            memoryLimit,
          )
    const loader = new WeightLoader({ backend, tensors, precision, name, signal })
    const model = await loadLanguageModel(backend, withContext(config, contextLength), loader, {
      kvType: KV_TYPES[kv ?? defaultKv(precision)],
      ...(maxPassTokens !== undefined && { maxPassTokens }),
    })
    const loadMs = performance.now() - start
    const fileBytes = [...tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
    const embedding = tensors.get('output.weight') ? (tensors.get('token_embd.weight')?.byteLength ?? 0) : 0
    const pictureBytes = [...tensors].reduce(
      (sum, [name, { byteLength }]) => (/^(v|mm)\./.test(name) ? sum + byteLength : sum),
      0,
    )
    const watch = new Stopwatch(repeat, signal)
    const speeds = await measureSpeeds(model, watch)
    const firstWordMs = await measureFirstWord(model, watch)
    const snapshot = await measureSnapshot(model, host.snapshots, watch)
    const readGigabytesPerSecond = memoryLimit === undefined && (await measureReading(backend, watch))
    // Every weight of the decoder is read once a token; of a separate embedding one row.
    const decodeGigabytesPerSecond =
      ((fileBytes - embedding - pictureBytes) * speeds.decodeTokensPerSecond0) / 1e9
    const numbers = {
      loadMs,
      ...speeds,
      ...snapshot,
      decodeGigabytesPerSecond,
      ...(readGigabytesPerSecond && {
        readGigabytesPerSecond,
        decodeShareOfReadLimit: decodeGigabytesPerSecond / readGigabytesPerSecond,
      }),
      fileMegabytes: fileBytes / 1e6,
      allocatedMegabytes: backend.allocatedBytes / 1e6,
    }
    return { numbers, firstWordMs, backend: backend.info.name, threads: backend.info.threads }
  } finally {
    await backend.dispose()
  }
}

function withContext(config: ModelConfig, contextLength = config.decoder.contextLength): ModelConfig {
  return { ...config, decoder: { ...config.decoder, contextLength } }
}
