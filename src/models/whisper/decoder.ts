/** The forward pass of Whisper's decoder: tokens attend to the tokens before them and to the encoded sound. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { quantizedByteLength } from '../../backend/ops.ts'
import type { CachePlace, KvCache } from '../blocks/kv-cache.ts'
import { createActivations, linear, type Matrix } from '../blocks/matrix.ts'
import { offset } from '../blocks/offset.ts'
import {
  type AttentionWeights,
  type BlockSizes,
  layerNorm,
  type Norm,
  type PreNormBlock,
  preNormPlan,
  runFeedForward,
} from '../blocks/pre-norm-block.ts'
import type { Workspace, WorkspacePlan } from '../blocks/workspace.ts'
import { WHISPER_EPSILON, type WhisperConfig } from './config.ts'

export interface WhisperDecoderBlock extends PreNormBlock {
  readonly crossNorm: Norm
  readonly cross: AttentionWeights
}

export interface WhisperDecoderWeights {
  readonly tokenEmbedding: Matrix // (vocabSize, dim)
  readonly positions: DeviceBuffer // (positions, dim)
  readonly blocks: readonly WhisperDecoderBlock[]
  readonly norm: Norm
  readonly output: Matrix // (vocabSize, dim)
}

/** Most tokens of a pass: a draft of a sentence. Each row of logits takes 200 KB. */
export const MAX_PASS_TOKENS = 16

/** Keys and values of cross-attention. */
export interface Sound {
  readonly cache: KvCache
  readonly rows: number
}

export interface WhisperPass {
  readonly ids: Int32Array
  /** Of the first token; the cache holds all before it and has room for the rest. */
  readonly position: number
  readonly cache: KvCache
  /** What `listen` made of the sound. */
  readonly sound: Sound
  /** `last`: logits of the last token, in the first row. `all`: of every token. */
  readonly want: 'none' | 'last' | 'all'
}

function blockSizes({ dim, decoder }: WhisperConfig): BlockSizes {
  return {
    dim,
    heads: decoder.heads,
    hiddenDim: decoder.hiddenDim,
    epsilon: WHISPER_EPSILON,
    activation: 'geluErf',
  }
}

/** Sizes of the run state. */
export function whisperDecoderPlan(config: WhisperConfig) {
  return {
    ...preNormPlan(blockSizes(config), MAX_PASS_TOKENS),
    ids: MAX_PASS_TOKENS * 4,
    quantized: quantizedByteLength(MAX_PASS_TOKENS, Math.max(config.dim, config.decoder.hiddenDim)),
    logits: MAX_PASS_TOKENS * config.vocabSize * 4, // (tokens, vocabSize)
  } satisfies WorkspacePlan<string>
}

export class WhisperDecoder {
  /** Of the last pass. */
  readonly logits: BufferRef // f32 (tokens, vocabSize)
  readonly #backend: Backend
  readonly #config: WhisperConfig
  readonly #sizes: BlockSizes
  readonly #weights: WhisperDecoderWeights
  readonly #state: Record<keyof ReturnType<typeof whisperDecoderPlan>, BufferRef>
  readonly #stepKeys = new WeakMap<object, { readonly sound: object; readonly rows: number }>()

  constructor(backend: Backend, config: WhisperConfig, weights: WhisperDecoderWeights, workspace: Workspace) {
    this.#backend = backend
    this.#config = config
    this.#sizes = blockSizes(config)
    this.#weights = weights
    this.#state = workspace.lay(whisperDecoderPlan(config))
    this.logits = this.#state.logits
  }

