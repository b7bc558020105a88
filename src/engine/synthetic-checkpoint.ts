/**
 * Checkpoints of published shapes with random weights, made in memory while they are read: for measuring speed and
 * memory where the real weights are not at hand. Matrices have the types that the precision would give them, so that
 * loading is what loading a GGUF file of that kind is.
 */
import type { TensorInfo } from '../formats/tensor-info.ts'
import { createRandom } from '../generation/random.ts'
import type { Checkpoint } from '../models/checkpoint.ts'
import { encodeBlocks } from '../quant/encode.ts'
import { byteLengthOf, type TensorType } from '../quant/tensor-types.ts'
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'

interface Shape {
  readonly text: {
    hidden: number
    intermediate: number
    layers: number
    heads: number
    kvHeads: number
    vocabulary: number
  }
  readonly vision: {
    hidden: number
    intermediate: number
    layers: number
    heads: number
    image: number
    patch: number
  }
  readonly scaleFactor: number
}

const BASE_TOWER = { hidden: 768, intermediate: 3072, layers: 12, heads: 12, image: 512, patch: 16 }

/** Sizes from the models' published configurations. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  'smolvlm-256m': {
    text: { hidden: 576, intermediate: 1536, layers: 30, heads: 9, kvHeads: 3, vocabulary: 49280 },
    vision: BASE_TOWER,
    scaleFactor: 4,
  },
  'smolvlm-500m': {
    text: { hidden: 960, intermediate: 2560, layers: 32, heads: 15, kvHeads: 5, vocabulary: 49280 },
    vision: BASE_TOWER,
    scaleFactor: 4,
  },
  'smolvlm-2.2b': {
    text: { hidden: 2048, intermediate: 8192, layers: 24, heads: 32, kvHeads: 32, vocabulary: 49280 },
    vision: { hidden: 1152, intermediate: 4304, layers: 27, heads: 16, image: 384, patch: 14 },
    scaleFactor: 3,
  },
}

/** How matrices are typed: `layers` those of the decoder's blocks, `others` all the rest. */
export interface SyntheticTypes {
  readonly layers: TensorType
  readonly others: TensorType
}

export function createSyntheticCheckpoint(name: string, types: SyntheticTypes): Checkpoint {
  const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name] : undefined
  if (!shape) {
    throw new EngineError('option/invalid', {
      message: `There is no shape "${name}"; shapes are ${Object.keys(SHAPES).join(', ')}.`,
    })
  }
  const tensors = new Map<string, TensorInfo>()
  const add = (tensorName: string, type: TensorType, ...dims: number[]): void => {
    const source = new RandomSource(
      tensorName,
      type,
      dims.reduce((product, size) => product * size, 1),
    )
    tensors.set(tensorName, {
      name: tensorName,
      type,
      shape: dims,
      byteOffset: 0,
      byteLength: source.byteLength,
      source,
    })
  }
  addText(shape, types, add)
  addVision(shape, types, add)
  return { container: 'safetensors', name, config: describe(shape), tensors }
}

type Add = (name: string, type: TensorType, ...dims: number[]) => void

function addText({ text }: Shape, types: SyntheticTypes, add: Add): void {
  const headDim = text.hidden / text.heads
  add('token_embd.weight', types.others, text.vocabulary, text.hidden)
  add('output.weight', types.others, text.vocabulary, text.hidden)
  add('output_norm.weight', 'F32', text.hidden)
  for (let layer = 0; layer < text.layers; layer++) {
    const block = (part: string, ...dims: number[]): void =>
      add(`blk.${layer}.${part}.weight`, dims.length === 1 ? 'F32' : types.layers, ...dims)
    block('attn_norm', text.hidden)
    block('attn_q', text.hidden, text.hidden)
    block('attn_k', text.kvHeads * headDim, text.hidden)
    block('attn_v', text.kvHeads * headDim, text.hidden)
    block('attn_output', text.hidden, text.hidden)
    block('ffn_norm', text.hidden)
    block('ffn_gate', text.intermediate, text.hidden)
    block('ffn_up', text.intermediate, text.hidden)
    block('ffn_down', text.hidden, text.intermediate)
  }
}

