/** An opened checkpoint as conversion takes it: which tensors a GGUF file has, under which names, and its keys. */
import { decoderKeys } from '../convert/decoder-keys.ts'
import { projectorKeys } from '../convert/projector-keys.ts'
import type { SourceFile, SourceModel, SourceTensor, TensorRole } from '../convert/source-model.ts'
import { tokenizerKeys } from '../convert/tokenizer-keys.ts'
import { type GgufEntry, metadataEntries } from '../formats/gguf/encode-gguf.ts'
import type { GgufFile } from '../formats/gguf/load-gguf.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { SafetensorsCheckpoint } from '../models/checkpoint.ts'
import { readWeights } from '../models/language-model.ts'
import type { ModelConfig } from '../models/model-config.ts'
import type { WeightRole } from '../models/precision.ts'
import { type GgufDecoderTraits, ggufDecoderTraits } from '../models/registry.ts'
import { ROPE_DIVISORS, ropeDivisors } from '../models/rope-frequencies.ts'
import { NO_BUFFER, type WeightReader } from '../models/weight-reader.ts'
import { EngineError } from '../shared/errors.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import type { PreparedModel } from './assemble-model.ts'
import type { JsonFiles } from './json-files.ts'
import type { OpenedCheckpoint } from './open-checkpoint.ts'

export async function describeSource(
  opened: OpenedCheckpoint,
  prepared: PreparedModel,
): Promise<SourceModel> {
  const tensors = await listTensors(prepared)
  const isPicture = ({ name }: SourceTensor): boolean => /^(v|mm)\./.test(name)
  const parts = {
    text: tensors.filter((tensor) => !isPicture(tensor)),
    pictures: tensors.filter(isPicture),
  }
  const { checkpoint } = opened
  if (checkpoint.container === 'safetensors') {
    return describeFolder(checkpoint, opened.files as JsonFiles, prepared, parts)
  }
  const { text, projector } = checkpoint
  const divisors = text.tensors.get(ROPE_DIVISORS)
  return {
    name: prepared.name,
    text: {
      metadata: keptMetadata(text),
      tensors: [...(divisors ? [vector(ROPE_DIVISORS, divisors)] : []), ...parts.text],
    },
    projector: projector && { metadata: keptMetadata(projector), tensors: parts.pictures },
    notes: [],
  }
}

/** Parts of a split model become one file. */
function keptMetadata(file: GgufFile): Map<string, GgufEntry> {
  const entries = metadataEntries(file)
  for (const key of entries.keys()) if (key.startsWith('split.')) entries.delete(key)
  return entries
}

interface Parts {
  readonly text: readonly SourceTensor[]
  readonly pictures: readonly SourceTensor[]
}

async function describeFolder(
  checkpoint: SafetensorsCheckpoint,
  files: JsonFiles,
  { config, preprocessor }: PreparedModel,
  parts: Parts,
): Promise<SourceModel> {
  const traits = ggufDecoderTraits(checkpoint)
  const { decoder, vision, projector } = config
  const name = checkpoint.name.split(/[\\/]/).findLast((part) => part !== '' && part !== '.') ?? 'model'
  const tokenizer = tokenizerKeys(
    {
      tokenizerJson: await files.require('tokenizer.json'),
      tokenizerConfig: await files.read('tokenizer_config.json'),
      generationConfig: await files.read('generation_config.json'),
      chatTemplateJinja: await files.readText('chat_template.jinja'),
      chatTemplateJson: await files.read('chat_template.json'),
    },
    decoder.vocabSize,
    files.label('tokenizer.json'),
  )
  const { architecture, rope } = traits
  const keys = decoderKeys({
    ...decoder,
    architecture,
    name,
    ropeBase: rope.base,
    ropeLinearFactor: rope.scaling.type === 'linear' ? rope.scaling.factor : 1,
  })
  const text: SourceFile = {
    metadata: new Map([...keys, ...tokenizer.metadata]),
    tensors: [...divisorTensors(traits, decoder.headDim), ...reorderHeads(parts.text, config, traits)],
  }
  if (!vision || !projector || !preprocessor) {
    return { name: checkpoint.name, text, projector: undefined, notes: tokenizer.notes }
  }
  const isShuffle = projector.kind === 'pixel-shuffle'
  const pictures = projectorKeys({
    ...vision,
    name,
    kind: isShuffle ? 'idefics3' : 'mlp',
    projectorActivation: isShuffle ? undefined : projector.activation,
    factor: isShuffle ? projector.factor : undefined,
    decoderDim: decoder.dim,
    preprocessor,
    source: checkpoint.name,
  })
  return {
    name: checkpoint.name,
    text,
    projector: { metadata: pictures.metadata, tensors: parts.pictures },
    notes: [...tokenizer.notes, ...pictures.notes],
  }
}

