/** A Moonshine model on the device: samples to keys and values, tokens to logits. */
import type { Backend, DeviceBuffer } from '../../backend/backend.ts'
import { EngineError } from '../../shared/errors.ts'
import { KvCache, type KvType } from '../blocks/kv-cache.ts'
import type { Norm } from '../blocks/pre-norm-block.ts'
import { RopeTable } from '../blocks/rope-table.ts'
import { Workspace } from '../blocks/workspace.ts'
import type { WeightLoader } from '../weight-loader.ts'
import type { MoonshineConfig } from './config.ts'
import {
  MAX_PASS_TOKENS,
  MoonshineDecoder,
  type MoonshineDecoderBlock,
  type MoonshineDecoderWeights,
  moonshineDecoderPlan,
} from './decoder.ts'
import {
  frontRows,
  type MoonshineAttention,
  MoonshineEncoder,
  type MoonshineEncoderBlock,
  type MoonshineEncoderWeights,
  type MoonshineFront,
  type MoonshineStageObserver,
  moonshineEncoderPlan,
} from './encoder.ts'

/** Samples there is room for at first: ten seconds. */
const FIRST_SAMPLES = 160_000
/** Fewer samples make no row. */
export const MIN_SAMPLES = 895

interface RunState {
  readonly samples: number
  readonly workspace: Workspace
  readonly encoder: MoonshineEncoder
  readonly decoder: MoonshineDecoder
}

export interface MoonshineWeights {
  readonly encoder: MoonshineEncoderWeights
  readonly decoder: MoonshineDecoderWeights
}

/** One utterance at a time: `encode` it, then `run` tokens over it. Calls must not overlap. */
export class MoonshineModel {
  readonly config: MoonshineConfig
  readonly backend: Backend
  readonly #weights: MoonshineWeights
  readonly #buffers: readonly DeviceBuffer[]
  readonly #rope: RopeTable
  readonly #cache: KvCache
  readonly #soundCache: KvCache
  #soundRows = 0
  #state: RunState

