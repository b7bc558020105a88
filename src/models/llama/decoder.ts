/**
 * The forward pass of a Llama-shaped decoder. Config, weights and run state are three objects; everything is enqueued,
 * nothing here waits.
 */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { quantizedByteLength } from '../../backend/ops.ts'
import type { KvCache } from '../blocks/kv-cache.ts'
import { createActivations, linear, type Matrix } from '../blocks/matrix.ts'
import { offset } from '../blocks/offset.ts'
import { RopeTable } from '../blocks/rope-table.ts'
import { slices } from '../blocks/slices.ts'
import type { Workspace, WorkspacePlan } from '../blocks/workspace.ts'
import type { DecoderConfig } from '../model-config.ts'

/** Most tokens of a pass whose logits are all kept here, as for checking guesses: kernels unpack weights once for so many. */
export const MAX_STEP_TOKENS = 8

export interface DecoderLayer {
  readonly attnNorm: DeviceBuffer // (dim)
  readonly attnQ: Matrix // (heads * headDim, dim)
  readonly attnK: Matrix // (kvHeads * headDim, dim)
  readonly attnV: Matrix // (kvHeads * headDim, dim)
  readonly attnOutput: Matrix // (dim, heads * headDim)
  readonly attnQBias: DeviceBuffer | undefined // (heads * headDim)
  readonly attnKBias: DeviceBuffer | undefined // (kvHeads * headDim)
  readonly attnVBias: DeviceBuffer | undefined // (kvHeads * headDim)
  readonly attnOutputBias: DeviceBuffer | undefined // (dim)
  readonly attnQNorm: DeviceBuffer | undefined // (headDim)
  readonly attnKNorm: DeviceBuffer | undefined // (headDim)
  readonly ffnNorm: DeviceBuffer // (dim)
  readonly ffnGate: Matrix // (hiddenDim, dim)
  readonly ffnUp: Matrix // (hiddenDim, dim)
  readonly ffnDown: Matrix // (dim, hiddenDim)
  readonly ffnGateBias: DeviceBuffer | undefined // (hiddenDim)
  readonly ffnUpBias: DeviceBuffer | undefined // (hiddenDim)
  readonly ffnDownBias: DeviceBuffer | undefined // (dim)
}

export interface DecoderWeights {
  readonly tokenEmbedding: Matrix // (vocabSize, dim)
  readonly layers: readonly DecoderLayer[]
  readonly outputNorm: DeviceBuffer // (dim)
  readonly output: Matrix // (vocabSize, dim)
}

/** Rows that replace token embeddings, such as the features of a picture. */
export interface EmbeddingRows {
  /** First token, counted from the start of the pass. */
  readonly at: number
  readonly rows: number
  readonly source: BufferRef // f32 (rows, dim)
}

export interface DecoderPass {
  readonly ids: Int32Array
  readonly replacements: readonly EmbeddingRows[]
  /** Position of the first token; the cache holds all before it and has room for the rest. */
  readonly position: number
  readonly cache: KvCache
  /** `last`: logits of the last token only. `all`: of every token. `hidden`: none, all layers for `onHidden`. */
  readonly want: 'none' | 'last' | 'all' | 'hidden'
  /** Where logits go; default the decoder's own rows, which are enough for passes of `MAX_STEP_TOKENS` tokens. */
  readonly logits?: BufferRef // f32 (rows, vocabSize)
  /** Sees the residual stream before each layer and, after the last one, behind the final norm (when `want` is `all` or `hidden`). */
  readonly onHidden?: (index: number, hidden: BufferRef) => void
}

/** Sizes of the run state for passes of `tokens` tokens. */
export function decoderPlan(config: DecoderConfig, tokens: number) {
  const { dim, heads, kvHeads, headDim, hiddenDim } = config
  return {
    ids: tokens * 4,
    x: tokens * dim * 4, // residual stream (tokens, dim)
    norm: tokens * dim * 4, // (tokens, dim)
    q: tokens * heads * headDim * 4,
    k: tokens * kvHeads * headDim * 4,
    v: tokens * kvHeads * headDim * 4,
    attention: tokens * heads * headDim * 4,
    gate: tokens * hiddenDim * 4,
    up: tokens * hiddenDim * 4,
    quantized: quantizedByteLength(tokens, Math.max(dim, heads * headDim, hiddenDim)),
  } satisfies WorkspacePlan<string>
}

