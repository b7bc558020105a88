/** The forward pass of Moonshine's decoder: tokens attend to the tokens before them and to the encoded sound. */
import type { Backend, BufferRef } from '../../backend/backend.ts'
import { quantizedByteLength } from '../../backend/ops.ts'
import type { CachePlace, KvCache } from '../blocks/kv-cache.ts'
import { createActivations, linear, type Matrix } from '../blocks/matrix.ts'
import { offset } from '../blocks/offset.ts'
import { layerNorm, type Norm } from '../blocks/pre-norm-block.ts'
import type { RopeTable } from '../blocks/rope-table.ts'
import type { Workspace, WorkspacePlan } from '../blocks/workspace.ts'
import { MOONSHINE_EPSILON, type MoonshineConfig } from './config.ts'
import type { MoonshineAttention, MoonshineStageObserver } from './encoder.ts'

export interface MoonshineDecoderBlock {
  readonly norm1: Norm
  readonly self: MoonshineAttention
  readonly norm2: Norm
  readonly cross: MoonshineAttention
  readonly norm3: Norm
  readonly gate: Matrix
  readonly gateBias: BufferRef
  readonly value: Matrix
  readonly valueBias: BufferRef
  readonly down: Matrix
  readonly downBias: BufferRef
}

export interface MoonshineDecoderWeights {
  readonly embedding: Matrix
  readonly blocks: readonly MoonshineDecoderBlock[]
  readonly norm: Norm
  readonly output: Matrix
}

/** Most tokens of a pass: a draft of a sentence. */
export const MAX_PASS_TOKENS = 16

export interface MoonshinePass {
  readonly ids: Int32Array
  /** Of the first token; the cache holds all before it and has room for the rest. */
  readonly position: number
  readonly cache: KvCache
  readonly sound: { readonly cache: KvCache; readonly rows: number }
  /** `last`: logits of the last token. `all`: of every token. */
  readonly want: 'last' | 'all'
  readonly onStage?: MoonshineStageObserver | undefined
}

/** Sizes of the run state. */
export function moonshineDecoderPlan({ decoder, vocabSize }: MoonshineConfig) {
  const { dim, heads, headDim, hiddenDim } = decoder
  const wide = Math.max(dim, heads * headDim)
  return {
    ids: MAX_PASS_TOKENS * 4,
    x: MAX_PASS_TOKENS * dim * 4,
    norm: MAX_PASS_TOKENS * wide * 4,
    q: MAX_PASS_TOKENS * wide * 4,
    k: MAX_PASS_TOKENS * wide * 4,
    v: MAX_PASS_TOKENS * wide * 4,
    gate: MAX_PASS_TOKENS * hiddenDim * 4,
    value: MAX_PASS_TOKENS * hiddenDim * 4,
    logits: MAX_PASS_TOKENS * vocabSize * 4,
    quantized: quantizedByteLength(MAX_PASS_TOKENS, Math.max(wide, hiddenDim)),
  } satisfies WorkspacePlan<string>
}

export class MoonshineDecoder {
  /** Of the last pass. */
  readonly logits: BufferRef // f32 (tokens, vocabSize)
  readonly #backend: Backend
  readonly #config: MoonshineConfig
  readonly #weights: MoonshineDecoderWeights
  readonly #rope: RopeTable
  readonly #state: Record<keyof ReturnType<typeof moonshineDecoderPlan>, BufferRef>

  constructor(
    backend: Backend,
    config: MoonshineConfig,
    weights: MoonshineDecoderWeights,
    rope: RopeTable,
    workspace: Workspace,
  ) {
    this.#backend = backend
    this.#config = config
    this.#weights = weights
    this.#rope = rope
    this.#state = workspace.lay(moonshineDecoderPlan(config))
    this.logits = this.#state.logits
  }

