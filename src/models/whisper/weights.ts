/** Names of Whisper's tensors, from Hugging Face's to those of OpenAI and whisper.cpp, which the engine uses. */

const TOP: Readonly<Record<string, string>> = {
  'encoder.embed_positions.weight': 'encoder.positional_embedding',
  'encoder.layer_norm.weight': 'encoder.ln_post.weight',
  'encoder.layer_norm.bias': 'encoder.ln_post.bias',
  'decoder.embed_tokens.weight': 'decoder.token_embedding.weight',
  'decoder.embed_positions.weight': 'decoder.positional_embedding',
  'decoder.layer_norm.weight': 'decoder.ln.weight',
  'decoder.layer_norm.bias': 'decoder.ln.bias',
  'proj_out.weight': 'decoder.output.weight',
}

const LAYER: Readonly<Record<string, string>> = {
  self_attn_layer_norm: 'attn_ln',
  'self_attn.q_proj': 'attn.query',
  'self_attn.k_proj': 'attn.key',
  'self_attn.v_proj': 'attn.value',
  'self_attn.out_proj': 'attn.out',
  encoder_attn_layer_norm: 'cross_attn_ln',
  'encoder_attn.q_proj': 'cross_attn.query',
  'encoder_attn.k_proj': 'cross_attn.key',
  'encoder_attn.v_proj': 'cross_attn.value',
  'encoder_attn.out_proj': 'cross_attn.out',
  final_layer_norm: 'mlp_ln',
  fc1: 'mlp.0',
  fc2: 'mlp.2',
}

/** The engine's name of a tensor; undefined for one that no Whisper model has. */
export function renameWhisperTensor(name: string): string | undefined {
  const local = name.startsWith('model.') ? name.slice('model.'.length) : name
  const top = TOP[local]
  if (top !== undefined) return top
  const layer = /^(encoder|decoder)\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(local)
  if (layer) {
    const part = LAYER[layer[3] ?? '']
    return part && `${layer[1]}.blocks.${layer[2]}.${part}.${layer[4]}`
  }
  return /^(encoder|decoder)\./.test(local) ? local : undefined
}