  /**
   * Enqueues the keys and values of what was encoded, f32 (rows, dim), to a cache with room for them. `scratch` is of
   * the same size.
   */
  listen(encoded: BufferRef, scratch: BufferRef, quantized: BufferRef, sound: Sound): void {
    const { rows, cache } = sound
    const input = createActivations(encoded, rows, this.#config.dim, quantized)
    for (const [index, { cross }] of this.#weights.blocks.entries()) {
      const place = cache.at(index, 0)
      linear(this.#backend, input, cross.attnK, scratch, { bias: cross.attnKBias })
      this.#store(cache, scratch, place.k, place, rows)
      linear(this.#backend, input, cross.attnV, scratch, { bias: cross.attnVBias })
      this.#store(cache, scratch, place.v, place, rows)
    }
  }

  /** Enqueues a pass over up to `MAX_PASS_TOKENS` tokens. */
  run(pass: WhisperPass): void {
    const { ids, position, cache, want } = pass
    this.#backend.write(this.#state.ids, new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength))
    if (ids.length > 1 || want !== 'last') {
      this.#enqueue(pass)
      return
    }
    const limit = Math.min(cache.capacity, this.#config.decoder.positions)
    this.#backend.repeat(this.#stepKey(pass), position, limit, (at) =>
      this.#enqueue({ ...pass, position: at }),
    )
  }

  /** One object for each state of the caches: steps on the same buffers differ in their position only. */
  #stepKey({ cache, sound }: WhisperPass): object {
    const known = this.#stepKeys.get(cache.layout)
    if (known?.sound === sound.cache.layout && known.rows === sound.rows) return known
    const key = { sound: sound.cache.layout, rows: sound.rows }
    this.#stepKeys.set(cache.layout, key)
    return key
  }

  #enqueue(pass: WhisperPass): void {
    const rows = pass.ids.length
    this.#embed(rows, pass.position)
    for (const [index, block] of this.#weights.blocks.entries()) {
      this.#attendToText(block, index, pass)
      this.#attendToSound(block, index, pass)
      runFeedForward(this.#backend, this.#sizes, block, this.#state, rows)
    }
    if (pass.want !== 'none') this.#predict(rows, pass.want)
  }

  #embed(rows: number, position: number): void {
    const { dim } = this.#config
    const { tokenEmbedding, positions } = this.#weights
    const { ids, x } = this.#state
    this.#backend.enqueue('gatherRows', {
      type: tokenEmbedding.type,
      matrix: tokenEmbedding.data,
      ids,
      out: x,
      count: rows,
      columns: dim,
    })
    this.#backend.enqueue('addRows', { x, y: offset(positions, position * dim * 4), rows, columns: dim })
  }

  #attendToText(block: WhisperDecoderBlock, index: number, { ids, position, cache }: WhisperPass): void {
    const backend = this.#backend
    const { dim } = this.#config
    const { x, norm, q, k, v, quantized } = this.#state
    const rows = ids.length
    layerNorm(backend, this.#sizes, x, block.ln1, norm, rows)
    const input = createActivations(norm, rows, dim, quantized)
    linear(backend, input, block.attnQ, q, { bias: block.attnQBias })
    linear(backend, input, block.attnK, k, { bias: block.attnKBias })
    linear(backend, input, block.attnV, v, { bias: block.attnVBias })
    const here = cache.at(index, position)
    this.#store(cache, k, here.k, here, rows)
    this.#store(cache, v, here.v, here, rows)
    this.#attend(cache, index, rows, position + rows, position)
    const attended = createActivations(norm, rows, dim, quantized)
    linear(backend, attended, block.attnOut, x, { bias: block.attnOutBias, accumulate: true })
  }

  #attendToSound(
    { crossNorm, cross }: WhisperDecoderBlock,
    index: number,
    { ids, sound }: WhisperPass,
  ): void {
    const backend = this.#backend
    const { dim } = this.#config
    const { x, norm, q, quantized } = this.#state
    const rows = ids.length
    layerNorm(backend, this.#sizes, x, crossNorm, norm, rows)
    const input = createActivations(norm, rows, dim, quantized)
    linear(backend, input, cross.attnQ, q, { bias: cross.attnQBias })
    this.#attend(sound.cache, index, rows, sound.rows)
    const attended = createActivations(norm, rows, dim, quantized)
    linear(backend, attended, cross.attnOut, x, { bias: cross.attnOutBias, accumulate: true })
  }

  #store({ type }: KvCache, x: BufferRef, out: BufferRef, { headStride }: CachePlace, rows: number): void {
    const { dim, heads } = this.#sizes
    this.#backend.enqueue('storeRows', { type, x, out, rows, heads, headDim: dim / heads, headStride })
  }

  /** From `q` to `norm`. Causal where the first query's position is given. */
  #attend(cache: KvCache, index: number, queries: number, keys: number, firstPosition?: number): void {
    const { heads, dim } = this.#sizes
    const headDim = dim / heads
    const { k, v, headStride } = cache.at(index, 0)
    this.#backend.enqueue('attention', {
      type: cache.type,
      q: this.#state.q,
      k,
      v,
      out: this.#state.norm,
      queries,
      keys,
      heads,
      kvHeads: heads,
      headDim,
      positionStride: 1,
      headStride,
      scale: 1 / Math.sqrt(headDim),
      causal: firstPosition === undefined ? 0 : 1,
      firstPosition: firstPosition ?? 0,
    })
  }

  #predict(tokens: number, want: 'last' | 'all'): void {
    const { dim } = this.#config
    const { x, norm, quantized, logits } = this.#state
    const rows = want === 'all' ? tokens : 1
    const from = offset(x, (tokens - rows) * dim * 4)
    layerNorm(this.#backend, this.#sizes, from, this.#weights.norm, norm, rows)
    const input = createActivations(norm, rows, dim, quantized)
    linear(this.#backend, input, this.#weights.output, logits)
  }
}
