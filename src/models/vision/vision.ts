/** The forward pass of a vision transformer on one frame: patches, position embeddings, blocks, optional norms. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { ACTIVATIONS, quantizedByteLength } from '../../backend/ops.ts'
import { createActivations, linear, type Matrix } from '../blocks/matrix.ts'
import type { Workspace, WorkspacePlan } from '../blocks/workspace.ts'
import { patchGrid, type VisionConfig } from '../model-config.ts'

export interface Norm {
  readonly weight: DeviceBuffer // (dim)
  readonly bias: DeviceBuffer // (dim)
}

export interface VisionLayer {
  readonly ln1: Norm
  readonly attnQ: Matrix // (dim, dim), as attnK, attnV and attnOut
  readonly attnK: Matrix
  readonly attnV: Matrix
  readonly attnOut: Matrix
  readonly attnQBias: DeviceBuffer // (dim), as the next three
  readonly attnKBias: DeviceBuffer
  readonly attnVBias: DeviceBuffer
  readonly attnOutBias: DeviceBuffer
  readonly ln2: Norm
  readonly ffnUp: Matrix // (hiddenDim, dim)
  readonly ffnUpBias: DeviceBuffer // (hiddenDim)
  readonly ffnDown: Matrix // (dim, hiddenDim)
  readonly ffnDownBias: DeviceBuffer // (dim)
}

export interface VisionWeights {
  readonly patchEmbedding: Matrix // (dim, 3 * patch * patch)
  readonly patchBias: DeviceBuffer | undefined // (dim)
  readonly classEmbedding: DeviceBuffer | undefined // (dim)
  readonly positions: DeviceBuffer // (tokens, dim)
  readonly preNorm: Norm | undefined
  readonly layers: readonly VisionLayer[]
  readonly postNorm: Norm | undefined
}

/** Rows of the feed-forward layer computed at a time, so that its wide activations stay small. */
const FEED_FORWARD_ROWS = 256

/** Patches, and the class token where there is one. */
function tokenCount(config: VisionConfig): number {
  return patchGrid(config) ** 2 + (config.classToken ? 1 : 0)
}

/** Sizes of the run state for one frame. */
export function visionPlan(config: VisionConfig) {
  const { dim, hiddenDim, patchSize, imageSize } = config
  const tokens = tokenCount(config)
  const rows = Math.min(tokens, FEED_FORWARD_ROWS)
  const wide = Math.max(tokens * dim, rows * hiddenDim, tokens * 3 * patchSize * patchSize)
  return {
    pixels: 3 * imageSize * imageSize * 4,
    x: tokens * dim * 4, // residual stream (tokens, dim)
    norm: tokens * dim * 4, // also the attention's result
    q: tokens * dim * 4,
    k: tokens * dim * 4,
    v: tokens * dim * 4,
    wide: wide * 4, // patches, then feed-forward activations
    quantized: Math.max(
      quantizedByteLength(tokens, Math.max(dim, 3 * patchSize * patchSize)),
      quantizedByteLength(rows, hiddenDim),
    ),
  } satisfies WorkspacePlan<string>
}

export class VisionTower {
  readonly config: VisionConfig
  readonly #backend: Backend
  readonly #weights: VisionWeights
  readonly #state: Record<keyof ReturnType<typeof visionPlan>, BufferRef>

  constructor(backend: Backend, config: VisionConfig, weights: VisionWeights, workspace: Workspace) {
    this.config = config
    this.#backend = backend
    this.#weights = weights
    this.#state = workspace.lay(visionPlan(config))
  }

