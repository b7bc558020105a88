/** A Whisper model on the device: sound to keys and values, tokens to logits. */
import type { Backend, DeviceBuffer } from '../../backend/backend.ts'
import { type CachePlace, KvCache, type KvType } from '../blocks/kv-cache.ts'
import type { AttentionWeights, FeedForwardWeights, Norm } from '../blocks/pre-norm-block.ts'
import { Workspace } from '../blocks/workspace.ts'
import type { WeightLoader } from '../weight-loader.ts'
import type { WhisperConfig, WhisperSideConfig } from './config.ts'
import {
  MAX_PASS_TOKENS,
  type Sound,
  WhisperDecoder,
  type WhisperDecoderBlock,
  type WhisperDecoderWeights,
  whisperDecoderPlan,
} from './decoder.ts'
import {
  CONV_KERNEL,
  FRAMES_PER_POSITION,
  type StageObserver,
  WhisperEncoder,
  type WhisperEncoderWeights,
  whisperEncoderPlans,
} from './encoder.ts'

/** Positions of sound that there is room for at first: ten seconds with the margin. */
const FIRST_POSITIONS = 640

interface RunState {
  readonly positions: number
  readonly workspace: Workspace
  readonly encoder: WhisperEncoder
  readonly decoder: WhisperDecoder
}

/** One utterance at a time: `encode` it, then `run` tokens over it. Calls must not overlap. */
export class WhisperModel {
  readonly config: WhisperConfig
  readonly backend: Backend
  readonly #weights: WhisperWeights
  readonly #buffers: readonly DeviceBuffer[]
  readonly #cache: KvCache
  /** Keys and values of the sound. */
  readonly #soundCache: KvCache
  #soundRows = 0
  #state: RunState

  constructor(
    backend: Backend,
    config: WhisperConfig,
    weights: WhisperWeights,
    buffers: readonly DeviceBuffer[],
    kvType: KvType,
  ) {
    const { dim, decoder } = config
    this.config = config
    this.backend = backend
    this.#weights = weights
    this.#buffers = buffers
    const sizes = { layers: decoder.layers, kvHeads: decoder.heads, headDim: dim / decoder.heads }
    this.#cache = new KvCache(backend, { ...sizes, contextLength: decoder.positions }, kvType)
    this.#soundCache = new KvCache(backend, { ...sizes, contextLength: config.encoder.positions }, kvType)
    this.#state = this.#createState(Math.min(FIRST_POSITIONS, config.encoder.positions))
  }

