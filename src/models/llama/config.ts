/** Configurations of Llama-shaped decoders, from Hugging Face `config.json` and from GGUF metadata. */
import type { RopePairing } from '../../backend/ops.ts'
import type { GgufFile } from '../../formats/gguf/load-gguf.ts'
import { optional, requireString } from '../../formats/gguf/metadata.ts'
import type { ConfigFields } from '../config-fields.ts'
import { fieldError, requirePositive, requireSize } from '../gguf-fields.ts'
import { headProblem } from '../head-sizes.ts'
import type { DecoderConfig } from '../model-config.ts'
import { ROPE_DIVISORS, type RopeScaling, ropeFrequencies } from '../rope-frequencies.ts'

/** What the name of an architecture implies and its configuration does not say. */
export interface DecoderTraits {
  readonly qkvBias: boolean
  readonly queryKeyNorm: boolean
  /** How GGUF files of this architecture order the rows of Q and K; Hugging Face files always pair halves. */
  readonly ggufPairing: RopePairing
}

/** Sizes of LlamaConfig, which nested `text_config`s leave out where they agree (LLaVA-1.5). */
const LLAMA_DEFAULTS = { hidden: 4096, intermediate: 11008, layers: 32, heads: 32, vocabulary: 32000 }

/**
 * From `config.json`, old and new spellings.
 * @param nested The object is a `text_config`, so sizes that are missing have LlamaConfig's values.
 */
export function parseDecoderConfig(
  fields: ConfigFields,
  traits: DecoderTraits,
  nested: boolean,
): DecoderConfig {
  const defaults: Partial<typeof LLAMA_DEFAULTS> = nested ? LLAMA_DEFAULTS : {}
  fields.choice('hidden_act', { silu: true, swish: true }, 'silu')
  const dim = fields.count('hidden_size', defaults.hidden)
  const heads = fields.count('num_attention_heads', defaults.heads)
  const kvHeads = fields.count('num_key_value_heads', heads)
  const headDim = fields.has('head_dim') ? fields.count('head_dim') : Math.floor(dim / heads)
  const problem = headProblem(heads, kvHeads, headDim)
  if (problem) throw fields.error('num_attention_heads', problem, heads)
  const attentionBias = fields.boolean('attention_bias', false)
  refuseSlidingWindow(fields)
  return {
    dim,
    layers: fields.count('num_hidden_layers', defaults.layers),
    heads,
    kvHeads,
    headDim,
    hiddenDim: fields.count('intermediate_size', defaults.intermediate),
    vocabSize: fields.count('vocab_size', defaults.vocabulary),
    contextLength: fields.count('max_position_embeddings', 2048),
    epsilon: fields.positive('rms_norm_eps', 1e-6),
    ropePairing: 'half',
    ropeFrequencies: parseRope(fields, headDim),
    biases: {
      qkv: traits.qkvBias || attentionBias,
      output: attentionBias,
      mlp: fields.boolean('mlp_bias', false),
    },
    queryKeyNorm: traits.queryKeyNorm,
    tiedEmbeddings: fields.has('tie_word_embeddings') ? fields.boolean('tie_word_embeddings') : undefined,
  }
}

function parseRope(fields: ConfigFields, headDim: number): Float32Array {
  const { base, scaling } = parseRopeSettings(fields)
  return ropeFrequencies(base, headDim, scaling)
}

export interface RopeSettings {
  /** Theta. */
  readonly base: number
  readonly scaling: RopeScaling
}

/** Theta stands beside the sizes or in `rope_parameters`; scaling in `rope_parameters` or `rope_scaling`. */
export function parseRopeSettings(fields: ConfigFields): RopeSettings {
  const parameters = fields.object('rope_parameters', {})
  const scaling = parameters.has('rope_type') ? parameters : fields.object('rope_scaling', {})
  const base = parameters.has('rope_theta')
    ? parameters.positive('rope_theta')
    : fields.positive('rope_theta', 10000)
  if (fields.positive('partial_rotary_factor', 1) !== 1) throw fields.error('partial_rotary_factor', '1')
  const kind = scaling.string(scaling.has('rope_type') ? 'rope_type' : 'type', 'default')
  return { base, scaling: parseScaling(kind, scaling) }
}

