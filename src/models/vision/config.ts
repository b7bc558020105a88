/** Configurations of vision towers: SigLIP as in Idefics3, CLIP as in LLaVA; from JSON and from mmproj metadata. */
import type { GgufFile } from '../../formats/gguf/load-gguf.ts'
import { optional, requireBoolean, requireNumber, requireNumbers } from '../../formats/gguf/metadata.ts'
import type { ConfigFields } from '../config-fields.ts'
import { fieldError, requirePositive, requireSize } from '../gguf-fields.ts'
import { headProblem } from '../head-sizes.ts'
import type { Gelu, VisionConfig } from '../model-config.ts'

export const ACTIVATION_NAMES: Readonly<Record<string, Gelu>> = {
  gelu_pytorch_tanh: 'geluTanh',
  gelu_new: 'geluTanh',
  quick_gelu: 'geluQuick',
  gelu: 'geluErf',
}

/** `vision_config` of Idefics3 and SmolVLM; missing keys have the reference's values. */
export function parseSiglipConfig(fields: ConfigFields): VisionConfig {
  return checkVision(fields, {
    dim: fields.count('hidden_size', 1152),
    layers: fields.count('num_hidden_layers', 12),
    heads: fields.count('num_attention_heads', 16),
    hiddenDim: fields.count('intermediate_size', 3072),
    imageSize: fields.count('image_size', 224),
    patchSize: fields.count('patch_size', 32),
    epsilon: fields.positive('layer_norm_eps', 1e-6),
    activation: fields.choice('hidden_act', ACTIVATION_NAMES, 'gelu_pytorch_tanh'),
    patchBias: true,
    classToken: false,
    preNorm: false,
    postNorm: true,
  })
}

/**
 * `vision_config` of LLaVA-1.5.
 * @param featureLayer Which hidden state the projector reads; negative counts from the end, as in the reference.
 */
export function parseClipConfig(fields: ConfigFields, featureLayer: number): VisionConfig {
  const layers = fields.count('num_hidden_layers', 24)
  const run = featureLayer < 0 ? layers + 1 + featureLayer : featureLayer
  if (run < 1 || run > layers)
    throw fields.error('num_hidden_layers', `at least the feature layer ${featureLayer}`, layers)
  return checkVision(fields, {
    dim: fields.count('hidden_size', 1024),
    layers: run,
    heads: fields.count('num_attention_heads', 16),
    hiddenDim: fields.count('intermediate_size', 4096),
    imageSize: fields.count('image_size', 336),
    patchSize: fields.count('patch_size', 14),
    epsilon: fields.positive('layer_norm_eps', 1e-5),
    activation: fields.choice('hidden_act', ACTIVATION_NAMES, 'quick_gelu'),
    patchBias: false,
    classToken: true,
    preNorm: true,
    postNorm: false,
  })
}

function checkVision(fields: ConfigFields, config: VisionConfig): VisionConfig {
  const { dim, heads, imageSize, patchSize } = config
  const problem = headProblem(heads, heads, dim / heads)
  if (problem) throw fields.error('num_attention_heads', problem, heads)
  if (patchSize > imageSize)
    throw fields.error('patch_size', `at most the image size ${imageSize}`, patchSize)
  return config
}

/** The vision part of an mmproj file. What a tower has besides its blocks is read off the tensors. */
export function parseGgufVisionConfig(gguf: GgufFile, projector: 'idefics3' | 'mlp'): VisionConfig {
  const count = (name: string): number => requireSize(gguf, `clip.vision.${name}`)
  const dim = count('embedding_length')
  const config = {
    dim,
    layers: projector === 'mlp' ? clipLayers(gguf, dim) : count('block_count'),
    heads: count('attention.head_count'),
    hiddenDim: count('feed_forward_length'),
    imageSize: count('image_size'),
    patchSize: count('patch_size'),
    epsilon: requirePositive(gguf, 'clip.vision.attention.layer_norm_epsilon'),
    activation: ggufActivation(gguf),
    patchBias: gguf.tensors.has('v.patch_embd.bias'),
    classToken: gguf.tensors.has('v.class_embd'),
    preNorm: gguf.tensors.has('v.pre_ln.weight'),
    postNorm: projector === 'idefics3',
  }
  const problem = headProblem(config.heads, config.heads, dim / config.heads)
  if (problem) throw fieldError(gguf, 'clip.vision.attention.head_count', problem, config.heads)
  if (config.patchSize > config.imageSize)
    throw fieldError(
      gguf,
      'clip.vision.patch_size',
      `at most the image size ${config.imageSize}`,
      config.patchSize,
    )
  return config
}

/**
 * LLaVA reads hidden state -2. As llama.cpp does: `feature_layer` blocks where that key exists, else one less than
 * `block_count`. The exception are converters that dropped the unused block of CLIP ViT-L and counted 23.
 */
function clipLayers(gguf: GgufFile, dim: number): number {
  const features = gguf.metadata.has('clip.vision.feature_layer') ? readFeatureLayers(gguf) : []
  if (features.length > 0) {
    const last = Math.max(...features)
    if (Number.isInteger(last) && last >= 1) return last
    throw fieldError(gguf, 'clip.vision.feature_layer', 'layers from 1 on', last)
  }
  const stated = requireSize(gguf, 'clip.vision.block_count')
  return dim === 1024 && stated === 23 ? stated : Math.max(1, stated - 1)
}

function readFeatureLayers(gguf: GgufFile): readonly number[] {
  const key = 'clip.vision.feature_layer'
  return typeof gguf.metadata.get(key) === 'number' ? [requireNumber(gguf, key)] : requireNumbers(gguf, key)
}

function ggufActivation(gguf: GgufFile): Gelu {
  if (optional(gguf, 'clip.use_gelu', requireBoolean)) return 'geluTanh'
  return 'geluQuick'
}
