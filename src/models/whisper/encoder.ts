/** The forward pass of Whisper's encoder: two convolutions over a mel spectrogram, positions, blocks. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { ACTIVATIONS } from '../../backend/ops.ts'
import { conv1d, convolutionPlan } from '../blocks/conv1d.ts'
import type { Matrix } from '../blocks/matrix.ts'
import {
  type BlockSizes,
  layerNorm,
  type Norm,
  type PreNormBlock,
  preNormPlan,
  runPreNormBlock,
} from '../blocks/pre-norm-block.ts'
import type { Workspace, WorkspacePlan } from '../blocks/workspace.ts'
import { WHISPER_EPSILON, type WhisperConfig } from './config.ts'

export interface WhisperEncoderWeights {
  readonly conv1: Matrix // (dim, 3 * melBands)
  readonly conv1Bias: DeviceBuffer // (dim)
  readonly conv2: Matrix // (dim, 3 * dim)
  readonly conv2Bias: DeviceBuffer // (dim)
  readonly positions: DeviceBuffer // (positions, dim)
  readonly blocks: readonly PreNormBlock[]
  readonly norm: Norm
}

/** Frames of the spectrogram that become one position. */
export const FRAMES_PER_POSITION = 2
export const CONV_KERNEL = 3

export function encoderBlockSizes({ dim, encoder }: WhisperConfig): BlockSizes {
  return {
    dim,
    heads: encoder.heads,
    hiddenDim: encoder.hiddenDim,
    epsilon: WHISPER_EPSILON,
    activation: 'geluErf',
  }
}

/** Sizes of the run state of the convolutions, which give way to the blocks. `x` is first in both plans: the same place. */
function frontPlan({ dim, melBands }: WhisperConfig, positions: number) {
  const frames = positions * FRAMES_PER_POSITION
  return {
    x: positions * dim * 4, // (positions, dim)
    mel: frames * melBands * 4, // (frames, melBands)
    hidden: frames * dim * 4, // (frames, dim)
    ...convolutionPlan(CONV_KERNEL * Math.max(melBands, dim)),
  } satisfies WorkspacePlan<string>
}

/** Sizes of the run state for up to `positions` positions. */
export function whisperEncoderPlans(config: WhisperConfig, positions: number): WorkspacePlan<string>[] {
  return [frontPlan(config, positions), preNormPlan(encoderBlockSizes(config), positions)]
}

/** Sees the results of each stage: `conv`, then the residual stream after each block, then the result. */
export type StageObserver = (stage: string, rows: BufferRef) => void

export class WhisperEncoder {
  readonly #backend: Backend
  readonly #config: WhisperConfig
  readonly #weights: WhisperEncoderWeights
  readonly #front: Record<keyof ReturnType<typeof frontPlan>, BufferRef>
  readonly #state: Record<keyof ReturnType<typeof preNormPlan>, BufferRef>

  /** @param positions Most positions of a run. */
  constructor(
    backend: Backend,
    config: WhisperConfig,
    weights: WhisperEncoderWeights,
    workspace: Workspace,
    positions: number,
  ) {
    this.#backend = backend
    this.#config = config
    this.#weights = weights
    this.#front = workspace.lay(frontPlan(config, positions))
    this.#state = workspace.lay(preNormPlan(encoderBlockSizes(config), positions))
  }

  /**
   * Enqueues a spectrogram of (2 * positions, melBands). Returns where the result lies until the next run, f32
   * (positions, dim), with a place of the same size and one for quantised rows that are free until then.
   */
  run(
    mel: Float32Array,
    onStage?: StageObserver,
  ): { readonly out: BufferRef; readonly free: BufferRef; readonly quantized: BufferRef } {
    const config = this.#config
    const { x, norm, q, quantized } = this.#state
    const positions = mel.length / config.melBands / FRAMES_PER_POSITION
    this.#convolve(mel, positions)
    onStage?.('conv', x)
    const sizes = encoderBlockSizes(config)
    for (const [index, block] of this.#weights.blocks.entries()) {
      runPreNormBlock(this.#backend, sizes, block, this.#state, positions)
      onStage?.(`encoder.${index}`, x)
    }
    layerNorm(this.#backend, sizes, x, this.#weights.norm, norm, positions)
    onStage?.('encoder', norm)
    return { out: norm, free: q, quantized }
  }

  #convolve(values: Float32Array, positions: number): void {
    const backend = this.#backend
    const { dim, melBands } = this.#config
    const { conv1, conv1Bias, conv2, conv2Bias } = this.#weights
    const { mel, hidden, x, windows, quantized } = this.#front
    const frames = positions * FRAMES_PER_POSITION
    backend.write(mel, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    const shared = { kernel: CONV_KERNEL, padding: 1, windows, quantized }
    conv1d(backend, {
      ...shared,
      x: mel,
      rows: frames,
      channels: melBands,
      matrix: conv1,
      bias: conv1Bias,
      out: hidden,
    })
    backend.enqueue('activate', { x: hidden, kind: ACTIVATIONS.geluErf, rows: frames, columns: dim })
    conv1d(backend, {
      ...shared,
      x: hidden,
      rows: frames,
      channels: dim,
      matrix: conv2,
      bias: conv2Bias,
      stride: FRAMES_PER_POSITION,
      out: x,
    })
    backend.enqueue('activate', { x, kind: ACTIVATIONS.geluErf, rows: positions, columns: dim })
    backend.enqueue('addRows', { x, y: this.#weights.positions, rows: positions, columns: dim })
  }
}