  /**
   * Encodes a spectrogram, f32 (2 * positions, melBands), and readies the decoder to attend to it. An aborted signal
   * rejects with an `AbortError`.
   */
  async encode(mel: Float32Array, signal?: AbortSignal, onStage?: StageObserver): Promise<void> {
    const positions = mel.length / this.config.melBands / FRAMES_PER_POSITION
    await this.#reserve(positions)
    await this.#soundCache.reserve(positions, 0)
    this.#soundRows = positions
    const { encoder, decoder } = this.#state
    const { out, free, quantized } = encoder.run(mel, onStage)
    decoder.listen(out, free, quantized, this.#sound)
    await this.backend.flush(signal)
  }

  /**
   * Runs tokens from `position` on, whose keys and values replace those that were there. Resolves with the rows of
   * logits that are wanted: none, of the last token, or of all.
   */
  async run(
    ids: readonly number[],
    position: number,
    want: 'none' | 'last' | 'all',
    signal?: AbortSignal,
  ): Promise<Float32Array[]> {
    await this.#cache.reserve(position + ids.length, position)
    const rows: Float32Array[] = []
    for (let first = 0; first < ids.length; first += MAX_PASS_TOKENS) {
      const part = Int32Array.from(ids.slice(first, first + MAX_PASS_TOKENS))
      const isLast = first + part.length === ids.length
      const wanted = want === 'last' && !isLast ? 'none' : want
      this.#state.decoder.run({
        ids: part,
        position: position + first,
        cache: this.#cache,
        sound: this.#sound,
        want: wanted,
      })
      if (wanted !== 'none')
        rows.push(...(await this.#readLogits(wanted === 'all' ? part.length : 1, signal)))
    }
    return rows
  }

  /** Bytes on the device: weights, run state, keys and values. */
  get allocatedBytes(): number {
    const weights = this.#buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)
    return weights + this.#state.workspace.byteLength + this.#cache.byteLength + this.#soundCache.byteLength
  }

  /** Where the decoder's keys and values of the sound lie, for whoever holds them against a reference. */
  soundPlace(layer: number): CachePlace {
    return this.#soundCache.at(layer, 0)
  }

  /** Gives back run state and weights. */
  dispose(): void {
    this.#state.workspace.dispose()
    this.#cache.dispose()
    this.#soundCache.dispose()
    for (const buffer of this.#buffers) this.backend.free(buffer)
  }

  get #sound(): Sound {
    return { cache: this.#soundCache, rows: this.#soundRows }
  }

  async #readLogits(rows: number, signal?: AbortSignal): Promise<Float32Array[]> {
    const { vocabSize } = this.config
    const bytes = await this.backend.read(this.#state.decoder.logits, rows * vocabSize * 4, signal)
    return Array.from(
      { length: rows },
      (_, row) => new Float32Array(bytes.buffer, row * vocabSize * 4, vocabSize),
    )
  }

  /** Long sounds are rarer than short ones and need several times the memory, so it grows when the first one comes. */
  async #reserve(positions: number): Promise<void> {
    if (positions <= this.#state.positions) return
    await this.backend.flush() // nothing may use the old memory any more
    this.#state.workspace.dispose()
    this.#state = this.#createState(this.config.encoder.positions)
  }

  #createState(positions: number): RunState {
    const { backend, config } = this
    const workspace = new Workspace(backend, [
      ...whisperEncoderPlans(config, positions),
      whisperDecoderPlan(config),
    ])
    return {
      positions,
      workspace,
      encoder: new WhisperEncoder(backend, config, this.#weights.encoder, workspace, positions),
      decoder: new WhisperDecoder(backend, config, this.#weights.decoder, workspace),
    }
  }
}

export interface WhisperWeights {
  readonly encoder: WhisperEncoderWeights
  readonly decoder: WhisperDecoderWeights
}

/** Loads all weights that the configuration names. */
export async function loadWhisper(
  backend: Backend,
  config: WhisperConfig,
  loader: WeightLoader,
  kvType: KvType,
): Promise<WhisperModel> {
  try {
    const weights = await readWhisperWeights(loader, config)
    await loader.finish()
    return new WhisperModel(backend, config, weights, loader.takeBuffers(), kvType)
  } catch (error) {
    loader.abandon()
    throw error
  }
}

async function readWhisperWeights(loader: WeightLoader, config: WhisperConfig): Promise<WhisperWeights> {
  const { dim, melBands, vocabSize, tiedEmbeddings } = config
  const encoder = {
    conv1: await loader.convolution('encoder.conv1.weight', dim, melBands, CONV_KERNEL, 'patch'),
    conv1Bias: await loader.vector('encoder.conv1.bias', dim),
    conv2: await loader.convolution('encoder.conv2.weight', dim, dim, CONV_KERNEL, 'patch'),
    conv2Bias: await loader.vector('encoder.conv2.bias', dim),
    positions: await loader.vector('encoder.positional_embedding', config.encoder.positions, dim),
    blocks: await readBlocks(loader, dim, 'encoder', config.encoder, async () => ({})),
    norm: await readNorm(loader, 'encoder.ln_post', dim),
  }
  const tokenEmbedding = await loader.matrix('decoder.token_embedding.weight', vocabSize, dim, 'embedding')
  const decoder = {
    tokenEmbedding,
    positions: await loader.vector('decoder.positional_embedding', config.decoder.positions, dim),
    blocks: await readBlocks(loader, dim, 'decoder', config.decoder, (name) =>
      readCrossAttention(loader, name, dim),
    ),
    norm: await readNorm(loader, 'decoder.ln', dim),
    output: tiedEmbeddings
      ? tokenEmbedding
      : await loader.matrix('decoder.output.weight', vocabSize, dim, 'output'),
  }
  return { encoder, decoder }
}

async function readBlocks<Extra>(
  loader: WeightLoader,
  dim: number,
  side: string,
  { layers, hiddenDim }: WhisperSideConfig,
  readExtra: (name: string) => Promise<Extra>,
) {
  const blocks = []
  for (let index = 0; index < layers; index++) {
    const name = `${side}.blocks.${index}`
    blocks.push({
      ln1: await readNorm(loader, `${name}.attn_ln`, dim),
      ...(await readAttention(loader, `${name}.attn`, dim)),
      ...(await readExtra(name)),
      ...(await readFeedForward(loader, name, dim, hiddenDim)),
    })
  }
  return blocks
}

async function readCrossAttention(
  loader: WeightLoader,
  name: string,
  dim: number,
): Promise<Pick<WhisperDecoderBlock, 'cross' | 'crossNorm'>> {
  return {
    crossNorm: await readNorm(loader, `${name}.cross_attn_ln`, dim),
    cross: await readAttention(loader, `${name}.cross_attn`, dim),
  }
}

async function readAttention(loader: WeightLoader, name: string, dim: number): Promise<AttentionWeights> {
  return {
    attnQ: await loader.matrix(`${name}.query.weight`, dim, dim, 'layer'),
    attnK: await loader.matrix(`${name}.key.weight`, dim, dim, 'layer'),
    attnV: await loader.matrix(`${name}.value.weight`, dim, dim, 'layer'),
    attnOut: await loader.matrix(`${name}.out.weight`, dim, dim, 'layer'),
    attnQBias: await loader.vector(`${name}.query.bias`, dim),
    attnKBias: undefined, // Whisper's keys have none
    attnVBias: await loader.vector(`${name}.value.bias`, dim),
    attnOutBias: await loader.vector(`${name}.out.bias`, dim),
  }
}

async function readFeedForward(
  loader: WeightLoader,
  name: string,
  dim: number,
  hiddenDim: number,
): Promise<FeedForwardWeights> {
  return {
    ln2: await readNorm(loader, `${name}.mlp_ln`, dim),
    ffnUp: await loader.matrix(`${name}.mlp.0.weight`, hiddenDim, dim, 'layer'),
    ffnUpBias: await loader.vector(`${name}.mlp.0.bias`, hiddenDim),
    ffnDown: await loader.matrix(`${name}.mlp.2.weight`, dim, hiddenDim, 'layer'),
    ffnDownBias: await loader.vector(`${name}.mlp.2.bias`, dim),
  }
}

async function readNorm(loader: WeightLoader, name: string, dim: number): Promise<Norm> {
  return {
    weight: await loader.vector(`${name}.weight`, dim),
    bias: await loader.vector(`${name}.bias`, dim),
  }
}
