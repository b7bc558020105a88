/** Names of a vision tower's tensors, from Hugging Face's to those of mmproj files. */

const PREFIXES = [
  'model.vision_model.',
  'model.vision_tower.vision_model.',
  'model.vision_tower.',
  'vision_tower.vision_model.',
  'vision_tower.',
  'vision_model.',
]

const TOP: Readonly<Record<string, string>> = {
  'embeddings.patch_embedding.weight': 'v.patch_embd.weight',
  'embeddings.patch_embedding.bias': 'v.patch_embd.bias',
  'embeddings.position_embedding.weight': 'v.position_embd.weight',
  'embeddings.class_embedding': 'v.class_embd',
  'pre_layrnorm.weight': 'v.pre_ln.weight', // spelled so in published checkpoints
  'pre_layrnorm.bias': 'v.pre_ln.bias',
  'post_layernorm.weight': 'v.post_ln.weight',
  'post_layernorm.bias': 'v.post_ln.bias',
}

const LAYER: Readonly<Record<string, string>> = {
  layer_norm1: 'ln1',
  layer_norm2: 'ln2',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.out_proj': 'attn_out',
  'mlp.fc1': 'ffn_up',
  'mlp.fc2': 'ffn_down',
}

/** The mmproj name of a vision tensor; undefined for a tensor that is none. mmproj names stay as they are. */
export function renameVisionTensor(name: string): string | undefined {
  if (name.startsWith('v.')) return name
  const prefix = PREFIXES.find((candidate) => name.startsWith(candidate))
  if (prefix === undefined) return undefined
  const local = name.slice(prefix.length)
  const top = TOP[local]
  if (top !== undefined) return top
  const layer = /^encoder\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(local)
  const part = layer && LAYER[layer[2] ?? '']
  return part ? `v.blk.${layer?.[1]}.${part}.${layer?.[3]}` : undefined
}

/**
 * Old mmproj files name the two feed-forward matrices the wrong way round: there `ffn_down` takes the tower's width.
 * Swaps the names of weights and biases where that is so.
 */
export function mendSwappedFeedForward<Tensor extends { readonly shape: readonly number[] }>(
  tensors: ReadonlyMap<string, Tensor>,
  dim: number,
  hiddenDim: number,
): Map<string, Tensor> {
  const first = tensors.get('v.blk.0.ffn_down.weight')
  const swapped = dim !== hiddenDim && first?.shape[0] === hiddenDim && first.shape[1] === dim
  const mended = new Map<string, Tensor>()
  for (const [name, tensor] of tensors) {
    const other = swapped
      ? name.replace(
          /^(v\.blk\.\d+\.ffn_)(up|down)\./,
          (_, start, part) => `${start}${part === 'up' ? 'down' : 'up'}.`,
        )
      : name
    mended.set(other, tensor)
  }
  return mended
}
