/**
 * Whisper checkpoints of CTranslate2 (`model.bin`, version 6, specification "WhisperSpec"), written anew as a folder of
 * Hugging Face's layout. Numbers are copied as they are.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SafetensorsTensor, writeSafetensors } from '../../src/formats/safetensors/write-safetensors.ts'

interface Variable {
  readonly shape: readonly number[]
  readonly type: number
  readonly data: Uint8Array
}

const FLOAT_TYPES: Readonly<Record<number, { type: 'F32' | 'F16'; bytes: number }>> = {
  0: { type: 'F32', bytes: 4 },
  4: { type: 'F16', bytes: 2 },
}

/** The variables of a `model.bin`, by name. */
export function parseCtranslate2(file: Uint8Array): ReadonlyMap<string, Variable> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  let at = 0
  const advance = (byteLength: number): number => {
    at += byteLength
    return at - byteLength
  }
  const u8 = (): number => view.getUint8(advance(1))
  const u32 = (): number => view.getUint32(advance(4), true)
  const bytes = (byteLength: number): Uint8Array => {
    const start = advance(byteLength)
    return file.subarray(start, at)
  }
  const string = (): string => {
    const byteLength = view.getUint16(advance(2), true) // with the zero at the end
    return new TextDecoder().decode(bytes(byteLength).subarray(0, -1))
  }
  const version = u32()
  const specification = string()
  if (version !== 6 || specification !== 'WhisperSpec')
    throw new Error(`expected version 6 of WhisperSpec, found version ${version} of ${specification}`)
  u32() // revision
  const variables = new Map<string, Variable>()
  for (let count = u32(); count > 0; count--) {
    const name = string()
    const shape = Array.from({ length: u8() }, u32)
    const type = u8()
    variables.set(name, { shape, type, data: bytes(u32()) })
  }
  return variables
}

/** Hugging Face names of one CTranslate2 matrix and its bias; several share its rows in equal parts. */
type Rule = readonly [string, ...string[]]

const ENCODER_LAYER: Readonly<Record<string, Rule>> = {
  'self_attention/layer_norm': ['self_attn_layer_norm'],
  'self_attention/linear_0': ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  'self_attention/linear_1': ['self_attn.out_proj'],
  'ffn/layer_norm': ['final_layer_norm'],
  'ffn/linear_0': ['fc1'],
  'ffn/linear_1': ['fc2'],
}

const DECODER_LAYER: Readonly<Record<string, Rule>> = {
  ...ENCODER_LAYER,
  'attention/layer_norm': ['encoder_attn_layer_norm'],
  'attention/linear_0': ['encoder_attn.q_proj'],
  'attention/linear_1': ['encoder_attn.k_proj', 'encoder_attn.v_proj'],
  'attention/linear_2': ['encoder_attn.out_proj'],
}

const TOP: Readonly<Record<string, Rule>> = {
  'encoder/conv1': ['model.encoder.conv1'],
  'encoder/conv2': ['model.encoder.conv2'],
  'encoder/layer_norm': ['model.encoder.layer_norm'],
  'decoder/layer_norm': ['model.decoder.layer_norm'],
  'decoder/embeddings': ['model.decoder.embed_tokens'],
}

const PARTS: Readonly<Record<string, string>> = {
  weight: 'weight',
  bias: 'bias',
  gamma: 'weight',
  beta: 'bias',
}

