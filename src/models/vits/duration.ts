/** How long each symbol sounds: drawn from a flow, or predicted. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { ACTIVATIONS } from '../../backend/ops.ts'
import { addTo, conditionOf } from './conditioning.ts'
import type { DurationConfig, VitsConfig } from './config.ts'
import { type Convolution, convolve, type Scratch } from './convolution.ts'
import { invertSpline } from './spline.ts'
import type { WeightSource } from './weight-source.ts'
import { INVERSE_SCALE } from './weights.ts'

interface Norm {
  readonly weight: DeviceBuffer
  readonly bias: DeviceBuffer
}

/** Dilated depthwise convolutions, each with a mixing of channels after it. */
interface SeparableStack {
  readonly layers: readonly {
    readonly weight: DeviceBuffer // f32 (kernel, dim)
    readonly bias: DeviceBuffer
    readonly dilation: number
    readonly norm1: Norm
    readonly mix: Convolution
    readonly norm2: Norm
  }[]
  readonly kernel: number
}

export type DurationWeights =
  | {
      readonly kind: 'stochastic'
      readonly pre: Convolution
      readonly stack: SeparableStack
      readonly proj: Convolution
      /** In the order in which they run backwards. */
      readonly flows: readonly {
        readonly pre: Convolution
        readonly stack: SeparableStack
        readonly proj: Convolution
      }[]
      readonly shift: readonly number[] // (2)
      readonly inverseScale: readonly number[] // (2)
    }
  | {
      readonly kind: 'plain'
      /** Added to the text before, where the voice has speakers. */
      readonly condition: DeviceBuffer | undefined // f32 (dim)
      readonly conv1: Convolution
      readonly norm1: Norm
      readonly conv2: Convolution
      readonly norm2: Norm
      readonly proj: Convolution
    }

/** LayerNorm of PyTorch, whatever the text encoder's is. */
const EPSILON = 1e-5

/** @param speaker Embedding of who speaks; empty for voices of one speaker. */
export async function loadDuration(
  source: WeightSource,
  { dim, duration, speakerDim }: VitsConfig,
  speaker: Float32Array,
): Promise<DurationWeights> {
  const condition = speakerDim > 0 ? await conditionOf(source, 'dp.cond', dim, speaker) : undefined
  const loadNorm = async (name: string, width: number): Promise<Norm> => ({
    weight: await source.vector(`${name}.gamma`, width),
    bias: await source.vector(`${name}.beta`, width),
  })
  if (duration.kind === 'plain') {
    const { kernel, hiddenDim } = duration
    return {
      kind: 'plain',
      condition: condition && source.put(condition),
      conv1: await source.convolution('dp.conv_1', { inputs: dim, outputs: hiddenDim, kernel }),
      norm1: await loadNorm('dp.norm_1', hiddenDim),
      conv2: await source.convolution('dp.conv_2', { inputs: hiddenDim, outputs: hiddenDim, kernel }),
      norm2: await loadNorm('dp.norm_2', hiddenDim),
      proj: await source.convolution('dp.proj', { inputs: hiddenDim, outputs: 1 }),
    }
  }
  const { kernel, layers, flows, bins } = duration
  const loadStack = async (name: string): Promise<SeparableStack> => ({
    kernel,
    layers: await inOrder(layers, async (index) => ({
      weight: source.put(
        transpose(await source.floats(`${name}.convs_sep.${index}.weight`, dim, kernel), dim),
      ),
      bias: await source.vector(`${name}.convs_sep.${index}.bias`, dim),
      dilation: kernel ** index,
      norm1: await loadNorm(`${name}.norms_1.${index}`, dim),
      mix: await source.convolution(`${name}.convs_1x1.${index}`, { inputs: dim, outputs: dim }),
      norm2: await loadNorm(`${name}.norms_2.${index}`, dim),
    })),
  })
  const square = { inputs: dim, outputs: dim }
  const inverseScale = source.has(INVERSE_SCALE)
    ? await source.floats(INVERSE_SCALE, 2)
    : (await source.floats('dp.flows.0.logs', 2)).map((value) => Math.exp(-value))
  return {
    kind: 'stochastic',
    pre: await source.convolution('dp.pre', {
      ...square,
      ...(condition && { adjust: (_: Float32Array, bias: Float32Array) => addTo(bias, condition) }),
    }),
    stack: await loadStack('dp.convs'),
    proj: await source.convolution('dp.proj', square),
    flows: await inOrder(flows, async (index) => {
      const name = `dp.flows.${2 * (flows - index) + 1}`
      return {
        pre: await source.convolution(`${name}.pre`, { inputs: 1, outputs: dim }),
        stack: await loadStack(`${name}.convs`),
        proj: await source.convolution(`${name}.proj`, { inputs: dim, outputs: 3 * bins - 1 }),
      }
    }),
    shift: [...(await source.floats('dp.flows.0.m', 2))],
    inverseScale: [...inverseScale],
  }
}

type Temporary = (floats: number) => DeviceBuffer

export interface DurationRun {
  readonly backend: Backend
  readonly config: VitsConfig
  readonly weights: DurationWeights
  readonly hidden: BufferRef // f32 (rows, dim), left as it is
  readonly rows: number
  /** Normal noise times its scale, (rows, 2). */
  readonly noise: Float32Array
  readonly scratch: Scratch
  readonly temporary: Temporary
  readonly signal: AbortSignal | undefined
}

/** Natural logarithms of the durations in frames, one for each symbol. */
export function predictDurations(run: DurationRun): Promise<Float32Array> {
  const { weights, config } = run
  return weights.kind === 'plain'
    ? predictPlain(run, weights, config.duration as Extract<DurationConfig, { kind: 'plain' }>)
    : drawFromFlow(run, weights, config.duration as Extract<DurationConfig, { kind: 'stochastic' }>)
}

