/** The keys that a GGUF text model states about its decoder. */
import type { GgufEntry } from '../formats/gguf/encode-gguf.ts'

export interface DecoderFacts {
  /** `general.architecture`: llama, qwen2, … */
  readonly architecture: string
  /** `general.name`. */
  readonly name: string
  readonly dim: number
  readonly layers: number
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  readonly hiddenDim: number
  readonly vocabSize: number
  readonly contextLength: number
  readonly epsilon: number
  /** Theta. */
  readonly ropeBase: number
  /** Positions are divided by this. 1: not at all. */
  readonly ropeLinearFactor: number
}

/** Everything that llama.cpp asks for, and what it would else guess: theta has a default that fits few models. */
export function decoderKeys(facts: DecoderFacts): Map<string, GgufEntry> {
  const { architecture } = facts
  const entries = new Map<string, GgufEntry>([
    ['general.architecture', { type: 'string', value: architecture }],
    ['general.type', { type: 'string', value: 'model' }],
    ['general.name', { type: 'string', value: facts.name }],
  ])
  const counts: Readonly<Record<string, number>> = {
    vocab_size: facts.vocabSize,
    context_length: facts.contextLength,
    embedding_length: facts.dim,
    block_count: facts.layers,
    feed_forward_length: facts.hiddenDim,
    'attention.head_count': facts.heads,
    'attention.head_count_kv': facts.kvHeads,
    'attention.key_length': facts.headDim,
    'attention.value_length': facts.headDim,
    'rope.dimension_count': facts.headDim,
  }
  for (const [key, value] of Object.entries(counts)) {
    entries.set(`${architecture}.${key}`, { type: 'u32', value })
  }
  entries.set(`${architecture}.attention.layer_norm_rms_epsilon`, { type: 'f32', value: facts.epsilon })
  entries.set(`${architecture}.rope.freq_base`, { type: 'f32', value: facts.ropeBase })
  if (facts.ropeLinearFactor !== 1) {
    entries.set(`${architecture}.rope.scaling.type`, { type: 'string', value: 'linear' })
    entries.set(`${architecture}.rope.scaling.factor`, { type: 'f32', value: facts.ropeLinearFactor })
  }
  return entries
}