function renameVariable(name: string, { shape, type, data }: Variable): SafetensorsTensor[] {
  const float = FLOAT_TYPES[type]
  if (!float || shape.length === 0) return []
  const positions = /^(encoder|decoder)\/position_encodings\/encodings$/.exec(name)
  if (positions)
    return [{ name: `model.${positions[1]}.embed_positions.weight`, type: float.type, shape, data }]
  const slash = name.lastIndexOf('/')
  const [module, part] = [name.slice(0, slash), PARTS[name.slice(slash + 1)]]
  const layer = /^(encoder|decoder)\/layer_(\d+)\/(.+)$/.exec(module)
  const rule = layer ? (layer[1] === 'encoder' ? ENCODER_LAYER : DECODER_LAYER)[layer[3] ?? ''] : TOP[module]
  if (!rule || !part) throw new Error(`no name is known for the variable ${name}`)
  const prefix = layer ? `model.${layer[1]}.layers.${layer[2]}.` : ''
  const rows = (shape[0] as number) / rule.length
  const byteLength = data.byteLength / rule.length
  return rule.flatMap((target, index) => {
    // Whisper's keys have no bias; here it is written out as zeros.
    if (target.endsWith('.k_proj') && part === 'bias') return []
    return {
      name: `${prefix}${target}.${part}`,
      type: float.type,
      shape: [rows, ...shape.slice(1)],
      data: data.subarray(index * byteLength, (index + 1) * byteLength),
    }
  })
}

/** Writes config.json, generation_config.json, tokenizer.json and model.safetensors to `target`. */
export function writeWhisperFolder(
  model: Uint8Array,
  settings: { readonly suppress_ids: number[]; readonly suppress_ids_begin: number[] },
  tokenizer: string,
  target: string,
): void {
  const variables = parseCtranslate2(model)
  const shapeOf = (name: string): readonly number[] => (variables.get(name) as Variable).shape
  const [vocabSize = 0, dim = 0] = shapeOf('decoder/embeddings/weight')
  const layers = (side: string): number =>
    [...variables.keys()].filter((name) => new RegExp(`^${side}/layer_\\d+/ffn/linear_0/weight$`).test(name))
      .length
  const headData = (variables.get('encoder/num_heads') as Variable).data
  const heads = headData[0] as number
  const hiddenDim = shapeOf('encoder/layer_0/ffn/linear_0/weight')[0]
  const isMultilingual = vocabSize >= 51865
  const first = isMultilingual ? 50257 : 50256
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(target, name), `${JSON.stringify(value, null, 1)}\n`)
  write('config.json', {
    model_type: 'whisper',
    architectures: ['WhisperForConditionalGeneration'],
    d_model: dim,
    encoder_layers: layers('encoder'),
    decoder_layers: layers('decoder'),
    encoder_attention_heads: heads,
    decoder_attention_heads: heads,
    encoder_ffn_dim: hiddenDim,
    decoder_ffn_dim: hiddenDim,
    num_mel_bins: shapeOf('encoder/conv1/weight')[1],
    max_source_positions: shapeOf('encoder/position_encodings/encodings')[0],
    max_target_positions: shapeOf('decoder/position_encodings/encodings')[0],
    vocab_size: vocabSize,
    activation_function: 'gelu',
    scale_embedding: false,
    tie_word_embeddings: true,
    bos_token_id: first,
    eos_token_id: first,
    pad_token_id: first,
    decoder_start_token_id: first + 1,
  })
  write('generation_config.json', {
    is_multilingual: isMultilingual,
    suppress_tokens: settings.suppress_ids,
    begin_suppress_tokens: settings.suppress_ids_begin,
    decoder_start_token_id: first + 1,
    eos_token_id: first,
    max_length: 448,
  })
  writeFileSync(join(target, 'tokenizer.json'), tokenizer)
  const tensors = [...variables].flatMap(([name, variable]) => renameVariable(name, variable))
  writeFileSync(join(target, 'model.safetensors'), writeSafetensors(tensors))
}

/** `model.bin`, `config.json` and `tokenizer.json` of a package, the model possibly in parts. */
export function convertWhisper(
  modelFiles: readonly string[],
  configFile: string,
  tokenizerFile: string,
  target: string,
): void {
  const model = Buffer.concat(modelFiles.map((path) => readFileSync(path)))
  const settings = JSON.parse(readFileSync(configFile, 'utf8'))
  writeWhisperFolder(model, settings, readFileSync(tokenizerFile, 'utf8'), target)
}
