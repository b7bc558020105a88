/** The forward pass of a vision transformer on one frame: patches, position embeddings, blocks, optional norms. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { quantizedByteLength } from '../../backend/ops.ts'
import { createActivations, linear, type Matrix } from '../blocks/matrix.ts'
import { offset } from '../blocks/offset.ts'
import {
  layerNorm,
  type Norm,
  type PreNormBlock,
  preNormPlan,
  runPreNormBlock,
} from '../blocks/pre-norm-block.ts'
import type { Workspace, WorkspacePlan } from '../blocks/workspace.ts'
import { patchGrid, type VisionConfig } from '../model-config.ts'

export interface VisionWeights {
  readonly patchEmbedding: Matrix // (dim, 3 * patch * patch)
  readonly patchBias: DeviceBuffer | undefined // (dim)
  readonly classEmbedding: DeviceBuffer | undefined // (dim)
  readonly positions: DeviceBuffer // (tokens, dim)
  readonly preNorm: Norm | undefined
  readonly layers: readonly PreNormBlock[]
  readonly postNorm: Norm | undefined
}

/** Patches, and the class token where there is one. */
function tokenCount(config: VisionConfig): number {
  return patchGrid(config) ** 2 + (config.classToken ? 1 : 0)
}

/** Sizes of the run state for one frame. */
export function visionPlan(config: VisionConfig) {
  const { dim, patchSize, imageSize } = config
  const tokens = tokenCount(config)
  const blocks = preNormPlan(config, tokens)
  const patchColumns = 3 * patchSize * patchSize
  return {
    ...blocks,
    pixels: 3 * imageSize * imageSize * 4,
    wide: Math.max(blocks.wide, tokens * patchColumns * 4, tokens * dim * 4), // patches, then feed-forward activations
    quantized: Math.max(blocks.quantized, quantizedByteLength(tokens, patchColumns)),
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
    for (const block of this.#weights.layers)
      runPreNormBlock(this.#backend, this.config, block, this.#state, tokenCount(this.config))
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

  #layerNorm(x: BufferRef, norm: Norm, out: BufferRef): void {
    layerNorm(this.#backend, this.config, x, norm, out, tokenCount(this.config))
  }
}
