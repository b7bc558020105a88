/** From a vision tower's patches to rows in the decoder's embedding space. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { ACTIVATIONS, quantizedByteLength } from '../../backend/ops.ts'
import { createActivations, linear, type Matrix } from '../blocks/matrix.ts'
import type { WorkspacePlan } from '../blocks/workspace.ts'
import { type ProjectorConfig, patchGrid, tokensPerFrame, type VisionConfig } from '../model-config.ts'

/** Idefics3 has one matrix; LLaVA two with biases and an activation between them. */
export interface ProjectorWeights {
  readonly first: Matrix
  readonly firstBias: DeviceBuffer | undefined
  readonly second: Matrix | undefined
  readonly secondBias: DeviceBuffer | undefined
}

/** Sizes of the run state; laid beside the tower's own, whose output it reads. */
export function projectorPlan(vision: VisionConfig, projector: ProjectorConfig) {
  const tokens = tokensPerFrame(vision, projector)
  const inner =
    projector.kind === 'pixel-shuffle'
      ? vision.dim * projector.factor ** 2
      : Math.max(projector.hiddenDim, vision.dim)
  return {
    inner: tokens * inner * 4,
    quantizedInner: quantizedByteLength(tokens, inner),
  } satisfies WorkspacePlan<string>
}

export class Projector {
  readonly #backend: Backend
  readonly #vision: VisionConfig
  readonly #config: ProjectorConfig
  readonly #weights: ProjectorWeights
  readonly #state: Record<keyof ReturnType<typeof projectorPlan>, BufferRef>

  constructor(
    backend: Backend,
    vision: VisionConfig,
    config: ProjectorConfig,
    weights: ProjectorWeights,
    state: Record<keyof ReturnType<typeof projectorPlan>, BufferRef>,
  ) {
    this.#backend = backend
    this.#vision = vision
    this.#config = config
    this.#weights = weights
    this.#state = state
  }

  /** Enqueues one frame: `patches` (patches, vision dim) to `out` (tokens per frame, decoder dim). */
  run(patches: BufferRef, out: BufferRef): void {
    const tokens = tokensPerFrame(this.#vision, this.#config)
    if (this.#config.kind === 'pixel-shuffle') this.#shuffle(patches, out, tokens, this.#config.factor)
    else this.#perceive(patches, out, tokens, this.#config)
  }

  #shuffle(patches: BufferRef, out: BufferRef, tokens: number, factor: number): void {
    const { inner, quantizedInner } = this.#state
    const grid = patchGrid(this.#vision)
    const { dim } = this.#vision
    this.#backend.enqueue('pixelShuffle', {
      x: patches,
      out: inner,
      gridRows: grid,
      gridColumns: grid,
      columns: dim,
      factor,
    })
    const input = createActivations(inner, tokens, dim * factor * factor, quantizedInner)
    linear(this.#backend, input, this.#weights.first, out, { bias: this.#weights.firstBias })
  }

  #perceive(
    patches: BufferRef,
    out: BufferRef,
    tokens: number,
    config: ProjectorConfig & { kind: 'mlp' },
  ): void {
    const { inner, quantizedInner } = this.#state
    const { first, firstBias, second, secondBias } = this.#weights
    linear(
      this.#backend,
      createActivations(patches, tokens, this.#vision.dim, quantizedInner),
      first,
      inner,
      { bias: firstBias },
    )
    const kind = ACTIVATIONS[config.activation]
    this.#backend.enqueue('activate', { x: inner, kind, rows: tokens, columns: config.hiddenDim })
    const hidden = createActivations(inner, tokens, config.hiddenDim, quantizedInner)
    if (second) linear(this.#backend, hidden, second, out, { bias: secondBias })
  }
}
