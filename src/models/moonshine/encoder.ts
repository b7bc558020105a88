/** The forward passes of Moonshine's encoders, from samples to rows that the decoder attends to. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { ACTIVATIONS, quantizedByteLength } from '../../backend/ops.ts'
import { conv1d, convolutionPlan, convolvedRows } from '../blocks/conv1d.ts'
import { createActivations, linear, type Matrix } from '../blocks/matrix.ts'
import { type FeedForwardWeights, layerNorm, type Norm, runFeedForward } from '../blocks/pre-norm-block.ts'
import type { RopeTable } from '../blocks/rope-table.ts'
import type { Workspace, WorkspacePlan } from '../blocks/workspace.ts'
import { MOONSHINE_EPSILON, type MoonshineConfig } from './config.ts'
import { normalizeFrames } from './frames.ts'

export interface MoonshineAttention {
  readonly q: Matrix
  readonly k: Matrix
  readonly v: Matrix
  readonly o: Matrix
}

export interface MoonshineEncoderBlock extends MoonshineAttention, FeedForwardWeights {
  readonly ln1: Norm
}

export type MoonshineFront =
  | {
      readonly kind: 'convolutions'
      readonly conv1: Matrix
      readonly groupNorm: Norm
      readonly conv2: Matrix
      readonly conv2Bias: DeviceBuffer
      readonly conv3: Matrix
      readonly conv3Bias: DeviceBuffer
    }
  | {
      readonly kind: 'frames'
      /** e^log_k of the compression. */
      readonly slope: number
      readonly linear: Matrix
      readonly conv1: Matrix
      readonly conv1Bias: DeviceBuffer
      readonly conv2: Matrix
      readonly conv2Bias: DeviceBuffer
    }

export interface MoonshineEncoderWeights {
  readonly front: MoonshineFront
  readonly blocks: readonly MoonshineEncoderBlock[]
  readonly norm: Norm
  /** Streaming: added to the result, then a linear layer where the decoder has another width. */
  readonly positions: DeviceBuffer | undefined // f32 (positions, dim)
  readonly projection: Matrix | undefined // (decoder dim, dim)
}

/** Kernel and stride of the convolutions. */
const CONVOLUTIONS = [
  { kernel: 127, stride: 64 },
  { kernel: 7, stride: 3 },
  { kernel: 3, stride: 2 },
] as const
/** Streaming; padded before, so that nothing ahead is needed. */
const CAUSAL = { kernel: 5, stride: 2 }

/** Rows after each step of the front, the last one those that the decoder attends to. */
export function frontRows(
  { encoder: { front } }: MoonshineConfig,
  samples: number,
): [number, number, number] {
  if (front.kind === 'convolutions') {
    const rows = [samples]
    for (const { kernel, stride } of CONVOLUTIONS) {
      rows.push(convolvedRows({ rows: rows.at(-1) as number, channels: 1, kernel, stride }))
    }
    return rows.slice(1) as [number, number, number]
  }
  const frames = Math.floor(samples / front.frameSamples)
  const half = Math.ceil(frames / 2)
  return [frames, half, Math.ceil(half / 2)]
}

/** Sizes of the run state for `samples` samples. */
export function moonshineEncoderPlan(config: MoonshineConfig, samples: number) {
  const { dim, heads, headDim, hiddenDim, front } = config.encoder
  const [first, second, rows] = frontRows(config, samples)
  const wide = Math.max(dim, heads * headDim)
  const windows = Math.max(127, 7 * 2 * dim)
  return {
    samples: samples * 4,
    x: rows * dim * 4,
    norm: rows * wide * 4,
    q: rows * wide * 4,
    k: rows * wide * 4,
    v: rows * wide * 4,
    wide: rows * hiddenDim * 4,
    first: first * dim * 4, // (rows after the first step, dim)
    second: second * 2 * dim * 4, // (rows after the second, 2 dim)
    projected: front.kind === 'frames' ? rows * config.decoder.dim * 4 : 0,
    windows: convolutionPlan(windows).windows,
    quantized: Math.max(
      convolutionPlan(windows).quantized,
      quantizedByteLength(Math.max(rows, front.kind === 'frames' ? first : 0), Math.max(wide, hiddenDim)),
    ),
  } satisfies WorkspacePlan<string>
}

export type MoonshineStageObserver = (stage: string, place: BufferRef, rows: number, columns: number) => void

export class MoonshineEncoder {
  readonly #backend: Backend
  readonly #config: MoonshineConfig
  readonly #weights: MoonshineEncoderWeights
  readonly #rope: RopeTable
  readonly #state: Record<keyof ReturnType<typeof moonshineEncoderPlan>, BufferRef>

  /** @param samples Most samples of a run. */
  constructor(
    backend: Backend,
    config: MoonshineConfig,
    weights: MoonshineEncoderWeights,
    rope: RopeTable,
    workspace: Workspace,
    samples: number,
  ) {
    this.#backend = backend
    this.#config = config
    this.#weights = weights
    this.#rope = rope
    this.#state = workspace.lay(moonshineEncoderPlan(config, samples))
  }

