/** Names of a voice's tensors, to those of the published VITS code, which the engine uses and Piper's files mostly keep. */
import type { OnnxFile } from '../../formats/onnx/load-onnx.ts'
import type { TensorInfo } from '../../formats/tensor-info.ts'

/** Beginnings of Hugging Face's names. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^text_encoder\.embed_tokens\./, 'enc_p.emb.'],
  [/^text_encoder\.project\./, 'enc_p.proj.'],
  [/^text_encoder\.encoder\.layers\.(\d+)\.attention\.emb_rel_/, 'enc_p.encoder.attn_layers.$1.emb_rel_'],
  [
    /^text_encoder\.encoder\.layers\.(\d+)\.attention\.(.)(?:ut)?_proj\./,
    'enc_p.encoder.attn_layers.$1.conv_$2.',
  ],
  [/^text_encoder\.encoder\.layers\.(\d+)\.feed_forward\./, 'enc_p.encoder.ffn_layers.$1.'],
  [/^text_encoder\.encoder\.layers\.(\d+)\.layer_norm\./, 'enc_p.encoder.norm_layers_1.$1.'],
  [/^text_encoder\.encoder\.layers\.(\d+)\.final_layer_norm\./, 'enc_p.encoder.norm_layers_2.$1.'],
  [/^duration_predictor\./, 'dp.'],
  [/^decoder\.upsampler\./, 'dec.ups.'],
  [/^decoder\./, 'dec.'],
  [/^embed_speaker\./, 'emb_g.'],
]

const PARTS: readonly (readonly [RegExp, string])[] = [
  [/\.parametrizations\.weight\.original0$/, '.weight_g'],
  [/\.parametrizations\.weight\.original1$/, '.weight_v'],
  [/^dp\.(?=conv_(?:pre|proj|dds)\.)/, 'dp.'],
  [/\.wavenet\./, '.enc.'],
  [/\.convs_dilated\./, '.convs_sep.'],
  [/\.convs_pointwise\./, '.convs_1x1.'],
  [/\.translate$/, '.m'],
  [/\.log_scale$/, '.logs'],
]

/** The engine's name of a tensor in a Hugging Face folder. */
export function renameVitsTensor(name: string): string {
  let renamed = name
  for (const [pattern, replacement] of BEGINNINGS) {
    if (!pattern.test(renamed)) continue
    renamed = renamed.replace(pattern, replacement)
    break
  }
  for (const [pattern, replacement] of PARTS) renamed = renamed.replace(pattern, replacement)
  if (renamed.startsWith('dp.') || renamed.startsWith('flow.')) {
    renamed = renamed
      .replace('.conv_pre.', '.pre.')
      .replace('.conv_proj.', '.proj.')
      .replace('.conv_post.', '.post.')
      .replace('.conv_dds.', '.convs.')
  }
  // The published code counts the flips between flows.
  renamed = renamed
    .replace(/^dp\.flows\.(\d+)\./, (_, index) => `dp.flows.${Math.max(0, 2 * Number(index) - 1)}.`)
    .replace(/^flow\.flows\.(\d+)\./, (_, index) => `flow.flows.${2 * Number(index)}.`)
  return /norm/.test(renamed) ? renamed.replace(/\.weight$/, '.gamma').replace(/\.bias$/, '.beta') : renamed
}

/** Where the exporter keeps e^-logs of the affine step, which it computed in advance. */
export const INVERSE_SCALE = 'dp.flows.0.inverse_scale'

/**
 * Tensors of a Piper voice by the engine's names. The exporter gives numbers to weights that it put together from two
 * parts; they are found beside their biases, which keep their names.
 */
export function namePiperTensors({ tensors, nodes }: OnnxFile): Map<string, TensorInfo> {
  const named = new Map(tensors)
  const give = (name: string, tensor: TensorInfo | undefined): void => {
    if (tensor && !named.has(name)) named.set(name, tensor)
  }
  for (const { operation, inputs } of nodes) {
    const [first = '', second = '', third = ''] = inputs
    if (operation.startsWith('Conv') && third.endsWith('.bias')) {
      give(third.replace(/bias$/, 'weight'), tensors.get(second))
    }
    if (operation === 'Gather' && second === 'input') give('enc_p.emb.weight', tensors.get(first))
    if (operation === 'Gather' && second === 'sid') give('emb_g.weight', tensors.get(first))
  }
  for (const [name, tensor] of tensors) if (/\/dp\/flows\.0\/Exp_/.test(name)) give(INVERSE_SCALE, tensor)
  return named
}
