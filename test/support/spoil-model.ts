/**
 * A small trained vision-language model (two layers of each tower of models/tiny) and many ways to spoil it. Each spoil
 * changes one thing; src/inspect/spoiled-models.test.ts holds what inspection says about it.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeSafetensors } from '../../src/formats/safetensors/write-safetensors.ts'
import { encodeBlocks } from '../../src/quant/encode.ts'
import { encodeModel, type GgufModel, matricesAs, projectorModel, textModel } from './gguf-from-checkpoint.ts'
import { readTensors, type TensorValues } from './read-tensors.ts'
import { SeededRandom } from './seeded-random.ts'
import type { FileContents } from './temporary-folders.ts'

const TINY = fileURLToPath(new URL('../../models/tiny', import.meta.url))
const COPIED = [
  'tokenizer.json',
  'tokenizer_config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'processor_config.json',
  'chat_template.json',
]
/** The last two layers, which know the projector best, become layers 0 and 1. */
const KEPT_LAYERS: Readonly<Record<string, readonly number[]>> = { text_model: [4, 5], vision_model: [6, 7] }

export const PROJECTOR = 'model.connector.modality_projection.proj.weight'
export const EMBEDDING = 'model.text_model.embed_tokens.weight'

type Json = Record<string, unknown>

/** Read once; whoever changes values makes an array of its own. */
let trained: Map<string, TensorValues> | undefined

/** A model in memory, to be changed and written. */
export class SpoilableModel {
  readonly json: Record<string, Json> = {}
  readonly tensors = new Map<string, TensorValues>()
  /** Written as they are; undefined leaves a file out. */
  readonly raw: Record<string, FileContents | undefined> = {}

  constructor() {
    for (const name of [...COPIED, 'config.json'])
      this.json[name] = JSON.parse(readFileSync(`${TINY}/${name}`, 'utf8')) as Json
    this.section('text_config')['num_hidden_layers'] = 2
    this.section('vision_config')['num_hidden_layers'] = 2
    trained ??= readTensors(`${TINY}/model.safetensors`)
    for (const [name, values] of trained) {
      const [, tower = '', layer] = /(text_model|vision_model).*layers\.(\d+)\./.exec(name) ?? []
      const place = layer === undefined ? 0 : KEPT_LAYERS[tower]!.indexOf(Number(layer))
      if (place >= 0) this.tensors.set(name.replace(/layers\.\d+\./, `layers.${place}.`), values)
    }
  }

  get config(): Json {
    return this.json['config.json']!
  }

  section(key: 'text_config' | 'vision_config'): Json {
    return this.config[key] as Json
  }

  /** Replaces the values of all tensors whose name matches. */
  fill(pattern: RegExp, value: (values: Float32Array, shape: readonly number[]) => Float32Array): void {
    for (const [name, { shape, data }] of this.tensors)
      if (pattern.test(name)) this.tensors.set(name, { shape, data: value(data, shape) })
  }

  /** `model.safetensors` in F16. */
  weights(only: (name: string) => boolean = () => true): Uint8Array {
    return writeSafetensors(
      [...this.tensors]
        .filter(([name]) => only(name))
        .map(([name, { shape, data }]) => ({ name, type: 'F16', shape, data: encodeBlocks('F16', data) })),
    )
  }

  /** The files of a Hugging Face folder. */
  files(): Record<string, FileContents> {
    const texts = Object.entries(this.json).map(([name, value]) => [name, JSON.stringify(value)] as const)
    const all: Record<string, FileContents | undefined> = Object.fromEntries(texts)
    if (!('model.safetensors' in this.raw)) all['model.safetensors'] = this.weights()
    Object.assign(all, this.raw)
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, FileContents] => entry[1] !== undefined),
    )
  }
}

/** A GGUF pair of the model in `folder`, matrices in Q8_0. */
export function ggufPair(
  folder: string,
  change: (text: GgufModel, projector: GgufModel) => void = () => {},
): { 'model-q8_0.gguf': Uint8Array; 'mmproj-model-q8_0.gguf': Uint8Array } {
  const text = textModel(folder)
  const projector = projectorModel(folder)
  change(text, projector)
  return {
    'model-q8_0.gguf': encodeModel(text, matricesAs('Q8_0')),
    'mmproj-model-q8_0.gguf': encodeModel(projector, matricesAs('Q8_0')),
  }
}

export function normal(std: number, seed = 1): (values: Float32Array) => Float32Array {
  const random = new SeededRandom(seed)
  return (values) => values.map(() => std * random.normal())
}

export function uniform(limit: number, seed = 2): (values: Float32Array) => Float32Array {
  const random = new SeededRandom(seed)
  return (values) => values.map(() => limit * (2 * random.uniform() - 1))
}

export function constant(value: number): (values: Float32Array) => Float32Array {
  return (values) => values.map(() => value)
}

/** Gram-Schmidt on random rows (or columns where there are more rows). */
export function orthogonal(seed = 3): (values: Float32Array, shape: readonly number[]) => Float32Array {
  const random = new SeededRandom(seed)
  return (values, shape) => {
    const [rows, columns] = [shape[0]!, values.length / shape[0]!]
    const [count, length] = rows <= columns ? [rows, columns] : [columns, rows]
    const vectors: Float64Array[] = []
    while (vectors.length < count) {
      const vector = Float64Array.from({ length }, () => random.normal())
      for (const other of vectors) {
        const dot = vector.reduce((sum, value, index) => sum + value * other[index]!, 0)
        for (const index of vector.keys()) vector[index]! -= dot * other[index]!
      }
      const size = Math.hypot(...vector)
      vectors.push(vector.map((value) => value / size))
    }
    return values.map((_, index) => {
      const [row, column] = [Math.floor(index / columns), index % columns]
      return rows <= columns ? vectors[row]![column]! : vectors[column]![row]!
    })
  }
}

/** The same rows in another order: as well trained as before, but for another space. */
export function shuffledRows(seed = 4): (values: Float32Array, shape: readonly number[]) => Float32Array {
  const random = new SeededRandom(seed)
  return (values, shape) => {
    const columns = values.length / shape[0]!
    const order = Array.from({ length: shape[0]! }, (_, index) => index)
    for (let last = order.length - 1; last > 0; last--) {
      const other = random.below(last + 1)
      ;[order[last], order[other]] = [order[other]!, order[last]!]
    }
    const out = new Float32Array(values.length)
    for (const [row, from] of order.entries())
      out.set(values.subarray(from * columns, (from + 1) * columns), row * columns)
    return out
  }
}

/** Elements at some places get another value. */
export function poke(value: number, every = 997): (values: Float32Array) => Float32Array {
  return (values) => values.map((old, index) => (index % every === 5 ? value : old))
}

/** A safetensors file with its header rewritten; the data stays. */
export function editHeader(
  file: Uint8Array,
  edit: (header: Record<string, Json>) => string | undefined,
): Uint8Array {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true))
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length))) as Record<string, Json>
  const text = new TextEncoder().encode(edit(header) ?? JSON.stringify(header))
  const out = new Uint8Array(8 + text.byteLength + file.byteLength - 8 - length)
  new DataView(out.buffer).setBigUint64(0, BigInt(text.byteLength), true)
  out.set(text, 8)
  out.set(file.subarray(8 + length), 8 + text.byteLength)
  return out
}
