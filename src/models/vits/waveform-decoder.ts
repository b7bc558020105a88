/**
 * From latents to sound: HiFi-GAN's generator, in pieces. Every piece is computed with as many frames around it as can have
 * an influence, so that pieces together are exactly the whole.
 * Source: Kong et al., "HiFi-GAN", https://arxiv.org/abs/2010.05646.
 */
import type { Backend, BufferRef } from '../../backend/backend.ts'
import { ACTIVATIONS } from '../../backend/ops.ts'
import { addTo, conditionOf } from './conditioning.ts'
import type { VitsConfig } from './config.ts'
import {
  type Convolution,
  convolve,
  convolveTransposed,
  type Scratch,
  transposedRows,
} from './convolution.ts'
import type { WeightSource } from './weight-source.ts'

interface Stage {
  readonly up: Convolution
  /** Of each block: convolutions in order, each with the one after it where blocks have pairs. */
  readonly blocks: readonly (readonly {
    readonly dilated: Convolution
    readonly plain: Convolution | undefined
  }[])[]
}

export interface WaveformDecoderWeights {
  readonly pre: Convolution
  readonly stages: readonly Stage[]
  readonly post: Convolution
}

/** PyTorch's default, which the published code uses before the last convolution. */
const LAST_SLOPE = 0.01
const END_KERNEL = 7

/** @param isReversed Latents come with their channels in reverse order. */
export async function loadWaveformDecoder(
  source: WeightSource,
  { flow, decoder, speakerDim }: VitsConfig,
  speaker: Float32Array,
  isReversed: boolean,
): Promise<WaveformDecoderWeights> {
  const { initialChannels, stages, blocks, hasPairs } = decoder
  const condition =
    speakerDim > 0 ? await conditionOf(source, 'dec.cond', initialChannels, speaker) : undefined
  const pre = await source.convolution('dec.conv_pre', {
    inputs: flow.channels,
    outputs: initialChannels,
    kernel: END_KERNEL,
    adjust: (weight, bias) => {
      if (isReversed) reverseInputs(weight, flow.channels)
      if (condition) addTo(bias, condition)
    },
  })
  const loaded: Stage[] = []
  // The mean over the blocks of a stage is a sum whose factor the next layer takes: leaky ReLU lets factors pass.
  const mean = 1 / blocks.length
  for (const [index, { rate, kernel }] of stages.entries()) {
    const channels = initialChannels / 2 ** (index + 1)
    const stage: Stage['blocks'][number][] = []
    for (const [number, block] of blocks.entries()) {
      const name = `dec.resblocks.${index * blocks.length + number}`
      const layers: Stage['blocks'][number][number][] = []
      for (const [layer, dilation] of block.dilations.entries()) {
        const square = { inputs: channels, outputs: channels, kernel: block.kernel }
        layers.push({
          dilated: await source.convolution(`${name}.${hasPairs ? 'convs1' : 'convs'}.${layer}`, {
            ...square,
            dilation,
          }),
          plain: hasPairs ? await source.convolution(`${name}.convs2.${layer}`, square) : undefined,
        })
      }
      stage.push(layers)
    }
    loaded.push({
      up: await source.transposed(`dec.ups.${index}`, {
        inputs: channels * 2,
        outputs: channels,
        kernel,
        stride: rate,
        scale: index === 0 ? 1 : mean,
      }),
      blocks: stage,
    })
    await source.settle()
  }
  return {
    pre,
    stages: loaded,
    post: await source.convolution('dec.conv_post', {
      inputs: initialChannels / 2 ** stages.length,
      outputs: 1,
      kernel: END_KERNEL,
      hasBias: false,
      adjust: (weight) => {
        for (const [i, value] of weight.entries()) weight[i] = value * mean
      },
    }),
  }
}

/** (outputs, inputs, kernel) with the inputs in reverse order. */
function reverseInputs(weight: Float32Array, inputs: number): void {
  const size = inputs * END_KERNEL
  for (let start = 0; start < weight.length; start += size) {
    const own = weight.slice(start, start + size)
    for (let input = 0; input < inputs; input++) {
      const from = (inputs - 1 - input) * END_KERNEL
      weight.set(own.subarray(from, from + END_KERNEL), start + input * END_KERNEL)
    }
  }
}

