/** What a VITS voice consists of, from Hugging Face's config.json and from the tensors of Piper's ONNX files. */
import type { OnnxFile } from '../../formats/onnx/load-onnx.ts'
import { EngineError } from '../../shared/errors.ts'
import { ConfigFields } from '../config-fields.ts'

export interface VitsConfig {
  /** Samples a second. */
  readonly sampleRate: number
  /** Rows of the embedding: symbols of text. */
  readonly symbols: number
  /** Width of the text encoder, the flow's networks and the duration predictor. */
  readonly dim: number
  readonly layers: number
  readonly heads: number
  /** Largest distance that attention knows. */
  readonly reach: number
  readonly hiddenDim: number
  readonly hiddenKernel: number
  readonly epsilon: number
  readonly flow: {
    /** Channels of the latents; even. */
    readonly channels: number
    readonly steps: number
    readonly layers: number
    readonly kernel: number
    readonly dilationRate: number
  }
  readonly duration: DurationConfig
  readonly decoder: {
    readonly initialChannels: number
    readonly stages: readonly { readonly rate: number; readonly kernel: number }[]
    readonly blocks: readonly { readonly kernel: number; readonly dilations: readonly number[] }[]
    /** Type 1 of HiFi-GAN's residual blocks: a second convolution after each dilated one. */
    readonly hasPairs: boolean
    readonly slope: number
  }
  /** 1 where the voice has no embedding of speakers. */
  readonly speakers: number
  /** 0 where the voice has no embedding of speakers. */
  readonly speakerDim: number
  /** How far the voice varies, and how far its rhythm does. */
  readonly noise: number
  readonly durationNoise: number
  /** Above 1 is slower. */
  readonly lengthScale: number
}

export type DurationConfig =
  | {
      readonly kind: 'stochastic'
      /** The one that only trains left out. */
      readonly flows: number
      readonly kernel: number
      readonly layers: number
      readonly bins: number
      readonly tailBound: number
    }
  | { readonly kind: 'plain'; readonly kernel: number; readonly hiddenDim: number }

/** `model_type: "vits"` in Transformers 5.18 (`configuration_vits.py`); missing keys have its values. */
export function parseVitsConfig(value: unknown, file: string): VitsConfig {
  const fields = new ConfigFields(value, file)
  const lists = new NumberLists(value, file)
  const rates = lists.read('upsample_rates', [8, 8, 2, 2])
  const kernels = lists.read('upsample_kernel_sizes', [16, 16, 4, 4])
  const blockKernels = lists.read('resblock_kernel_sizes', [3, 7, 11])
  const dilations = lists.readNested('resblock_dilation_sizes', [
    [1, 3, 5],
    [1, 3, 5],
    [1, 3, 5],
  ])
  if (rates.length !== kernels.length) throw fields.error('upsample_kernel_sizes', `${rates.length} numbers`)
  if (blockKernels.length !== dilations.length)
    throw fields.error('resblock_dilation_sizes', `${blockKernels.length} lists`)
  const kernel = fields.count('duration_predictor_kernel_size', 3)
  const speakerDim = fields.integer('speaker_embedding_size', 0)
  return {
    sampleRate: fields.count('sampling_rate', 16000),
    symbols: fields.count('vocab_size', 38),
    dim: fields.count('hidden_size', 192),
    layers: fields.count('num_hidden_layers', 6),
    heads: fields.count('num_attention_heads', 2),
    reach: fields.count('window_size', 4),
    hiddenDim: fields.count('ffn_dim', 768),
    hiddenKernel: fields.count('ffn_kernel_size', 3),
    epsilon: fields.positive('layer_norm_eps', 1e-5),
    flow: {
      channels: fields.count('flow_size', 192),
      steps: fields.count('prior_encoder_num_flows', 4),
      layers: fields.count('prior_encoder_num_wavenet_layers', 4),
      kernel: fields.count('wavenet_kernel_size', 5),
      dilationRate: fields.count('wavenet_dilation_rate', 1),
    },
    duration: fields.boolean('use_stochastic_duration_prediction', true)
      ? {
          kind: 'stochastic',
          flows: fields.count('duration_predictor_num_flows', 4) - 1,
          kernel,
          layers: fields.count('depth_separable_num_layers', 3),
          bins: fields.count('duration_predictor_flow_bins', 10),
          tailBound: fields.positive('duration_predictor_tail_bound', 5),
        }
      : { kind: 'plain', kernel, hiddenDim: fields.count('duration_predictor_filter_channels', 256) },
    decoder: {
      initialChannels: fields.count('upsample_initial_channel', 512),
      stages: rates.map((rate, index) => ({ rate, kernel: kernels[index] as number })),
      blocks: blockKernels.map((size, index) => ({ kernel: size, dilations: dilations[index] as number[] })),
      hasPairs: true,
      slope: fields.positive('leaky_relu_slope', 0.1),
    },
    speakers: speakerDim > 0 ? fields.count('num_speakers', 1) : 1,
    speakerDim,
    noise: fields.positive('noise_scale', 0.667),
    durationNoise: fields.positive('noise_scale_duration', 0.8),
    lengthScale: 1 / fields.positive('speaking_rate', 1),
  }
}

/** The voice's settings beside a Piper model, `<name>.onnx.json`. */
export interface PiperSettings {
  readonly sampleRate: number
  readonly noise: number
  readonly durationNoise: number
  readonly lengthScale: number
}

/**
 * Sizes that the tensors of a Piper voice tell, by their published names; what they do not tell is the same in all such
 * voices (OHF-Voice/piper1-gpl `src/python/piper_train/vits`).
 */