/** Llama 3's scaling is a tensor in GGUF. */
function divisorTensors({ rope }: GgufDecoderTraits, headDim: number): SourceTensor[] {
  if (rope.scaling.type !== 'llama3') return []
  const divisors = ropeDivisors(rope.base, headDim, rope.scaling)
  const bytes = new Uint8Array(divisors.buffer)
  const info: TensorInfo = {
    name: ROPE_DIVISORS,
    type: 'F32',
    shape: [divisors.length],
    byteOffset: 0,
    byteLength: bytes.byteLength,
    source: createMemorySource(ROPE_DIVISORS, bytes),
  }
  return [vector(ROPE_DIVISORS, info)]
}

function vector(name: string, info: TensorInfo): SourceTensor {
  return { name, role: 'vector', shape: info.shape, info }
}

/** Where the architecture pairs neighbours, the rows of Q and K and their biases change places. */
function reorderHeads(
  tensors: readonly SourceTensor[],
  { decoder }: ModelConfig,
  { ropePairing }: GgufDecoderTraits,
): readonly SourceTensor[] {
  if (ropePairing === 'half') return tensors
  if (decoder.queryKeyNorm) {
    throw new EngineError('model/not-expressible', {
      message: 'A decoder that pairs neighbours and normalises query heads has no GGUF architecture.',
      hint: 'Use the Hugging Face folder as it is.',
    })
  }
  return tensors.map((tensor) =>
    /^blk\.\d+\.attn_[qk]\.(weight|bias)$/.test(tensor.name)
      ? { ...tensor, interleavedRows: decoder.headDim }
      : tensor,
  )
}

/** Every tensor that the configuration asks for, in the order of use. */
async function listTensors({ config, tensors, name: model }: PreparedModel): Promise<SourceTensor[]> {
  const list: SourceTensor[] = []
  const add = (name: string, role: TensorRole, shape: readonly number[]): void => {
    const info = tensors.get(name)
    if (!info) {
      throw new EngineError('model/missing-tensor', {
        message: `${model}: the tensor "${name}" is missing; the configuration asks for it.`,
        hint: 'The download may be incomplete, or the configuration belongs to another model.',
      })
    }
    checkSize(info, shape)
    list.push({ name, role, shape: role === 'patch' || role === 'vector' ? info.shape : shape, info })
  }
  const reader: WeightReader = {
    has: (name) => tensors.has(name),
    async matrix(name, rows, columns, role) {
      add(name, roleOf(name, role), [rows, columns])
      return { type: 'F32', rows, columns, data: NO_BUFFER }
    },
    async vector(name, ...shape) {
      add(name, 'vector', shape)
      return NO_BUFFER
    },
    async optionalVector(wanted, name, length) {
      return wanted ? reader.vector(name, length) : undefined
    },
  }
  await readWeights(reader, config)
  return list
}

function checkSize(info: TensorInfo, expected: readonly number[]): void {
  const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1)
  const rowsAgree = expected.length === 1 || info.shape[0] === expected[0]
  if (rowsAgree && count(info.shape) === count(expected)) return
  throw new EngineError('model/wrong-shape', {
    message: `${info.source.name}: tensor "${info.name}" has the shape (${info.shape.join(', ')}), but the configuration asks for (${expected.join(', ')}).`,
    hint: 'The weights and the configuration belong to different models, or the file is damaged.',
  })
}

function roleOf(name: string, role: WeightRole): TensorRole {
  if (role !== 'layer') return role
  return name.includes('.ffn_') ? 'feedForward' : 'attention'
}