async function predictPlain(
  { backend, config: { dim }, hidden, rows, scratch, temporary, signal }: DurationRun,
  weights: Extract<DurationWeights, { kind: 'plain' }>,
  { hiddenDim }: Extract<DurationConfig, { kind: 'plain' }>,
): Promise<Float32Array> {
  const text = temporary(rows * dim)
  const [a, b, out] = [temporary(rows * hiddenDim), temporary(rows * hiddenDim), temporary(rows)] as const
  backend.enqueue('copyRows', { source: hidden, out: text, rows, columns: dim })
  if (weights.condition) {
    for (let row = 0; row < rows; row++) {
      backend.enqueue('addRows', { x: text.at(row * dim * 4), y: weights.condition, rows: 1, columns: dim })
    }
  }
  const finish = (x: BufferRef, { weight, bias }: Norm): void => {
    backend.enqueue('activate', { x, kind: ACTIVATIONS.relu, rows, columns: hiddenDim })
    backend.enqueue('layerNorm', { x, weight, bias, out: x, rows, columns: hiddenDim, epsilon: EPSILON })
  }
  convolve(backend, weights.conv1, text, rows, a, scratch)
  finish(a, weights.norm1)
  convolve(backend, weights.conv2, a, rows, b, scratch)
  finish(b, weights.norm2)
  convolve(backend, weights.proj, b, rows, out, scratch)
  return new Float32Array((await backend.read(out, rows * 4, signal)).buffer)
}

type Four = readonly [DeviceBuffer, DeviceBuffer, DeviceBuffer, DeviceBuffer]

async function drawFromFlow(
  { backend, config: { dim }, hidden, rows, noise, scratch, temporary, signal }: DurationRun,
  weights: Extract<DurationWeights, { kind: 'stochastic' }>,
  { bins, tailBound }: Extract<DurationConfig, { kind: 'stochastic' }>,
): Promise<Float32Array> {
  const four = [0, 1, 2, 3].map(() => temporary(rows * dim))
  const [text, x, y, mixed] = four as unknown as Four
  const width = 3 * bins - 1
  const seen = temporary(rows)
  const parameters = temporary(rows * width)
  const runStack = (stack: SeparableStack): void =>
    runSeparable(backend, stack, { x, y, mixed, rows, dim, scratch })
  convolve(backend, weights.pre, hidden, rows, x, scratch)
  runStack(weights.stack)
  convolve(backend, weights.proj, x, rows, text, scratch)
  // The two latents of each symbol; every flow exchanges them, then changes the second by what it sees of the first.
  let first = noise.filter((_, index) => index % 2 === 0)
  let second = noise.filter((_, index) => index % 2 === 1)
  const rootDim = Math.sqrt(dim)
  for (const flow of weights.flows) {
    ;[first, second] = [second, first]
    backend.write(seen, new Uint8Array(first.buffer as ArrayBuffer, first.byteOffset, first.byteLength))
    convolve(backend, flow.pre, seen, rows, x, scratch)
    backend.enqueue('addRows', { x, y: text, rows, columns: dim })
    runStack(flow.stack)
    convolve(backend, flow.proj, x, rows, parameters, scratch)
    const values = new Float32Array((await backend.read(parameters, rows * width * 4, signal)).buffer)
    second = second.map((value, row) => {
      const own = values.slice(row * width, (row + 1) * width)
      // Widths and heights are scaled, slopes are not.
      for (let i = 0; i < 2 * bins; i++) own[i] = (own[i] as number) / rootDim
      return invertSpline(value, own, bins, tailBound)
    })
  }
  ;[first, second] = [second, first]
  const [shift = 0] = weights.shift
  const [scale = 1] = weights.inverseScale
  return first.map((value) => (value - shift) * scale)
}

interface StackState {
  /** Input and result. */
  readonly x: BufferRef
  readonly y: BufferRef
  readonly mixed: BufferRef
  readonly rows: number
  readonly dim: number
  readonly scratch: Scratch
}

function runSeparable(
  backend: Backend,
  { layers, kernel }: SeparableStack,
  { x, y, mixed, rows, dim, scratch }: StackState,
): void {
  const finish = (values: BufferRef, { weight, bias }: Norm): void => {
    backend.enqueue('layerNorm', {
      ...{ x: values, weight, bias, out: values },
      ...{ rows, columns: dim, epsilon: EPSILON },
    })
    backend.enqueue('activate', { x: values, kind: ACTIVATIONS.geluErf, rows, columns: dim })
  }
  for (const { weight, bias, dilation, norm1, mix, norm2 } of layers) {
    const padding = ((kernel - 1) * dilation) >> 1
    backend.enqueue('depthwiseConv', {
      ...{ x, weight, bias, out: y },
      ...{ rows, columns: dim, kernel, dilation, padding },
    })
    finish(y, norm1)
    convolve(backend, mix, y, rows, mixed, scratch)
    finish(mixed, norm2)
    backend.enqueue('addRows', { x, y: mixed, rows, columns: dim })
  }
}

/** (rows, columns) to (columns, rows). */
function transpose(values: Float32Array, rows: number): Float32Array<ArrayBuffer> {
  const columns = values.length / rows
  return Float32Array.from(
    { length: values.length },
    (_, i) => values[(i % rows) * columns + Math.floor(i / rows)] as number,
  )
}

/** Loading has an order, as files are read from one end to the other. */
async function inOrder<Item>(count: number, load: (index: number) => Promise<Item>): Promise<Item[]> {
  const items: Item[] = []
  for (let index = 0; index < count; index++) items.push(await load(index))
  return items
}