  /** Enqueues the keys and values of what was encoded, f32 (rows, dim), to a cache with room for them. */
  listen(
    encoded: BufferRef,
    free: BufferRef,
    quantized: BufferRef,
    { cache, rows }: MoonshinePass['sound'],
  ): void {
    const input = createActivations(encoded, rows, this.#config.decoder.dim, quantized)
    for (const [index, { cross }] of this.#weights.blocks.entries()) {
      const place = cache.at(index, 0)
      linear(this.#backend, input, cross.k, free)
      this.#store(cache, free, place.k, place, rows)
      linear(this.#backend, input, cross.v, free)
      this.#store(cache, free, place.v, place, rows)
    }
  }

  /** Enqueues a pass over up to `MAX_PASS_TOKENS` tokens. */
  run({ ids, position, cache, sound, want, onStage }: MoonshinePass): void {
    const backend = this.#backend
    const { rotaryDim, decoder } = this.#config
    const { dim, heads, headDim, hiddenDim } = decoder
    const { embedding, blocks, norm: last, output } = this.#weights
    const { x, norm, q, k, v, gate, value, quantized, logits } = this.#state
    const rows = ids.length
    const table = this.#rope.rows(position, rows) // may enlarge it, which nothing enqueued uses yet
    const normalise = ({ weight, bias }: Norm, from = x, count = rows): void =>
      layerNorm(backend, { dim, epsilon: MOONSHINE_EPSILON }, from, { weight, bias }, norm, count)
    const read = (columns = dim) => createActivations(norm, rows, columns, quantized)
    backend.write(this.#state.ids, new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength))
    backend.enqueue('gatherRows', {
      ...{ type: embedding.type, matrix: embedding.data, ids: this.#state.ids, out: x },
      ...{ count: rows, columns: dim },
    })
    for (const [index, block] of blocks.entries()) {
      normalise(block.norm1)
      const input = read()
      linear(backend, input, block.self.q, q)
      linear(backend, input, block.self.k, k)
      linear(backend, input, block.self.v, v)
      for (const turned of [q, k]) {
        backend.enqueue('rope', { x: turned, table, rows, heads, headDim, rotaryDim, pairing: 1 })
      }
      const here = cache.at(index, position)
      this.#store(cache, k, here.k, here, rows)
      this.#store(cache, v, here.v, here, rows)
      this.#attend(cache, index, rows, position + rows, position)
      linear(backend, read(heads * headDim), block.self.o, x, { accumulate: true })

      normalise(block.norm2)
      linear(backend, read(), block.cross.q, q)
      this.#attend(sound.cache, index, rows, sound.rows)
      linear(backend, read(heads * headDim), block.cross.o, x, { accumulate: true })

      normalise(block.norm3)
      const gated = read()
      linear(backend, gated, block.gate, gate, { bias: block.gateBias })
      linear(backend, gated, block.value, value, { bias: block.valueBias })
      backend.enqueue('siluMul', { gate, up: value, out: gate, rows, columns: hiddenDim })
      const hidden = createActivations(gate, rows, hiddenDim, quantized)
      linear(backend, hidden, block.down, x, { bias: block.downBias, accumulate: true })
      onStage?.(`decoder.${index}`, x, rows, dim)
    }
    const count = want === 'all' ? rows : 1
    normalise(last, offset(x, (rows - count) * dim * 4), count)
    linear(backend, createActivations(norm, count, dim, quantized), output, logits)
  }

  #store({ type }: KvCache, x: BufferRef, out: BufferRef, { headStride }: CachePlace, rows: number): void {
    const { heads, headDim } = this.#config.decoder
    this.#backend.enqueue('storeRows', { type, x, out, rows, heads, headDim, headStride })
  }

  /** From `q` to `norm`. Causal where the first query's position is given. */
  #attend(cache: KvCache, index: number, queries: number, keys: number, firstPosition?: number): void {
    const { heads, headDim } = this.#config.decoder
    const { k, v, headStride } = cache.at(index, 0)
    this.#backend.enqueue('attention', {
      ...{ type: cache.type, q: this.#state.q, k, v, out: this.#state.norm, queries, keys },
      ...{ heads, kvHeads: heads, headDim, positionStride: 1, headStride, scale: 1 / Math.sqrt(headDim) },
      ...{ causal: firstPosition === undefined ? 0 : 1, firstPosition: firstPosition ?? 0 },
    })
  }
}