export function inferVitsConfig(
  file: string,
  shapeOf: (name: string) => readonly number[] | undefined,
  nodes: OnnxFile['nodes'],
  settings: PiperSettings,
): VitsConfig {
  const shape = (name: string, dims: number): readonly number[] => {
    const found = shapeOf(name)
    if (found?.length === dims && found.every((size) => size > 0)) return found
    throw new EngineError('model/missing-tensor', {
      message: `${file}: expected "${name}" with ${dims} dimensions; found ${found ? `[${found.join(', ')}]` : 'none'}.`,
      hint: 'The file is no VITS voice as Piper exports them, or it is damaged.',
    })
  }
  const at = (name: string, dims: number, axis: number): number => shape(name, dims)[axis] as number
  const count = (name: (index: number) => string): number => {
    let index = 0
    while (shapeOf(name(index))) index++
    return index
  }
  const listOf = (weight: string, list: string): number | undefined =>
    nodes.find(({ inputs }) => inputs[1] === weight)?.lists[list]?.[0]
  const [symbols = 0, dim = 0] = shape('enc_p.emb.weight', 2)
  const [, distances = 0, headDim = 0] = shape('enc_p.encoder.attn_layers.0.emb_rel_k', 3)
  const [hiddenDim = 0, , hiddenKernel = 0] = shape('enc_p.encoder.ffn_layers.0.conv_1.weight', 3)
  const channels = at('enc_p.proj.weight', 3, 0) / 2
  const stages = count((index) => `dec.ups.${index}.weight`)
  const hasPairs = shapeOf('dec.resblocks.0.convs1.0.weight') !== undefined
  const blockName = (block: number): string => `dec.resblocks.${block}.${hasPairs ? 'convs1' : 'convs'}`
  const blocks = count((index) => `${blockName(index)}.0.weight`) / Math.max(1, stages)
  const stochastic = shapeOf('dp.flows.3.pre.weight') !== undefined
  const embedding = shapeOf('emb_g.weight')
  const bins = stochastic ? (at('dp.flows.3.proj.weight', 3, 0) + 1) / 3 : 0
  return {
    sampleRate: settings.sampleRate,
    symbols,
    dim,
    layers: count((index) => `enc_p.encoder.attn_layers.${index}.conv_q.weight`),
    heads: dim / headDim,
    reach: (distances - 1) / 2,
    hiddenDim,
    hiddenKernel,
    epsilon: 1e-5,
    flow: {
      channels,
      steps: count((index) => `flow.flows.${2 * index}.pre.weight`),
      layers: count((index) => `flow.flows.0.enc.in_layers.${index}.bias`),
      kernel: at('flow.flows.0.enc.in_layers.0.weight', 3, 2),
      dilationRate: 1,
    },
    duration: stochastic
      ? {
          kind: 'stochastic',
          flows: count((index) => `dp.flows.${2 * index + 3}.pre.weight`),
          kernel: at('dp.convs.convs_sep.0.weight', 3, 2),
          layers: count((index) => `dp.convs.convs_sep.${index}.weight`),
          bins,
          tailBound: 5,
        }
      : { kind: 'plain', kernel: at('dp.conv_1.weight', 3, 2), hiddenDim: at('dp.conv_1.weight', 3, 0) },
    decoder: {
      initialChannels: at('dec.conv_pre.weight', 3, 0),
      stages: Array.from({ length: stages }, (_, index) => {
        const kernel = at(`dec.ups.${index}.weight`, 3, 2)
        return { kernel, rate: listOf(`dec.ups.${index}.weight`, 'strides') ?? kernel / 2 }
      }),
      blocks: Array.from({ length: blocks }, (_, index) => ({
        kernel: at(`${blockName(index)}.0.weight`, 3, 2),
        dilations: Array.from(
          { length: count((layer) => `${blockName(index)}.${layer}.weight`) },
          (_, layer) => listOf(`${blockName(index)}.${layer}.weight`, 'dilations') ?? 1,
        ),
      })),
      hasPairs,
      slope: 0.1,
    },
    speakers: embedding?.[0] ?? 1,
    speakerDim: embedding?.[1] ?? 0,
    noise: settings.noise,
    durationNoise: settings.durationNoise,
    lengthScale: settings.lengthScale,
  }
}

/** Lists of whole numbers of a configuration. */
class NumberLists {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #file: string

  constructor(value: unknown, file: string) {
    this.#values = value as Readonly<Record<string, unknown>>
    this.#file = file
  }

  read(key: string, fallback: readonly number[]): readonly number[] {
    return this.#check(key, this.#values[key] ?? fallback)
  }

  readNested(key: string, fallback: readonly (readonly number[])[]): readonly (readonly number[])[] {
    const value = this.#values[key] ?? fallback
    if (!Array.isArray(value)) throw this.#error(key, 'lists of whole numbers')
    return value.map((list) => this.#check(key, list))
  }

  #check(key: string, value: unknown): readonly number[] {
    const isList =
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= MAX_LIST &&
      value.every((one) => Number.isInteger(one) && one > 0 && one <= MAX_LIST_VALUE)
    if (isList) return value as number[]
    throw this.#error(key, `1 to ${MAX_LIST} whole numbers from 1 to ${MAX_LIST_VALUE}`)
  }

  #error(key: string, expected: string): EngineError {
    return new EngineError('config/bad-field', {
      message: `${this.#file}: "${key}": expected ${expected}; found ${JSON.stringify(this.#values[key])?.slice(0, 80)}.`,
      hint: 'This kind of voice is not supported, or its configuration is damaged.',
    })
  }
}

/** Published voices have at most five stages and rates of at most 16. */
const MAX_LIST = 16
const MAX_LIST_VALUE = 1024
