/** Sizes of Moonshine models, version 1 and streaming, from Hugging Face's config.json. */
import type { ConfigFields } from '../config-fields.ts'
import { headProblem } from '../head-sizes.ts'

export interface MoonshineSide {
  readonly dim: number
  readonly layers: number
  readonly heads: number
  readonly headDim: number
  readonly hiddenDim: number
}

export interface MoonshineConfig {
  readonly encoder: MoonshineSide & {
    /**
     * `convolutions`: three of them over the samples, rotary positions, attention to everything. `frames`: frames of 5 ms,
     * no positions, attention to neighbours, so that sound can be encoded while it comes in.
     */
    readonly front:
      | { readonly kind: 'convolutions' }
      | {
          readonly kind: 'frames'
          readonly frameSamples: number
          /** For each layer, how far back and ahead it looks: the distance is less than this. */
          readonly windows: readonly (readonly [left: number, right: number])[]
        }
  }
  readonly decoder: MoonshineSide
  /** Elements of a head that turn with the position. */
  readonly rotaryDim: number
  readonly ropeTheta: number
  /** Longest text in tokens; also rows of the streaming model's table of positions of sound. */
  readonly positions: number
  readonly vocabSize: number
  readonly tiedEmbeddings: boolean
  readonly startToken: number
  readonly endToken: number
}

/** Of LayerNorm and GroupNorm: PyTorch's default, which the models keep. */
export const MOONSHINE_EPSILON = 1e-5

export function parseMoonshineConfig(fields: ConfigFields): MoonshineConfig {
  const isStreaming = fields.string('model_type') === 'moonshine_streaming'
  const own = fields.object('encoder_config', {})
  const decoder = isStreaming
    ? readSide(fields, { layers: 'num_hidden_layers', heads: 'num_attention_heads' })
    : readSide(fields, { layers: 'decoder_num_hidden_layers', heads: 'decoder_num_attention_heads' })
  const encoder = isStreaming
    ? readSide(own, { layers: 'num_hidden_layers', heads: 'num_attention_heads' })
    : readSide(fields, { layers: 'encoder_num_hidden_layers', heads: 'encoder_num_attention_heads' })
  requireOwnKeys(isStreaming ? own : fields, isStreaming ? 'num' : 'encoder_num', encoder.heads)
  requireOwnKeys(fields, isStreaming ? 'num' : 'decoder_num', decoder.heads)
  if (fields.boolean('attention_bias', false)) throw fields.error('attention_bias', 'false')
  fields.choice(isStreaming ? 'hidden_act' : 'decoder_hidden_act', { silu: true }, 'silu')
  const rope = fields.object('rope_parameters', {})
  rope.choice('rope_type', { default: true }, 'default')
  const factor = rope.has('partial_rotary_factor')
    ? rope.positive('partial_rotary_factor')
    : fields.positive('partial_rotary_factor', isStreaming ? 0.8 : 0.9)
  // Rounded down by the reference; published models arrive at an even number.
  const rotaryDim = Math.floor(decoder.headDim * factor)
  if (rotaryDim % 2 !== 0 || rotaryDim > decoder.headDim || rotaryDim < 2) {
    throw fields.error('partial_rotary_factor', `one that gives an even part of ${decoder.headDim}`, factor)
  }
  return {
    encoder: {
      ...encoder,
      front: isStreaming
        ? {
            kind: 'frames',
            frameSamples: Math.round((own.count('sample_rate', 16000) * own.positive('frame_ms', 5)) / 1000),
            windows: readWindows(own, encoder.layers),
          }
        : { kind: 'convolutions' },
    },
    decoder,
    rotaryDim,
    ropeTheta: rope.has('rope_theta') ? rope.positive('rope_theta') : fields.positive('rope_theta', 10000),
    positions: fields.count('max_position_embeddings', isStreaming ? 4096 : 512),
    vocabSize: fields.count('vocab_size', 32768),
    tiedEmbeddings: fields.boolean('tie_word_embeddings', !isStreaming),
    startToken: fields.integer('decoder_start_token_id', fields.integer('bos_token_id', 1)),
    endToken: fields.integer('eos_token_id', 2),
  }
}

function readSide(
  fields: ConfigFields,
  keys: { readonly layers: string; readonly heads: string },
): MoonshineSide {
  const dim = fields.count('hidden_size', 288)
  const heads = fields.count(keys.heads, 8)
  const headDim = fields.has('head_dim') ? fields.count('head_dim') : dim / heads
  const problem = headProblem(heads, heads, headDim)
  if (problem) throw fields.error(keys.heads, problem, heads)
  return {
    dim,
    layers: fields.count(keys.layers, 6),
    heads,
    headDim,
    hiddenDim: fields.count('intermediate_size', dim * 4),
  }
}

/** No published model shares keys between heads. */
function requireOwnKeys(fields: ConfigFields, prefix: string, heads: number): void {
  const key = `${prefix}_key_value_heads`
  if (fields.has(key) && fields.count(key) !== heads) throw fields.error(key, `${heads}, the number of heads`)
}

const DEFAULT_WINDOWS = [
  [16, 4],
  [16, 4],
  [16, 0],
  [16, 0],
  [16, 4],
  [16, 4],
] as const

function readWindows(fields: ConfigFields, layers: number): readonly (readonly [number, number])[] {
  const value = fields.value('sliding_windows') ?? DEFAULT_WINDOWS
  const isList =
    Array.isArray(value) &&
    value.length >= layers &&
    value.every(
      (pair) =>
        Array.isArray(pair) &&
        pair.length === 2 &&
        pair.every((size) => Number.isInteger(size) && size >= 0 && size < 65536),
    ) &&
    value.every(([left]) => left >= 1)
  if (!isList) throw fields.error('sliding_windows', `${layers} pairs of whole numbers`)
  return value.slice(0, layers)
}