  /**
   * Enqueues the pass over samples of 16 kHz. Returns where the result lies until the next run, f32 (rows, decoder dim),
   * with places of the same size and for quantised rows that are free until then.
   */
  run(
    samples: Float32Array,
    onStage?: MoonshineStageObserver,
  ): {
    readonly out: BufferRef
    readonly rows: number
    readonly free: BufferRef
    readonly quantized: BufferRef
  } {
    const backend = this.#backend
    const { encoder, decoder } = this.#config
    const { dim } = encoder
    const { front, blocks, norm: last, positions, projection } = this.#weights
    const { x, norm, q, quantized, projected } = this.#state
    const rows = frontRows(this.#config, samples.length)[2]
    if (front.kind === 'convolutions') this.#convolve(front, samples)
    else this.#embedFrames(front, samples)
    onStage?.('front', x, rows, dim)
    for (const [index, block] of blocks.entries()) {
      this.#runBlock(block, index, rows)
      onStage?.(`encoder.${index}`, x, rows, dim)
    }
    layerNorm(backend, { dim, epsilon: MOONSHINE_EPSILON }, x, last, norm, rows)
    onStage?.('encoder', norm, rows, dim)
    if (positions) backend.enqueue('addRows', { x: norm, y: positions, rows, columns: dim })
    if (!projection) return { out: norm, rows, free: q, quantized }
    linear(backend, createActivations(norm, rows, dim, quantized), projection, projected)
    return { out: projected, rows, free: encoder.dim >= decoder.dim ? q : this.#state.wide, quantized }
  }

  #convolve(front: Extract<MoonshineFront, { kind: 'convolutions' }>, samples: Float32Array): void {
    const backend = this.#backend
    const { dim } = this.#config.encoder
    const { x, first, second, windows, quantized } = this.#state
    const [firstRows, secondRows, rows] = frontRows(this.#config, samples.length)
    const [one, two, three] = CONVOLUTIONS
    const place = this.#state.samples
    backend.write(place, bytesOf(samples))
    conv1d(backend, {
      ...{ x: place, rows: samples.length, channels: 1, matrix: front.conv1, out: first },
      ...{ ...one, windows, quantized },
    })
    this.#activate(first, 'tanh', firstRows, dim)
    const { weight, bias } = front.groupNorm
    backend.enqueue('groupNorm', {
      ...{ x: first, weight, bias, out: first },
      ...{ rows: firstRows, columns: dim, groups: 1, epsilon: MOONSHINE_EPSILON },
    })
    conv1d(backend, {
      ...{
        x: first,
        rows: firstRows,
        channels: dim,
        matrix: front.conv2,
        bias: front.conv2Bias,
        out: second,
      },
      ...{ ...two, windows, quantized },
    })
    this.#activate(second, 'geluErf', secondRows, 2 * dim)
    conv1d(backend, {
      ...{
        x: second,
        rows: secondRows,
        channels: 2 * dim,
        matrix: front.conv3,
        bias: front.conv3Bias,
        out: x,
      },
      ...{ ...three, windows, quantized },
    })
    this.#activate(x, 'geluErf', rows, dim)
  }

  #embedFrames(front: Extract<MoonshineFront, { kind: 'frames' }>, samples: Float32Array): void {
    const backend = this.#backend
    const { dim, front: shape } = this.#config.encoder
    const { x, first, second, windows, quantized } = this.#state
    const [frames, half] = frontRows(this.#config, samples.length)
    const size = shape.kind === 'frames' ? shape.frameSamples : 0
    const place = this.#state.samples
    backend.write(place, bytesOf(normalizeFrames(samples, size, front.slope)))
    linear(backend, createActivations(place, frames, size, quantized), front.linear, first)
    this.#activate(first, 'silu', frames, dim)
    const causal = { ...CAUSAL, padding: CAUSAL.kernel - 1, paddingAfter: 0, windows, quantized }
    conv1d(backend, {
      ...{ x: first, rows: frames, channels: dim, matrix: front.conv1, bias: front.conv1Bias, out: second },
      ...causal,
    })
    this.#activate(second, 'silu', half, 2 * dim)
    conv1d(backend, {
      ...{ x: second, rows: half, channels: 2 * dim, matrix: front.conv2, bias: front.conv2Bias, out: x },
      ...causal,
    })
  }

  #runBlock(block: MoonshineEncoderBlock, index: number, rows: number): void {
    const backend = this.#backend
    const { rotaryDim } = this.#config
    const { dim, heads, headDim, hiddenDim, front } = this.#config.encoder
    const { x, norm, q, k, v, quantized } = this.#state
    const sizes = { dim, heads, hiddenDim, epsilon: MOONSHINE_EPSILON, activation: 'geluErf' } as const
    layerNorm(backend, sizes, x, block.ln1, norm, rows)
    const input = createActivations(norm, rows, dim, quantized)
    linear(backend, input, block.q, q)
    linear(backend, input, block.k, k)
    linear(backend, input, block.v, v)
    const scale = 1 / Math.sqrt(headDim)
    if (front.kind === 'convolutions') {
      const table = this.#rope.rows(0, rows)
      for (const turned of [q, k]) {
        backend.enqueue('rope', { x: turned, table, rows, heads, headDim, rotaryDim, pairing: 1 })
      }
      backend.enqueue('attention', {
        ...{ type: 'F32', q, k, v, out: norm, queries: rows, keys: rows, heads, kvHeads: heads, headDim },
        ...{ positionStride: heads, headStride: 1, scale, causal: 0, firstPosition: 0 },
      })
    } else {
      const [left, right] = front.windows[index] as readonly [number, number]
      backend.enqueue('localAttention', {
        ...{ q, k, v, relativeKeys: undefined, relativeValues: undefined, out: norm },
        ...{ rows, heads, headDim, scale, left, right, reach: 0 },
      })
    }
    const attended = createActivations(norm, rows, heads * headDim, quantized)
    linear(backend, attended, block.o, x, { accumulate: true })
    runFeedForward(backend, sizes, block, this.#state, rows)
  }

  #activate(x: BufferRef, kind: keyof typeof ACTIVATIONS, rows: number, columns: number): void {
    this.#backend.enqueue('activate', { x, kind: ACTIVATIONS[kind], rows, columns })
  }
}

function bytesOf(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}