/** Bytes of the logits that a decoder keeps, beside its run state. */
export function logitsByteLength({ vocabSize }: DecoderConfig): number {
  return MAX_STEP_TOKENS * vocabSize * 4
}

interface StepKeys {
  readonly ropeCapacity: number
  readonly byTokens: Map<number, object>
}

export class Decoder {
  readonly config: DecoderConfig
  /** Most tokens of one pass. */
  readonly maxTokens: number
  /** Logits of the last token of a pass, or of all tokens of a short one. */
  readonly logits: DeviceBuffer // f32 (MAX_STEP_TOKENS, vocabSize)
  readonly #backend: Backend
  readonly #weights: DecoderWeights
  readonly #rope: RopeTable
  readonly #state: Record<keyof ReturnType<typeof decoderPlan>, BufferRef>
  readonly #stepKeys = new WeakMap<object, StepKeys>()

  constructor(
    backend: Backend,
    config: DecoderConfig,
    weights: DecoderWeights,
    workspace: Workspace,
    maxTokens: number,
  ) {
    this.config = config
    this.maxTokens = maxTokens
    this.#backend = backend
    this.#weights = weights
    this.#rope = new RopeTable(backend, config.ropeFrequencies)
    this.#state = workspace.lay(decoderPlan(config, maxTokens))
    this.logits = backend.alloc(logitsByteLength(config))
  }

  /** Enqueues a pass over up to `maxTokens` tokens. */
  run(pass: DecoderPass): void {
    const { ids, position, cache } = pass
    this.#backend.write(this.#state.ids, new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength))
    this.#rope.rows(position, ids.length) // may enlarge the table, which nothing enqueued uses yet
    if (!isStep(pass)) {
      this.#enqueue(pass)
      return
    }
    const limit = Math.min(cache.capacity, this.#rope.capacity) - ids.length + 1
    this.#backend.repeat(this.#stepKey(cache, ids.length), position, limit, (at) =>
      this.#enqueue({ ...pass, position: at }),
    )
  }

  /** One object for each cache, size of the table and number of tokens: such steps differ in their position only. */
  #stepKey(cache: KvCache, tokens: number): object {
    let keys = this.#stepKeys.get(cache.layout)
    if (keys?.ropeCapacity !== this.#rope.capacity) {
      keys = { ropeCapacity: this.#rope.capacity, byTokens: new Map() }
      this.#stepKeys.set(cache.layout, keys)
    }
    let key = keys.byTokens.get(tokens)
    if (!key) {
      key = {}
      keys.byTokens.set(tokens, key)
    }
    return key
  }