/** Samples of one frame of latents, at least; odd kernels add a few at the end. */
export function samplesPerFrame({ decoder }: VitsConfig): number {
  return decoder.stages.reduce((product, { rate }) => product * rate, 1)
}

/** Frames on either side that have an influence on a sample. */
export function reachInFrames({ decoder }: VitsConfig): number {
  const { stages, blocks, hasPairs } = decoder
  let frames = (END_KERNEL - 1) / 2
  let rate = 1
  for (const { rate: own, kernel } of stages) {
    frames += Math.ceil(kernel / own) / rate
    rate *= own
    const widest = Math.max(
      ...blocks.map(({ kernel: size, dilations }) =>
        dilations.reduce((sum, dilation) => sum + ((size - 1) / 2) * (dilation + (hasPairs ? 1 : 0)), 0),
      ),
    )
    frames += widest / rate
  }
  return Math.ceil(frames + (END_KERNEL - 1) / 2 / rate) + 1
}

/**
 * Enqueues the pass over latents f32 (frames, channels).
 * @returns Where the samples lie, f32 (rows), until `temporary` is given back.
 */
export function decodeWaveform(
  backend: Backend,
  { decoder: { slope } }: VitsConfig,
  { pre, stages, post }: WaveformDecoderWeights,
  latents: BufferRef,
  frames: number,
  scratch: Scratch,
  temporary: (floats: number) => BufferRef,
  onStage?: (stage: string, values: BufferRef, rows: number, columns: number) => void,
): { readonly samples: BufferRef; readonly rows: number } {
  const rowsOf = [frames]
  for (const { up } of stages) rowsOf.push(transposedRows(up, rowsOf.at(-1) as number))
  const widest = Math.max(
    frames * pre.outputs,
    ...stages.map(({ up }, index) => (rowsOf[index + 1] as number) * up.outputs),
  )
  // Input of a stage (later the sum of its blocks), its upsampled form, a block's way, and one more for what is rectified.
  const sum = temporary(widest)
  const base = temporary(widest)
  const way = temporary(widest)
  const bent = temporary(widest)
  const middle = stages.some(({ blocks }) => blocks.some((block) => block.some(({ plain }) => plain)))
    ? temporary(widest)
    : bent
  convolve(backend, pre, latents, frames, sum, scratch)
  onStage?.('decoder_pre', sum, frames, pre.outputs)
  let rows = frames
  for (const [index, { up, blocks }] of stages.entries()) {
    const columns = up.outputs
    backend.enqueue('leakyRelu', { x: sum, rows, columns: up.inputs, slope })
    convolveTransposed(backend, up, sum, rows, base, scratch)
    rows = rowsOf[index + 1] as number
    onStage?.(`decoder_up${index}`, base, rows, columns)
    for (const [number, block] of blocks.entries()) {
      backend.enqueue('copyRows', { source: base, out: way, rows, columns })
      for (const { dilated, plain } of block) {
        backend.enqueue('copyRows', { source: way, out: bent, rows, columns })
        backend.enqueue('leakyRelu', { x: bent, rows, columns, slope })
        if (plain) {
          convolve(backend, dilated, bent, rows, middle, scratch)
          backend.enqueue('leakyRelu', { x: middle, rows, columns, slope })
          convolve(backend, plain, middle, rows, way, scratch, { accumulate: true })
        } else convolve(backend, dilated, bent, rows, way, scratch, { accumulate: true })
      }
      if (number === 0) backend.enqueue('copyRows', { source: way, out: sum, rows, columns })
      else backend.enqueue('addRows', { x: sum, y: way, rows, columns })
    }
  }
  backend.enqueue('leakyRelu', { x: sum, rows, columns: post.inputs, slope: LAST_SLOPE })
  convolve(backend, post, sum, rows, base, scratch)
  backend.enqueue('activate', { x: base, kind: ACTIVATIONS.tanh, rows, columns: 1 })
  return { samples: base, rows }
}