function addVision({ text, vision, scaleFactor }: Shape, types: SyntheticTypes, add: Add): void {
  const grid = Math.floor(vision.image / vision.patch)
  const norm = (name: string): void => {
    add(`${name}.weight`, 'F32', vision.hidden)
    add(`${name}.bias`, 'F32', vision.hidden)
  }
  const linear = (name: string, rows: number, columns: number): void => {
    add(`${name}.weight`, columns % 32 === 0 ? types.others : 'F16', rows, columns)
    add(`${name}.bias`, 'F32', rows)
  }
  add('v.patch_embd.weight', 'F16', vision.hidden, 3 * vision.patch * vision.patch)
  add('v.patch_embd.bias', 'F32', vision.hidden)
  add('v.position_embd.weight', 'F32', grid * grid, vision.hidden)
  norm('v.post_ln')
  for (let layer = 0; layer < vision.layers; layer++) {
    const block = `v.blk.${layer}`
    norm(`${block}.ln1`)
    norm(`${block}.ln2`)
    for (const part of ['attn_q', 'attn_k', 'attn_v', 'attn_out'])
      linear(`${block}.${part}`, vision.hidden, vision.hidden)
    linear(`${block}.ffn_up`, vision.intermediate, vision.hidden)
    linear(`${block}.ffn_down`, vision.hidden, vision.intermediate)
  }
  add('mm.model.fc.weight', types.others, text.hidden, vision.hidden * scaleFactor ** 2)
}

/** The shape as the `config.json` of its model would say it. */
function describe({ text, vision, scaleFactor }: Shape): object {
  return {
    model_type: 'idefics3',
    scale_factor: scaleFactor,
    tie_word_embeddings: false,
    text_config: {
      model_type: 'llama',
      hidden_size: text.hidden,
      intermediate_size: text.intermediate,
      num_hidden_layers: text.layers,
      num_attention_heads: text.heads,
      num_key_value_heads: text.kvHeads,
      vocab_size: text.vocabulary,
      rms_norm_eps: 1e-5,
      rope_theta: 100000,
      max_position_embeddings: 8192,
    },
    vision_config: {
      hidden_size: vision.hidden,
      intermediate_size: vision.intermediate,
      num_hidden_layers: vision.layers,
      num_attention_heads: vision.heads,
      image_size: vision.image,
      patch_size: vision.patch,
    },
  }
}

/** Blocks of the pattern that a source repeats: enough that no two neighbouring rows are alike. */
const PATTERN_BLOCKS = 1021

/** A tensor of random numbers with a standard deviation near 0.02, repeated from one pattern per type. */
class RandomSource implements ByteSource {
  readonly name: string
  readonly byteLength: number
  readonly #pattern: Uint8Array

  constructor(name: string, type: TensorType, elements: number) {
    this.name = name
    this.byteLength = byteLengthOf(type, elements)
    this.#pattern = patternOf(type)
  }

  async readInto(target: Uint8Array, byteOffset: number): Promise<void> {
    let from = byteOffset % this.#pattern.length
    for (let to = 0; to < target.length; ) {
      const piece = this.#pattern.subarray(from, from + target.length - to)
      target.set(piece, to)
      to += piece.length
      from = 0
    }
  }

  async close(): Promise<void> {}
}

const patterns = new Map<TensorType, Uint8Array>()

function patternOf(type: TensorType): Uint8Array {
  let pattern = patterns.get(type)
  if (!pattern) {
    pattern = createPattern(type)
    patterns.set(type, pattern)
  }
  return pattern
}

function createPattern(type: TensorType): Uint8Array {
  const random = createRandom(20261130)
  if (type === 'F32' || type === 'F16') {
    const floats = Float32Array.from({ length: PATTERN_BLOCKS * 16 }, () => (random() - 0.5) * 0.07)
    return type === 'F32' ? new Uint8Array(floats.buffer) : encodeBlocks('F16', floats)
  }
  const floats = Float32Array.from({ length: PATTERN_BLOCKS * 256 }, () => (random() - 0.5) * 0.07)
  return encodeBlocks(type, floats)
}