  constructor(
    backend: Backend,
    config: MoonshineConfig,
    weights: MoonshineWeights,
    buffers: readonly DeviceBuffer[],
    kvType: KvType,
  ) {
    const { layers, heads: kvHeads, headDim } = config.decoder
    this.config = config
    this.backend = backend
    this.#weights = weights
    this.#buffers = buffers
    this.#rope = new RopeTable(
      backend,
      Float32Array.from(
        { length: config.rotaryDim / 2 },
        (_, index) => 1 / config.ropeTheta ** ((2 * index) / config.rotaryDim),
      ),
    )
    const sizes = { layers, kvHeads, headDim }
    this.#cache = new KvCache(backend, { ...sizes, contextLength: config.positions }, kvType)
    this.#soundCache = new KvCache(backend, { ...sizes, contextLength: 4096 }, kvType)
    this.#state = this.#createState(FIRST_SAMPLES)
  }

  /** Bytes on the device: weights, run state, keys and values. */
  get allocatedBytes(): number {
    const weights = this.#buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)
    return weights + this.#state.workspace.byteLength + this.#cache.byteLength + this.#soundCache.byteLength
  }

  /** Most samples that a run can have. */
  get maxSamples(): number {
    const { front } = this.config.encoder
    // Version 1 was trained on up to half a minute; the streaming model has a table of positions.
    return front.kind === 'convolutions' ? 480_000 : this.config.positions * front.frameSamples * 4
  }

  /** Encodes samples of 16 kHz, `MIN_SAMPLES` or more. An aborted signal rejects with an `AbortError`. */
  async encode(samples: Float32Array, signal?: AbortSignal, onStage?: MoonshineStageObserver): Promise<void> {
    if (samples.length < MIN_SAMPLES || samples.length > this.maxSamples) {
      throw new EngineError('speech/utterance-length', {
        message: `The model hears ${MIN_SAMPLES} to ${this.maxSamples} samples at a time; found ${samples.length}.`,
      })
    }
    await this.#reserve(samples.length)
    const rows = frontRows(this.config, samples.length)[2]
    await this.#soundCache.reserve(rows, 0)
    this.#soundRows = rows
    const { encoder, decoder } = this.#state
    const { out, free, quantized } = encoder.run(samples, onStage)
    decoder.listen(out, free, quantized, { cache: this.#soundCache, rows })
    await this.backend.flush(signal)
  }

  /**
   * Runs tokens from `position` on, whose keys and values replace those that were there. Resolves with the logits of the
   * last token, or of all.
   */
  async run(
    ids: readonly number[],
    position: number,
    want: 'last' | 'all',
    signal?: AbortSignal,
    onStage?: MoonshineStageObserver,
  ): Promise<Float32Array[]> {
    await this.#cache.reserve(position + ids.length, position)
    const rows: Float32Array[] = []
    for (let first = 0; first < ids.length; first += MAX_PASS_TOKENS) {
      const part = Int32Array.from(ids.slice(first, first + MAX_PASS_TOKENS))
      this.#state.decoder.run({
        ids: part,
        position: position + first,
        cache: this.#cache,
        sound: { cache: this.#soundCache, rows: this.#soundRows },
        want,
        onStage,
      })
      const isLast = first + part.length === ids.length
      if (want === 'all') rows.push(...(await this.#readLogits(part.length, signal)))
      else if (isLast) rows.push(...(await this.#readLogits(1, signal)))
    }
    return rows
  }

  dispose(): void {
    this.#state.workspace.dispose()
    this.#cache.dispose()
    this.#soundCache.dispose()
    this.#rope.dispose()
    for (const buffer of this.#buffers) this.backend.free(buffer)
  }

  async #readLogits(rows: number, signal?: AbortSignal): Promise<Float32Array[]> {
    const { vocabSize } = this.config
    const bytes = await this.backend.read(this.#state.decoder.logits, rows * vocabSize * 4, signal)
    return Array.from(
      { length: rows },
      (_, row) => new Float32Array(bytes.buffer, row * vocabSize * 4, vocabSize),
    )
  }

  async #reserve(samples: number): Promise<void> {
    if (samples <= this.#state.samples) return
    await this.backend.flush() // nothing may use the old memory any more
    this.#state.workspace.dispose()
    this.#state = this.#createState(Math.min(Math.max(samples, this.#state.samples * 2), this.maxSamples))
  }

  #createState(samples: number): RunState {
    const { backend, config } = this
    const workspace = new Workspace(backend, [
      moonshineEncoderPlan(config, samples),
      moonshineDecoderPlan(config),
    ])
    return {
      samples,
      workspace,
      encoder: new MoonshineEncoder(backend, config, this.#weights.encoder, this.#rope, workspace, samples),
      decoder: new MoonshineDecoder(backend, config, this.#weights.decoder, this.#rope, workspace),
    }
  }
}

/** Loads all weights that the configuration names. */
export async function loadMoonshine(
  backend: Backend,
  config: MoonshineConfig,
  loader: WeightLoader,
  kvType: KvType,
): Promise<MoonshineModel> {
  try {
    const weights = await readWeights(loader, config)
    await loader.finish()
    return new MoonshineModel(backend, config, weights, loader.takeBuffers(), kvType)
  } catch (error) {
    loader.abandon()
    throw error
  }
}

async function readWeights(loader: WeightLoader, config: MoonshineConfig): Promise<MoonshineWeights> {
  const { encoder, decoder, vocabSize, tiedEmbeddings } = config
  const isStreaming = encoder.front.kind === 'frames'
  /** LayerNorm without bias. Streaming encoders store the gain minus one. */
  const norm = async (name: string, dim: number, hasOffset = false): Promise<Norm> => ({
    weight: hasOffset
      ? loader.put((await loader.floats(`${name}.gamma`, dim)).map((value) => value + 1))
      : await loader.vector(`${name}.weight`, dim),
    bias: loader.put(new Float32Array(dim)),
  })
  const attention = async (
    name: string,
    { dim, heads, headDim }: MoonshineConfig['decoder'],
  ): Promise<MoonshineAttention> => ({
    q: await loader.matrix(`${name}.q_proj.weight`, heads * headDim, dim, 'layer'),
    k: await loader.matrix(`${name}.k_proj.weight`, heads * headDim, dim, 'layer'),
    v: await loader.matrix(`${name}.v_proj.weight`, heads * headDim, dim, 'layer'),
    o: await loader.matrix(`${name}.o_proj.weight`, dim, heads * headDim, 'layer'),
  })
  const front = await readFront(loader, config)
  const encoderBlocks: MoonshineEncoderBlock[] = []
  for (let index = 0; index < encoder.layers; index++) {
    const name = `encoder.layers.${index}`
    const { dim, hiddenDim } = encoder
    encoderBlocks.push({
      ln1: await norm(`${name}.input_layernorm`, dim, isStreaming),
      ...(await attention(`${name}.self_attn`, encoder)),
      ln2: await norm(`${name}.post_attention_layernorm`, dim, isStreaming),
      ffnUp: await loader.matrix(`${name}.mlp.fc1.weight`, hiddenDim, dim, 'layer'),
      ffnUpBias: await loader.vector(`${name}.mlp.fc1.bias`, hiddenDim),
      ffnDown: await loader.matrix(`${name}.mlp.fc2.weight`, dim, hiddenDim, 'layer'),
      ffnDownBias: await loader.vector(`${name}.mlp.fc2.bias`, dim),
    })
  }
  const encoderNorm = await norm(
    isStreaming ? 'encoder.final_norm' : 'encoder.layer_norm',
    encoder.dim,
    isStreaming,
  )
  const positions = isStreaming
    ? await loader.vector('decoder.pos_emb.weight', config.positions, encoder.dim)
    : undefined
  const projection =
    isStreaming && encoder.dim !== decoder.dim
      ? await loader.matrix('decoder.proj.weight', decoder.dim, encoder.dim, 'layer')
      : undefined
  const embedding = await loader.matrix('decoder.embed_tokens.weight', vocabSize, decoder.dim, 'embedding')
  const decoderBlocks: MoonshineDecoderBlock[] = []
  for (let index = 0; index < decoder.layers; index++) {
    const name = `decoder.layers.${index}`
    const { dim, hiddenDim } = decoder
    decoderBlocks.push({
      norm1: await norm(`${name}.input_layernorm`, dim),
      self: await attention(`${name}.self_attn`, decoder),
      norm2: await norm(`${name}.post_attention_layernorm`, dim),
      cross: await attention(`${name}.encoder_attn`, decoder),
      norm3: await norm(`${name}.final_layernorm`, dim),
      gate: await loader.matrix(`${name}.mlp.gate.weight`, hiddenDim, dim, 'layer'),
      gateBias: await loader.vector(`${name}.mlp.gate.bias`, hiddenDim),
      value: await loader.matrix(`${name}.mlp.value.weight`, hiddenDim, dim, 'layer'),
      valueBias: await loader.vector(`${name}.mlp.value.bias`, hiddenDim),
      down: await loader.matrix(`${name}.mlp.fc2.weight`, dim, hiddenDim, 'layer'),
      downBias: await loader.vector(`${name}.mlp.fc2.bias`, dim),
    })
  }
  return {
    encoder: { front, blocks: encoderBlocks, norm: encoderNorm, positions, projection },
    decoder: {
      embedding,
      blocks: decoderBlocks,
      norm: await norm('decoder.norm', decoder.dim),
      output: tiedEmbeddings
        ? embedding
        : await loader.matrix('proj_out.weight', vocabSize, decoder.dim, 'output'),
    },
  }
}

async function readFront(loader: WeightLoader, { encoder }: MoonshineConfig): Promise<MoonshineFront> {
  const { dim, front } = encoder
  if (front.kind === 'convolutions') {
    return {
      kind: 'convolutions',
      conv1: await loader.convolution('encoder.conv1.weight', dim, 1, 127, 'patch'),
      groupNorm: {
        weight: await loader.vector('encoder.groupnorm.weight', dim),
        bias: await loader.vector('encoder.groupnorm.bias', dim),
      },
      conv2: await loader.convolution('encoder.conv2.weight', 2 * dim, dim, 7, 'layer'),
      conv2Bias: await loader.vector('encoder.conv2.bias', 2 * dim),
      conv3: await loader.convolution('encoder.conv3.weight', dim, 2 * dim, 3, 'layer'),
      conv3Bias: await loader.vector('encoder.conv3.bias', dim),
    }
  }
  const [logSlope = 0] = await loader.floats('encoder.embedder.comp.log_k', 1)
  return {
    kind: 'frames',
    slope: Math.exp(logSlope),
    linear: await loader.matrix('encoder.embedder.linear.weight', dim, front.frameSamples, 'patch'),
    conv1: await loader.convolution('encoder.embedder.conv1.weight', 2 * dim, dim, 5, 'layer'),
    conv1Bias: await loader.vector('encoder.embedder.conv1.bias', 2 * dim),
    conv2: await loader.convolution('encoder.embedder.conv2.weight', dim, 2 * dim, 5, 'layer'),
    conv2Bias: await loader.vector('encoder.embedder.conv2.bias', dim),
  }
}
