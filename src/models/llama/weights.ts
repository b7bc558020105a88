/** Names of a decoder's tensors: from Hugging Face's to the ones of GGUF, which the engine uses throughout. */

const PREFIXES = [
  'model.text_model.',
  'model.language_model.',
  'language_model.model.',
  'language_model.',
  'model.',
]

const TOP: Readonly<Record<string, string>> = {
  'embed_tokens.weight': 'token_embd.weight',
  'norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
}

const LAYER: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
}

/** The GGUF name of a decoder tensor; undefined for a tensor that is none. GGUF names stay as they are. */
export function renameDecoderTensor(name: string): string | undefined {
  if (/^(token_embd|output|output_norm|rope_freqs|blk\.\d+\.[a-z_]+)\.(weight|bias)$/.test(name)) return name
  const prefix = PREFIXES.find((candidate) => name.startsWith(candidate)) ?? ''
  const local = name.slice(prefix.length)
  const top = TOP[local]
  if (top !== undefined) return top
  const layer = /^layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(local)
  const part = layer && LAYER[layer[2] ?? '']
  return part ? `blk.${layer?.[1]}.${part}.${layer?.[3]}` : undefined
}