  #enqueue(pass: DecoderPass): void {
    const { x } = this.#state
    const rows = pass.ids.length
    this.#embed(pass)
    const angles = this.#rope.rows(pass.position, rows)
    for (const [index, layer] of this.#weights.layers.entries()) {
      pass.onHidden?.(index, x)
      this.#attend(layer, index, pass, angles)
      this.#feedForward(layer, rows)
    }
    if (pass.want !== 'none') this.#predict(pass)
  }

  #embed({ ids, replacements }: DecoderPass): void {
    const { dim } = this.config
    const state = this.#state
    const { tokenEmbedding } = this.#weights
    this.#backend.enqueue('gatherRows', {
      type: tokenEmbedding.type,
      matrix: tokenEmbedding.data,
      ids: state.ids,
      out: state.x,
      count: ids.length,
      columns: dim,
    })
    for (const { at, rows, source } of replacements) {
      this.#backend.enqueue('copyRows', { source, out: offset(state.x, at * dim * 4), rows, columns: dim })
    }
  }

  #attend(
    layer: DecoderLayer,
    index: number,
    { ids, position, cache }: DecoderPass,
    angles: BufferRef,
  ): void {
    const backend = this.#backend
    const { dim, heads, kvHeads, headDim, ropePairing } = this.config
    const { x, norm, q, k, v, attention, quantized } = this.#state
    const rows = ids.length
    this.#rmsNorm(x, layer.attnNorm, norm, rows, dim)
    const input = createActivations(norm, rows, dim, quantized)
    linear(backend, input, layer.attnQ, q, { bias: layer.attnQBias })
    linear(backend, input, layer.attnK, k, { bias: layer.attnKBias })
    linear(backend, input, layer.attnV, v, { bias: layer.attnVBias })
    if (layer.attnQNorm) this.#rmsNorm(q, layer.attnQNorm, q, rows * heads, headDim)
    if (layer.attnKNorm) this.#rmsNorm(k, layer.attnKNorm, k, rows * kvHeads, headDim)
    const pairing = ropePairing === 'half' ? 0 : 1
    backend.enqueue('rope', { x: q, table: angles, rows, heads, headDim, rotaryDim: headDim, pairing })
    backend.enqueue('rope', {
      x: k,
      table: angles,
      rows,
      heads: kvHeads,
      headDim,
      rotaryDim: headDim,
      pairing,
    })
    const here = cache.at(index, position)
    const { headStride } = here
    const { type } = cache
    const stored = { type, rows, heads: kvHeads, headDim, headStride }
    backend.enqueue('storeRows', { ...stored, x: k, out: here.k })
    backend.enqueue('storeRows', { ...stored, x: v, out: here.v })
    const all = cache.at(index, 0)
    backend.enqueue('attention', {
      type,
      q,
      k: all.k,
      v: all.v,
      out: attention,
      queries: rows,
      keys: position + rows,
      heads,
      kvHeads,
      headDim,
      positionStride: 1,
      headStride,
      scale: 1 / Math.sqrt(headDim),
      causal: 1,
      firstPosition: position,
    })
    const attended = createActivations(attention, rows, heads * headDim, quantized)
    linear(backend, attended, layer.attnOutput, x, { bias: layer.attnOutputBias, accumulate: true })
  }

  #feedForward(layer: DecoderLayer, rows: number): void {
    const backend = this.#backend
    const { dim, hiddenDim } = this.config
    const { x, norm, gate, up, quantized } = this.#state
    this.#rmsNorm(x, layer.ffnNorm, norm, rows, dim)
    const input = createActivations(norm, rows, dim, quantized)
    linear(backend, input, layer.ffnGate, gate, { bias: layer.ffnGateBias })
    linear(backend, input, layer.ffnUp, up, { bias: layer.ffnUpBias })
    backend.enqueue('siluMul', { gate, up, out: gate, ...slices(rows, hiddenDim) })
    const hidden = createActivations(gate, rows, hiddenDim, quantized)
    linear(backend, hidden, layer.ffnDown, x, { bias: layer.ffnDownBias, accumulate: true })
  }

  #predict(pass: DecoderPass): void {
    const { dim, layers } = this.config
    const { x, norm, quantized } = this.#state
    const all = pass.want !== 'last'
    const rows = all ? pass.ids.length : 1
    const from = all ? x : offset(x, (pass.ids.length - 1) * dim * 4)
    this.#rmsNorm(from, this.#weights.outputNorm, norm, rows, dim)
    if (all) pass.onHidden?.(layers, norm)
    if (pass.want === 'hidden') return
    linear(
      this.#backend,
      createActivations(norm, rows, dim, quantized),
      this.#weights.output,
      pass.logits ?? this.logits,
    )
  }

  #rmsNorm(x: BufferRef, weight: DeviceBuffer, out: BufferRef, rows: number, columns: number): void {
    this.#backend.enqueue('rmsNorm', { x, weight, out, rows, columns, epsilon: this.config.epsilon })
  }

  dispose(): void {
    this.#rope.dispose()
    this.#backend.free(this.logits)
  }
}

/** A step that answers are made of: one or a few tokens, their logits, nothing else. */
function isStep({ ids, replacements, want, logits, onHidden }: DecoderPass): boolean {
  if (replacements.length > 0 || logits || onHidden) return false
  return want === 'last' ? ids.length === 1 : want === 'all' && ids.length <= MAX_STEP_TOKENS
}
