/**
 * GGUF files of the small reference models, made from their Hugging Face folders as llama.cpp's converters do. Held
 * against files of the Python `gguf` package in src/engine/gguf-models.test.ts.
 */
import { readFileSync } from 'node:fs'
import type { GgufEntry, GgufTensorData } from '../../src/formats/gguf/encode-gguf.ts'
import { encodeGguf } from '../../src/formats/gguf/encode-gguf.ts'
import type { GgufValue, GgufValueType } from '../../src/formats/gguf/value-types.ts'
import { encodeBlocks } from '../../src/quant/encode.ts'
import { TENSOR_TYPES, type TensorType } from '../../src/quant/tensor-types.ts'
import { readTensors, type TensorValues } from './read-tensors.ts'

export interface GgufModel {
  readonly metadata: Map<string, GgufEntry>
  readonly tensors: Map<string, TensorValues>
}

interface JsonConfig {
  readonly [key: string]: unknown
}

const VISION = /vision_|connector|multi_modal/

/** Ends of tensor names and what GGUF calls them. */
const TOP_NAMES: Readonly<Record<string, string>> = {
  'embed_tokens.weight': 'token_embd.weight',
  'lm_head.weight': 'output.weight',
  'norm.weight': 'output_norm.weight',
  'embeddings.patch_embedding.weight': 'v.patch_embd.weight',
  'embeddings.patch_embedding.bias': 'v.patch_embd.bias',
  'embeddings.position_embedding.weight': 'v.position_embd.weight',
  'embeddings.class_embedding': 'v.class_embd',
  'pre_layrnorm.weight': 'v.pre_ln.weight',
  'pre_layrnorm.bias': 'v.pre_ln.bias',
  'post_layernorm.weight': 'v.post_ln.weight',
  'post_layernorm.bias': 'v.post_ln.bias',
  'modality_projection.proj.weight': 'mm.model.fc.weight',
  'linear_1.weight': 'mm.0.weight',
  'linear_1.bias': 'mm.0.bias',
  'linear_2.weight': 'mm.2.weight',
  'linear_2.bias': 'mm.2.bias',
}

const LAYER_NAMES: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.out_proj': 'attn_out',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  'mlp.fc1': 'ffn_up',
  'mlp.fc2': 'ffn_down',
  layer_norm1: 'ln1',
  layer_norm2: 'ln2',
}

function ggufName(name: string): string {
  const [, index, part, kind] = /layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? []
  if (part !== undefined) return `${VISION.test(name) ? 'v.' : ''}blk.${index}.${LAYER_NAMES[part]}.${kind}`
  const [, top] = Object.entries(TOP_NAMES).find(([end]) => name === end || name.endsWith(`.${end}`))!
  return top
}

/** The text model of a folder, in F32. */
export function textModel(folder: string): GgufModel {
  const config = readJson(folder, 'config.json')
  const text = (config['text_config'] ?? config) as JsonConfig
  const arch = text['model_type'] as string
  const heads = text['num_attention_heads'] as number
  const kvHeads = text['num_key_value_heads'] as number
  const dim = text['hidden_size'] as number
  const headDim = (text['head_dim'] as number | null | undefined) ?? dim / heads
  const rope = (text['rope_parameters'] ?? text) as JsonConfig
  const metadata = entries({
    'general.architecture': ['string', arch],
    [`${arch}.context_length`]: ['u32', text['max_position_embeddings'] as number],
    [`${arch}.embedding_length`]: ['u32', dim],
    [`${arch}.block_count`]: ['u32', text['num_hidden_layers'] as number],
    [`${arch}.feed_forward_length`]: ['u32', text['intermediate_size'] as number],
    [`${arch}.attention.head_count`]: ['u32', heads],
    [`${arch}.attention.head_count_kv`]: ['u32', kvHeads],
    [`${arch}.attention.layer_norm_rms_epsilon`]: ['f32', text['rms_norm_eps'] as number],
    [`${arch}.rope.freq_base`]: ['f32', rope['rope_theta'] as number],
    [`${arch}.vocab_size`]: ['u32', text['vocab_size'] as number],
    [`${arch}.attention.key_length`]: ['u32', headDim],
    [`${arch}.attention.value_length`]: ['u32', headDim],
    [`${arch}.rope.dimension_count`]: ['u32', headDim],
  })
  for (const [key, entry] of tokenizerKeys(folder)) metadata.set(key, entry)
  const tensors = new Map<string, TensorValues>()
  if (rope['rope_type'] === 'llama3') {
    tensors.set('rope_freqs.weight', { shape: [headDim / 2], data: ropeDivisors(rope, headDim) })
  }
  for (const [name, values] of readTensors(`${folder}/model.safetensors`)) {
    if (VISION.test(name)) continue
    const permuted = arch === 'llama' && /[qk]_proj/.test(name)
    tensors.set(
      ggufName(name),
      permuted ? permuteRows(values, name.includes('q_proj') ? heads : kvHeads) : values,
    )
  }
  return { metadata, tensors }
}