  /**
   * Enqueues one frame. `pixels` is (3, imageSize, imageSize), normalised. Returns where the projector's input lies
   * until the next run: f32 (patches, dim), class token dropped.
   */
  run(pixels: Float32Array): BufferRef {
    const { dim, classToken } = this.config
    const { x } = this.#state
    this.#embed(pixels)
    if (this.#weights.preNorm) this.#layerNorm(x, this.#weights.preNorm, x)
    for (const layer of this.#weights.layers) {
      this.#attend(layer)
      this.#feedForward(layer)
    }
    if (this.#weights.postNorm) this.#layerNorm(x, this.#weights.postNorm, x)
    return classToken ? offset(x, dim * 4) : x
  }

  #embed(pixels: Float32Array): void {
    const backend = this.#backend
    const { dim, imageSize, patchSize, classToken } = this.config
    const { patchEmbedding, patchBias, classEmbedding, positions } = this.#weights
    const { pixels: frame, x, wide, quantized } = this.#state
    const grid = patchGrid(this.config)
    backend.write(frame, new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength))
    backend.enqueue('extractPatches', {
      pixels: frame,
      out: wide,
      channels: 3,
      height: imageSize,
      width: imageSize,
      patch: patchSize,
      patchRows: grid,
    })
    const patches = createActivations(wide, grid * grid, 3 * patchSize * patchSize, quantized)
    linear(backend, patches, patchEmbedding, classToken ? offset(x, dim * 4) : x, { bias: patchBias })
    if (classEmbedding) backend.enqueue('copyRows', { source: classEmbedding, out: x, rows: 1, columns: dim })
    backend.enqueue('addRows', { x, y: positions, rows: tokenCount(this.config), columns: dim })
  }

  #attend(layer: VisionLayer): void {
    const backend = this.#backend
    const { dim, heads } = this.config
    const { x, norm, q, k, v, quantized } = this.#state
    const rows = tokenCount(this.config)
    this.#layerNorm(x, layer.ln1, norm)
    const input = createActivations(norm, rows, dim, quantized)
    linear(backend, input, layer.attnQ, q, { bias: layer.attnQBias })
    linear(backend, input, layer.attnK, k, { bias: layer.attnKBias })
    linear(backend, input, layer.attnV, v, { bias: layer.attnVBias })
    const headDim = dim / heads
    backend.enqueue('attention', {
      type: 'F32',
      q,
      k,
      v,
      out: norm,
      queries: rows,
      keys: rows,
      heads,
      kvHeads: heads,
      headDim,
      positionStride: heads,
      headStride: 1,
      scale: 1 / Math.sqrt(headDim),
      causal: 0,
      firstPosition: 0,
    })
    const attended = createActivations(norm, rows, dim, quantized)
    linear(backend, attended, layer.attnOut, x, { bias: layer.attnOutBias, accumulate: true })
  }

  #feedForward(layer: VisionLayer): void {
    const backend = this.#backend
    const { dim, hiddenDim, activation } = this.config
    const { x, norm, wide, quantized } = this.#state
    const tokens = tokenCount(this.config)
    this.#layerNorm(x, layer.ln2, norm)
    for (let first = 0; first < tokens; first += FEED_FORWARD_ROWS) {
      const rows = Math.min(FEED_FORWARD_ROWS, tokens - first)
      const input = createActivations(offset(norm, first * dim * 4), rows, dim, quantized)
      linear(backend, input, layer.ffnUp, wide, { bias: layer.ffnUpBias })
      backend.enqueue('activate', { x: wide, kind: ACTIVATIONS[activation], rows, columns: hiddenDim })
      const hidden = createActivations(wide, rows, hiddenDim, quantized)
      linear(backend, hidden, layer.ffnDown, offset(x, first * dim * 4), {
        bias: layer.ffnDownBias,
        accumulate: true,
      })
    }
  }

  #layerNorm(x: BufferRef, { weight, bias }: Norm, out: BufferRef): void {
    const { dim, epsilon } = this.config
    this.#backend.enqueue('layerNorm', {
      x,
      weight,
      bias,
      out,
      rows: tokenCount(this.config),
      columns: dim,
      epsilon,
    })
  }
}

function offset(ref: BufferRef, byteLength: number): BufferRef {
  return { buffer: ref.buffer, byteOffset: ref.byteOffset + byteLength }
}