function parseScaling(kind: string, scaling: ConfigFields): RopeScaling {
  switch (kind) {
    case 'default':
      return { type: 'default' }
    case 'linear':
      return { type: 'linear', factor: scaling.positive('factor') }
    case 'llama3':
      return {
        type: 'llama3',
        factor: scaling.positive('factor'),
        lowFreqFactor: scaling.positive('low_freq_factor'),
        highFreqFactor: scaling.positive('high_freq_factor'),
        originalContext: scaling.positive('original_max_position_embeddings'),
      }
    default:
      throw scaling.error('rope_type', 'one of default, linear, llama3', kind)
  }
}

function refuseSlidingWindow(fields: ConfigFields): void {
  if (fields.boolean('use_sliding_window', false)) throw fields.error('use_sliding_window', 'false')
}

/** From the metadata of a GGUF text model. */
export function parseGgufDecoderConfig(gguf: GgufFile, traits: DecoderTraits): DecoderConfig {
  const architecture = requireString(gguf, 'general.architecture')
  const key = (name: string): string => `${architecture}.${name}`
  const size = (name: string): number => requireSize(gguf, key(name))
  const sizeOr = (name: string, fallback: number): number =>
    optional(gguf, key(name), requireSize) ?? fallback
  const dim = size('embedding_length')
  const heads = size('attention.head_count')
  const kvHeads = sizeOr('attention.head_count_kv', heads)
  const headDim = sizeOr('attention.key_length', Math.floor(dim / heads))
  for (const name of ['rope.dimension_count', 'attention.value_length']) {
    // Partial rotary embedding and unequal heads belong to families that are not supported.
    if (sizeOr(name, headDim) !== headDim)
      throw fieldError(gguf, key(name), `the head size ${headDim}`, size(name))
  }
  const problem = headProblem(heads, kvHeads, headDim)
  if (problem) throw fieldError(gguf, key('attention.head_count'), problem, heads)
  const base = optional(gguf, key('rope.freq_base'), requirePositive) ?? 10000
  return {
    dim,
    layers: size('block_count'),
    heads,
    kvHeads,
    headDim,
    hiddenDim: size('feed_forward_length'),
    vocabSize: gguf.tensors.get('token_embd.weight')?.shape[0] ?? sizeOr('vocab_size', 1),
    contextLength: size('context_length'),
    epsilon: requirePositive(gguf, key('attention.layer_norm_rms_epsilon')),
    ropePairing: traits.ggufPairing,
    ropeFrequencies: ropeFrequencies(base, headDim, ggufScaling(gguf, key)),
    biases: {
      qkv: traits.qkvBias || gguf.tensors.has('blk.0.attn_q.bias'),
      output: gguf.tensors.has('blk.0.attn_output.bias'),
      mlp: gguf.tensors.has('blk.0.ffn_up.bias'),
    },
    queryKeyNorm: traits.queryKeyNorm,
    tiedEmbeddings: gguf.tensors.has('output.weight') ? false : undefined,
  }
}

function ggufScaling(gguf: GgufFile, key: (name: string) => string): RopeScaling {
  const type = optional(gguf, key('rope.scaling.type'), requireString) ?? 'none'
  // Llama 3's scaling lies in the tensor rope_freqs.weight, which is applied when the weights are loaded.
  if (type === 'none' || gguf.tensors.has(ROPE_DIVISORS)) return { type: 'default' }
  if (type === 'linear')
    return { type: 'linear', factor: optional(gguf, key('rope.scaling.factor'), requirePositive) ?? 1 }
  throw fieldError(gguf, key('rope.scaling.type'), 'none or linear', type)
}
