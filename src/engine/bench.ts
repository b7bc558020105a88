/** Measures a model: loading, pictures, prompts, answers. Times are the best of several runs, since machines are shared. */
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import type { KvCache } from '../models/blocks/kv-cache.ts'
import type { Checkpoint } from '../models/checkpoint.ts'
import { type LanguageModel, loadLanguageModel } from '../models/language-model.ts'
import { choosePrecision, type PrecisionName } from '../models/precision.ts'
import { parseCheckpoint } from '../models/registry.ts'
import { WeightLoader } from '../models/weight-loader.ts'
import { throwIfAborted } from '../shared/abort.ts'
import type { EngineHost } from './load-model.ts'
import { openCheckpoint } from './open-checkpoint.ts'
import { createSyntheticCheckpoint, type SyntheticTypes } from './synthetic-checkpoint.ts'

export interface BenchRequest {
  /** Default: q4 for shapes, `auto` for files. */
  readonly precision?: PrecisionName
  readonly threads?: number
  /** Runs of each measurement. Default 3. */
  readonly repeat?: number
  readonly signal?: AbortSignal
}

/** Numbers by name, units in the names. What a model cannot do is left out. */
export interface BenchMeasurement {
  readonly numbers: Readonly<Record<string, number>>
  readonly backend: string
  readonly threads: number
}

const SHAPE_TYPES: Readonly<Record<PrecisionName, SyntheticTypes>> = {
  auto: { layers: 'Q4_0', others: 'Q8_0' },
  q4: { layers: 'Q4_0', others: 'Q8_0' },
  q8: { layers: 'Q8_0', others: 'Q8_0' },
  f32: { layers: 'F32', others: 'F32' },
}

const LONG_PROMPT = 512
const SHORT_PROMPT = 64
const DECODED_TOKENS = 32

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
  const { config, tensors } = parseCheckpoint(checkpoint)
  const precision = choosePrecision(precisionName, container)
  const { threads, signal, repeat = 3 } = request
  const backend = await createWasmBackend(host.workers, threads === undefined ? {} : { threads })
  try {
    const loader = new WeightLoader({ backend, tensors, precision, name: checkpoint.name, signal })
    const model = await loadLanguageModel(backend, config, loader, {
      kvType: precision.kind === 'f32' ? 'F32' : 'F16',
    })
    const loadMs = performance.now() - start
    const fileBytes = [...tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
    const embedding = tensors.get('output.weight') ? (tensors.get('token_embd.weight')?.byteLength ?? 0) : 0
    const pictureBytes = [...tensors].reduce(
      (sum, [name, { byteLength }]) => (/^(v|mm)\./.test(name) ? sum + byteLength : sum),
      0,
    )
    const bench = new Bench(backend, model, repeat, signal)
    const speeds = await bench.run()
    const numbers = {
      loadMs,
      ...speeds,
      // Every weight of the decoder is read once a token; of a separate embedding one row.
      decodeGigabytesPerSecond:
        ((fileBytes - embedding - pictureBytes) * speeds.decodeTokensPerSecond0) / 1e9,
      fileMegabytes: fileBytes / 1e6,
      allocatedMegabytes: backend.allocatedBytes / 1e6,
    }
    return { numbers, backend: backend.info.name, threads: backend.info.threads }
  } finally {
    await backend.dispose()
  }
}

class Bench {
  readonly #backend: Backend
  readonly #model: LanguageModel
  readonly #repeat: number
  readonly #signal: AbortSignal | undefined

  constructor(backend: Backend, model: LanguageModel, repeat: number, signal: AbortSignal | undefined) {
    this.#backend = backend
    this.#model = model
    this.#repeat = repeat
    this.#signal = signal
  }

  async run() {
    const cache = this.#model.createCache()
    const context = Math.min(LONG_PROMPT, this.#model.config.decoder.contextLength - DECODED_TOKENS)
    await cache.reserve(context + DECODED_TOKENS, 0)
    await this.#decode(cache, 0, 2) // first use of every buffer and code path
    const tileMs = await this.#measurePicture()
    return {
      ...(tileMs === undefined ? {} : { imageEncodeMsPerTile: tileMs }),
      [`prefillTokensPerSecond${SHORT_PROMPT}`]:
        SHORT_PROMPT / (await this.#best(() => this.#prefill(cache, SHORT_PROMPT))),
      [`prefillTokensPerSecond${context}`]: context / (await this.#best(() => this.#prefill(cache, context))),
      decodeTokensPerSecond0:
        DECODED_TOKENS / (await this.#best(() => this.#decode(cache, 0, DECODED_TOKENS))),
      [`decodeTokensPerSecond${context}`]:
        DECODED_TOKENS / (await this.#best(() => this.#decode(cache, context, DECODED_TOKENS))),
    } as { decodeTokensPerSecond0: number } & Record<string, number>
  }

  /** Seconds of the fastest run. */
  async #best(work: () => Promise<void>): Promise<number> {
    let best = Number.POSITIVE_INFINITY
    for (let run = 0; run < this.#repeat; run++) {
      throwIfAborted(this.#signal)
      const start = performance.now()
      await work()
      best = Math.min(best, (performance.now() - start) / 1000)
    }
    return best
  }

  async #prefill(cache: KvCache, tokens: number): Promise<void> {
    const { decoder } = this.#model
    for (let position = 0; position < tokens; position += decoder.maxTokens) {
      const count = Math.min(decoder.maxTokens, tokens - position)
      const ids = Int32Array.from(
        { length: count },
        (_, index) => ((position + index) * 37) % decoder.config.vocabSize,
      )
      decoder.run({
        ids,
        replacements: [],
        position,
        cache,
        want: position + count === tokens ? 'last' : 'none',
      })
      await this.#backend.flush(this.#signal)
    }
  }

  /** As an answer is made: logits are read and looked through for every token. */
  async #decode(cache: KvCache, position: number, tokens: number): Promise<void> {
    const { decoder } = this.#model
    let id = 1
    for (let step = 0; step < tokens; step++) {
      decoder.run({
        ids: Int32Array.of(id),
        replacements: [],
        position: position + step,
        cache,
        want: 'last',
      })
      const logits = new Float32Array(
        (await this.#backend.read(decoder.logits, decoder.logits.byteLength, this.#signal)).buffer,
      )
      id = logits.indexOf(Math.max(...logits.subarray(0, 64)))
    }
  }

  /** Milliseconds of one frame through tower and projector. */
  async #measurePicture(): Promise<number | undefined> {
    const { pictures, config } = this.#model
    if (!pictures) return undefined
    const { imageSize } = pictures.vision
    const pixels = Float32Array.from({ length: 3 * imageSize * imageSize }, (_, index) => Math.sin(index))
    const out = this.#backend.alloc(pictures.tokensPerFrame * config.decoder.dim * 4)
    const seconds = await this.#best(async () => {
      pictures.run(pixels, out)
      await this.#backend.flush(this.#signal)
    })
    this.#backend.free(out)
    return seconds * 1000
  }
}
