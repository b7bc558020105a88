/**
 * From latents as the text suggests them to latents as they sound: coupling steps run backwards. Between steps the order of
 * all channels turns round; here the weights of every other step are turned instead, and the halves stay where they are.
 */
import type { Backend, BufferRef } from '../../backend/backend.ts'
import { addTo, conditionOf } from './conditioning.ts'
import type { VitsConfig } from './config.ts'
import { type Convolution, convolve, type Scratch } from './convolution.ts'
import type { WeightSource } from './weight-source.ts'

interface Step {
  /** Which half is looked at; the other one changes. */
  readonly seen: 0 | 1
  readonly pre: Convolution
  readonly layers: readonly {
    readonly gates: Convolution
    readonly residual: Convolution | undefined
    readonly skip: Convolution
  }[]
  /** Negated, so that its result can be added. */
  readonly post: Convolution
}

export interface FlowWeights {
  /** In the order in which they run backwards. */
  readonly steps: readonly Step[]
  /** The channels of the result are in reverse order, the second half first. */
  readonly isReversed: boolean
}

export async function loadFlow(
  source: WeightSource,
  { dim, flow, speakerDim }: VitsConfig,
  speaker: Float32Array,
): Promise<FlowWeights> {
  const half = flow.channels / 2
  const steps: Step[] = []
  for (let index = flow.steps - 1; index >= 0; index--) {
    const name = `flow.flows.${2 * index}`
    const isTurned = steps.length % 2 === 0
    const condition =
      speakerDim > 0
        ? await conditionOf(source, `${name}.enc.cond_layer`, 2 * dim * flow.layers, speaker)
        : undefined
    const layers: Step['layers'][number][] = []
    for (let layer = 0; layer < flow.layers; layer++) {
      const isLast = layer === flow.layers - 1
      const own = condition?.subarray(layer * 2 * dim, (layer + 1) * 2 * dim)
      const part = (from: number) => ({
        inputs: dim,
        outputs: isLast ? dim : 2 * dim,
        take: [from, from + dim] as const,
      })
      layers.push({
        gates: await source.convolution(`${name}.enc.in_layers.${layer}`, {
          inputs: dim,
          outputs: 2 * dim,
          kernel: flow.kernel,
          dilation: flow.dilationRate ** layer,
          adjust: (_, bias) => own && addTo(bias, own),
        }),
        residual: isLast
          ? undefined
          : await source.convolutionPart(`${name}.enc.res_skip_layers.${layer}`, part(0)),
        skip: await source.convolutionPart(`${name}.enc.res_skip_layers.${layer}`, part(isLast ? 0 : dim)),
      })
    }
    steps.push({
      seen: isTurned ? 1 : 0,
      pre: await source.convolution(`${name}.pre`, {
        inputs: half,
        outputs: dim,
        adjust: (weight) => isTurned && reverseRows(weight, half),
      }),
      layers,
      post: await source.convolution(`${name}.post`, {
        inputs: dim,
        outputs: half,
        adjust: (weight, bias) => {
          for (const values of [weight, bias]) for (const [i, value] of values.entries()) values[i] = -value
          if (isTurned) turnOutputs(weight, bias)
        },
      }),
    })
    await source.settle()
  }
  return { steps, isReversed: flow.steps % 2 === 1 }
}

/** Each row back to front. */
function reverseRows(values: Float32Array, length: number): void {
  for (let start = 0; start < values.length; start += length) values.subarray(start, start + length).reverse()
}

/** The outputs in reverse order, each with its own weights. */
function turnOutputs(weight: Float32Array, bias: Float32Array): void {
  weight.reverse()
  reverseRows(weight, weight.length / bias.length)
  bias.reverse()
}

/** Enqueues all steps on both halves, f32 (rows, channels / 2), in place. */
export function runFlow(
  backend: Backend,
  { dim }: VitsConfig,
  { steps }: FlowWeights,
  halves: readonly [BufferRef, BufferRef],
  rows: number,
  scratch: Scratch,
  temporary: (floats: number) => BufferRef,
): void {
  const x = temporary(rows * dim)
  const gates = temporary(rows * 2 * dim)
  const gated = temporary(rows * dim)
  const sum = temporary(rows * dim)
  for (const { seen, pre, layers, post } of steps) {
    convolve(backend, pre, halves[seen], rows, x, scratch)
    for (const [index, layer] of layers.entries()) {
      convolve(backend, layer.gates, x, rows, gates, scratch)
      backend.enqueue('tanhSigmoidMul', { x: gates, out: gated, rows, columns: dim })
      if (layer.residual) convolve(backend, layer.residual, gated, rows, x, scratch, { accumulate: true })
      convolve(backend, layer.skip, gated, rows, sum, scratch, { accumulate: index > 0 })
    }
    convolve(backend, post, sum, rows, halves[seen === 0 ? 1 : 0], scratch, { accumulate: true })
  }
}