/** The tower and projector of a folder, in F32. */
export function projectorModel(folder: string): GgufModel {
  const config = readJson(folder, 'config.json')
  const vision = config['vision_config'] as JsonConfig
  const text = config['text_config'] as JsonConfig
  const pictures = readJson(folder, 'preprocessor_config.json')
  const isIdefics3 = config['model_type'] === 'idefics3'
  const count = (key: string): [GgufValueType, GgufValue] => ['u32', vision[key] as number]
  const metadata = entries({
    'general.architecture': ['string', 'clip'],
    'general.type': ['string', 'mmproj'],
    'clip.has_vision_encoder': ['bool', true],
    'clip.vision.embedding_length': count('hidden_size'),
    'clip.vision.attention.head_count': count('num_attention_heads'),
    'clip.vision.feed_forward_length': count('intermediate_size'),
    'clip.vision.block_count': count('num_hidden_layers'),
    'clip.vision.projection_dim': ['u32', text['hidden_size'] as number],
    'clip.vision.attention.layer_norm_epsilon': ['f32', vision['layer_norm_eps'] as number],
    'clip.vision.image_size': count('image_size'),
    'clip.vision.patch_size': count('patch_size'),
    'clip.vision.image_mean': ['f32[]', Float32Array.from(pictures['image_mean'] as number[])],
    'clip.vision.image_std': ['f32[]', Float32Array.from(pictures['image_std'] as number[])],
    'clip.projector_type': ['string', isIdefics3 ? 'idefics3' : 'mlp'],
    ...(isIdefics3
      ? {
          'clip.use_gelu': ['bool', true],
          'clip.vision.projector.scale_factor': ['u32', config['scale_factor'] as number],
          'clip.vision.preproc_image_size': [
            'u32',
            (pictures['size'] as { longest_edge: number }).longest_edge,
          ],
        }
      : {}),
  })
  const tensors = new Map<string, TensorValues>()
  for (const [name, values] of readTensors(`${folder}/model.safetensors`)) {
    if (VISION.test(name)) tensors.set(ggufName(name), values)
  }
  return { metadata, tensors }
}

export type ChooseType = (name: string, shape: readonly number[]) => TensorType

/** Matrices in `type` where their rows are whole blocks, else in F16; everything else stays float32, as converters do. */
export function matricesAs(type: TensorType): ChooseType {
  return (name, shape) => {
    if (shape.length < 2 || name.includes('position_embd')) return 'F32'
    const rowLength = shape.at(-1) as number
    return rowLength % TENSOR_TYPES[type].blockLength === 0 ? type : 'F16'
  }
}

/** A whole file. Default: all tensors F32. */
export function encodeModel({ metadata, tensors }: GgufModel, choose: ChooseType = () => 'F32'): Uint8Array {
  const data: GgufTensorData[] = [...tensors].map(([name, { shape, data }]) => {
    const type = choose(name, shape)
    return { name, type, shape, data: encodeBlocks(type, data) }
  })
  return encodeGguf({ metadata, tensors: data })
}

export function entries(
  values: Readonly<Record<string, readonly [GgufValueType, GgufValue]>>,
): Map<string, GgufEntry> {
  return new Map(Object.entries(values).map(([key, [type, value]]) => [key, { type, value }]))
}

function readJson(folder: string, name: string): JsonConfig {
  return JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as JsonConfig
}

export function tokenizerKeys(folder: string): Map<string, GgufEntry> {
  const { model, added_tokens: added } = readJson(folder, 'tokenizer.json') as unknown as {
    model: { vocab: Record<string, number>; merges: [string, string][] }
    added_tokens: { id: number; content: string; special: boolean }[]
  }
  const settings = readJson(folder, 'tokenizer_config.json')
  const ids = new Map(Object.entries(model.vocab))
  for (const { content, id } of added) ids.set(content, id)
  const special = new Set(added.filter((token) => token.special).map(({ content }) => content))
  const tokens = [...ids.keys()].sort((a, b) => ids.get(a)! - ids.get(b)!)
  return entries({
    'tokenizer.ggml.model': ['string', 'gpt2'],
    'tokenizer.ggml.pre': ['string', 'smollm'],
    'tokenizer.ggml.tokens': ['string[]', tokens],
    'tokenizer.ggml.token_type': ['i32[]', Int32Array.from(tokens, (token) => (special.has(token) ? 3 : 1))],
    'tokenizer.ggml.merges': ['string[]', model.merges.map((pair) => pair.join(' '))],
    'tokenizer.ggml.bos_token_id': ['u32', ids.get(settings['bos_token'] as string)!],
    'tokenizer.ggml.eos_token_id': ['u32', ids.get(settings['eos_token'] as string)!],
    'tokenizer.ggml.add_bos_token': ['bool', false],
    'tokenizer.chat_template': ['string', settings['chat_template'] as string],
  })
}

/** Rows of Q and K from halves of a head to neighbours. */
function permuteRows({ shape, data }: TensorValues, heads: number): TensorValues {
  const [rows, columns] = shape as [number, number]
  const headDim = rows / heads
  const result = new Float32Array(data.length)
  for (let row = 0; row < rows; row++) {
    const head = Math.floor(row / headDim)
    const place = row % headDim
    const from = head * headDim + (place % 2) * (headDim / 2) + Math.floor(place / 2)
    result.set(data.subarray(from * columns, (from + 1) * columns), row * columns)
  }
  return { shape, data: result }
}

function ropeDivisors(rope: JsonConfig, headDim: number): Float32Array {
  const number = (key: string): number => rope[key] as number
  const original = number('original_max_position_embeddings')
  const low = number('low_freq_factor')
  const high = number('high_freq_factor')
  return Float32Array.from({ length: headDim / 2 }, (_, i) => {
    const wavelength = 2 * Math.PI * number('rope_theta') ** ((2 * i) / headDim)
    if (wavelength < original / high) return 1
    if (wavelength > original / low) return number('factor')
    const smooth = (original / wavelength - low) / (high - low)
    return 1 / ((1 - smooth) / number('factor') + smooth)
  })
}
