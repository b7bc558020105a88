/**
 * Transformer blocks with LayerNorm before each part, as vision towers and speech encoders have them: attention of all
 * rows to all rows, then two linear layers with an activation between.
 */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { ACTIVATIONS, type Activation, quantizedByteLength } from '../../backend/ops.ts'
import { createActivations, linear, type Matrix } from './matrix.ts'
import { offset } from './offset.ts'
import { slices } from './slices.ts'
import type { WorkspacePlan } from './workspace.ts'

export interface Norm {
  readonly weight: DeviceBuffer // (dim)
  readonly bias: DeviceBuffer // (dim)
}

export interface AttentionWeights {
  readonly attnQ: Matrix // (dim, dim), as attnK, attnV and attnOut
  readonly attnK: Matrix
  readonly attnV: Matrix
  readonly attnOut: Matrix
  readonly attnQBias: DeviceBuffer // (dim), as the next three
  readonly attnKBias: DeviceBuffer | undefined
  readonly attnVBias: DeviceBuffer
  readonly attnOutBias: DeviceBuffer
}

export interface FeedForwardWeights {
  readonly ln2: Norm
  readonly ffnUp: Matrix // (hiddenDim, dim)
  readonly ffnUpBias: DeviceBuffer // (hiddenDim)
  readonly ffnDown: Matrix // (dim, hiddenDim)
  readonly ffnDownBias: DeviceBuffer // (dim)
}

export interface PreNormBlock extends AttentionWeights, FeedForwardWeights {
  readonly ln1: Norm
}

export interface BlockSizes {
  readonly dim: number
  readonly heads: number
  readonly hiddenDim: number
  /** Of LayerNorm. */
  readonly epsilon: number
  readonly activation: Activation
}

/** Rows of the feed-forward layer computed at a time, so that its wide activations stay small. */
const FEED_FORWARD_ROWS = 256

/** Sizes of the run state for passes of `rows` rows. */
export function preNormPlan({ dim, hiddenDim }: BlockSizes, rows: number) {
  const wideRows = Math.min(rows, FEED_FORWARD_ROWS)
  return {
    x: rows * dim * 4, // residual stream (rows, dim)
    norm: rows * dim * 4, // also the attention's result
    q: rows * dim * 4,
    k: rows * dim * 4,
    v: rows * dim * 4,
    wide: wideRows * hiddenDim * 4,
    quantized: Math.max(quantizedByteLength(rows, dim), quantizedByteLength(wideRows, hiddenDim)),
  } satisfies WorkspacePlan<string>
}

export type PreNormState = Readonly<Record<keyof ReturnType<typeof preNormPlan>, BufferRef>>

/** Enqueues one block over the rows of `state.x`. */
export function runPreNormBlock(
  backend: Backend,
  sizes: BlockSizes,
  block: PreNormBlock,
  state: PreNormState,
  rows: number,
): void {
  const { dim, heads } = sizes
  const { x, norm, q, k, v, quantized } = state
  layerNorm(backend, sizes, x, block.ln1, norm, rows)
  const input = createActivations(norm, rows, dim, quantized)
  linear(backend, input, block.attnQ, q, { bias: block.attnQBias })
  linear(backend, input, block.attnK, k, { bias: block.attnKBias })
  linear(backend, input, block.attnV, v, { bias: block.attnVBias })
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
  linear(backend, attended, block.attnOut, x, { bias: block.attnOutBias, accumulate: true })
  runFeedForward(backend, sizes, block, state, rows)
}

/** Enqueues the second part of a block, which adds to `state.x`. */
export function runFeedForward(
  backend: Backend,
  sizes: BlockSizes,
  block: FeedForwardWeights,
  state: Pick<PreNormState, 'x' | 'norm' | 'wide' | 'quantized'>,
  rows: number,
): void {
  const { dim, hiddenDim, activation } = sizes
  const { x, norm, wide, quantized } = state
  layerNorm(backend, sizes, x, block.ln2, norm, rows)
  for (let first = 0; first < rows; first += FEED_FORWARD_ROWS) {
    const count = Math.min(FEED_FORWARD_ROWS, rows - first)
    const input = createActivations(offset(norm, first * dim * 4), count, dim, quantized)
    linear(backend, input, block.ffnUp, wide, { bias: block.ffnUpBias })
    backend.enqueue('activate', { x: wide, kind: ACTIVATIONS[activation], ...slices(count, hiddenDim) })
    const hidden = createActivations(wide, count, hiddenDim, quantized)
    linear(backend, hidden, block.ffnDown, offset(x, first * dim * 4), {
      bias: block.ffnDownBias,
      accumulate: true,
    })
  }
}

/** Enqueues LayerNorm of `rows` rows; `out` may be `x`. */
export function layerNorm(
  backend: Backend,
  { dim, epsilon }: Pick<BlockSizes, 'dim' | 'epsilon'>,
  x: BufferRef,
  { weight, bias }: Norm,
  out: BufferRef,
  rows: number,
): void {
  backend.enqueue('layerNorm', { x, weight, bias, out, rows, columns: dim, epsilon })
}
