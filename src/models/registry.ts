/**
 * The only place where the names of architectures stand. A family is a parser for its configuration, the traits that
 * its name implies, and the kind of its picture part; everything else is steered by the configuration's values.
 */

import type { RopePairing } from '../backend/ops.ts'
import type { GgufFile } from '../formats/gguf/load-gguf.ts'
import { optional, requireNumber, requireString } from '../formats/gguf/metadata.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import { EngineError } from '../shared/errors.ts'
import type { Checkpoint, GgufCheckpoint, SafetensorsCheckpoint } from './checkpoint.ts'
import { ConfigFields } from './config-fields.ts'
import { requireSize } from './gguf-fields.ts'
import {
  type DecoderTraits,
  parseDecoderConfig,
  parseGgufDecoderConfig,
  parseRopeSettings,
  type RopeSettings,
} from './llama/config.ts'
import { renameDecoderTensor } from './llama/weights.ts'
import { type ModelConfig, type ProjectorConfig, patchGrid, type VisionConfig } from './model-config.ts'
import { parsePerceptron, parsePixelShuffle, renameProjectorTensor } from './projector/config.ts'
import { parseClipConfig, parseGgufVisionConfig, parseSiglipConfig } from './vision/config.ts'
import { mendSwappedFeedForward, renameVisionTensor } from './vision/weights.ts'

const LLAMA: DecoderTraits = { qkvBias: false, queryKeyNorm: false, ggufPairing: 'adjacent' }

/** Text models: Hugging Face `model_type` and GGUF `general.architecture` agree. */
const DECODERS: Readonly<Record<string, DecoderTraits>> = {
  llama: LLAMA,
  qwen2: { qkvBias: true, queryKeyNorm: false, ggufPairing: 'half' },
  qwen3: { qkvBias: false, queryKeyNorm: true, ggufPairing: 'half' },
}

/** Vision-language models of Hugging Face, by `model_type`. */
const PICTURES: Readonly<Record<string, 'idefics3' | 'mlp'>> = {
  idefics3: 'idefics3',
  smolvlm: 'idefics3',
  llava: 'mlp',
}

/** A checkpoint understood: what it is, and its tensors by the engine's names. */
export interface ParsedCheckpoint {
  readonly config: ModelConfig
  readonly tensors: ReadonlyMap<string, TensorInfo>
}

type PictureKind = 'idefics3' | 'mlp'

/** Reads the configuration and renames the tensors. Throws `model/unknown-architecture` or `config/…`. */
export function parseCheckpoint(checkpoint: Checkpoint): ParsedCheckpoint {
  return checkpoint.container === 'gguf' ? parseGguf(checkpoint) : parseSafetensors(checkpoint)
}

function parseSafetensors({ name, config, tensors }: SafetensorsCheckpoint): ParsedCheckpoint {
  const file = `${name}/config.json`
  const fields = new ConfigFields(config, file)
  const architecture = fields.string('model_type')
  const pictures = Object.hasOwn(PICTURES, architecture) ? PICTURES[architecture] : undefined
  const renamed = renameAll(
    tensors,
    (tensor) => renameProjectorTensor(tensor) ?? renameVisionTensor(tensor) ?? renameDecoderTensor(tensor),
  )
  if (!pictures) {
    const decoder = parseDecoderConfig(fields, requireTraits(architecture, file), false)
    return { config: { architecture, decoder, vision: undefined, projector: undefined }, tensors: renamed }
  }
  const text = fields.object('text_config', {})
  const decoder = parseDecoderConfig(text, requireTraits(text.string('model_type', 'llama'), file), true)
  const tied = fields.has('tie_word_embeddings') ? fields.boolean('tie_word_embeddings') : undefined
  const { vision, projector } =
    pictures === 'idefics3' ? parseIdefics3(fields) : parseLlava(fields, decoder.dim)
  return {
    config: {
      architecture,
      decoder: { ...decoder, tiedEmbeddings: tied ?? decoder.tiedEmbeddings },
      vision,
      projector,
    },
    tensors: renamed,
  }
}

/** What a GGUF file of a decoder says besides its sizes. */
export interface GgufDecoderTraits {
  /** `general.architecture`. */
  readonly architecture: string
  /** How the rows of Q and K are ordered there. */
  readonly ropePairing: RopePairing
  readonly rope: RopeSettings
}

/** How the decoder of a Hugging Face folder is written as GGUF. Throws as `parseCheckpoint`. */
export function ggufDecoderTraits({ name, config }: SafetensorsCheckpoint): GgufDecoderTraits {
  const file = `${name}/config.json`
  const fields = new ConfigFields(config, file)
  const isNested = Object.hasOwn(PICTURES, fields.string('model_type'))
  const text = isNested ? fields.object('text_config', {}) : fields
  const architecture = text.string('model_type', 'llama')
  const { ggufPairing } = requireTraits(architecture, file)
  return { architecture, ropePairing: ggufPairing, rope: parseRopeSettings(text) }
}

interface PictureConfig {
  readonly vision: VisionConfig
  readonly projector: ProjectorConfig
}

function parseIdefics3(fields: ConfigFields): PictureConfig {
  const vision = parseSiglipConfig(fields.object('vision_config', {}))
  return { vision, projector: parsePixelShuffle(fields, patchGrid(vision)) }
}

function parseLlava(fields: ConfigFields, decoderDim: number): PictureConfig {
  const strategy = fields.string('vision_feature_select_strategy', 'default')
  if (strategy !== 'default') throw fields.error('vision_feature_select_strategy', '"default"', strategy)
  const featureLayer = fields.integer('vision_feature_layer', -2)
  const vision = parseClipConfig(fields.object('vision_config', {}), featureLayer)
  return { vision, projector: parsePerceptron(fields, decoderDim) }
}

function parseGguf({ text, projector: file }: GgufCheckpoint): ParsedCheckpoint {
  const architecture = requireString(text, 'general.architecture')
  const decoder = parseGgufDecoderConfig(text, requireTraits(architecture, text.source.name))
  if (!file)
    return {
      config: { architecture, decoder, vision: undefined, projector: undefined },
      tensors: text.tensors,
    }
  const kind = projectorKind(file)
  const vision = parseGgufVisionConfig(file, kind)
  const projector = parseGgufProjector(file, kind, vision, decoder.dim)
  checkWidths(text, file, decoder.dim)
  const pictures = mendSwappedFeedForward(file.tensors, vision.dim, vision.hiddenDim)
  return {
    config: { architecture, decoder, vision, projector },
    tensors: new Map([...text.tensors, ...pictures]),
  }
}

function projectorKind(file: GgufFile): PictureKind {
  const key = file.metadata.has('clip.vision.projector_type')
    ? 'clip.vision.projector_type'
    : 'clip.projector_type'
  const type = optional(file, key, requireString) ?? 'mlp'
  const kind = type === 'idefics3' || type === 'mlp' ? type : undefined
  if (kind) return kind
  throw new EngineError('model/unknown-architecture', {
    message: `${file.source.name}: the projector type "${type}" is not supported; supported are idefics3, mlp.`,
    hint: 'Use a SmolVLM, SmolVLM2, Idefics3 or LLaVA-1.5 model.',
  })
}

function parseGgufProjector(
  file: GgufFile,
  kind: PictureKind,
  vision: VisionConfig,
  decoderDim: number,
): ProjectorConfig {
  if (kind === 'idefics3') {
    const factor = optional(file, 'clip.vision.projector.scale_factor', requireSize) ?? 2
    return { kind: 'pixel-shuffle', factor: checkFactor(factor, patchGrid(vision), file.source.name) }
  }
  const hiddenDim = file.tensors.get('mm.0.weight')?.shape[0] ?? decoderDim
  return { kind: 'mlp', hiddenDim, activation: 'geluErf', bias: file.tensors.has('mm.0.bias') }
}

function checkFactor(factor: number, grid: number, name: string): number {
  if (grid % factor === 0) return factor
  throw new EngineError('config/bad-field', {
    message: `${name}: "clip.vision.projector.scale_factor": expected a divisor of the ${grid} patches of a side, found ${factor}.`,
    hint: 'The mmproj file is damaged or of a kind that is not supported.',
  })
}

/** A projector that ends in another width than the decoder's was made for another model. */
function checkWidths(text: GgufFile, file: GgufFile, dim: number): void {
  const last = file.tensors.get('mm.2.weight') ?? file.tensors.get('mm.model.fc.weight')
  const width = last?.shape[0] ?? optional(file, 'clip.vision.projection_dim', requireNumber) ?? dim
  if (width === dim) return
  throw new EngineError('model/projector-mismatch', {
    message: `${file.source.name} projects to ${width} numbers, but the text model ${text.source.name} takes ${dim}.`,
    hint: 'Use the mmproj file that was published with this text model (--mmproj FILE).',
  })
}

function requireTraits(architecture: string, file: string): DecoderTraits {
  const traits = Object.hasOwn(DECODERS, architecture) ? DECODERS[architecture] : undefined
  if (traits) return traits
  throw new EngineError('model/unknown-architecture', {
    message: `${file}: the architecture "${architecture}" is not supported; supported are ${[
      ...new Set([...Object.keys(DECODERS), ...Object.keys(PICTURES)]),
    ].join(', ')}.`,
    hint: 'Use a SmolVLM, SmolVLM2, Idefics3, LLaVA-1.5, Llama, SmolLM2, Qwen2 or Qwen3 model.',
  })
}

function renameAll(
  tensors: ReadonlyMap<string, TensorInfo>,
  rename: (name: string) => string | undefined,
): ReadonlyMap<string, TensorInfo> {
  const renamed = new Map<string, TensorInfo>()
  for (const [name, info] of tensors) {
    const known = rename(name)
    if (known !== undefined) renamed.set(known, info)
  }
  return renamed
}
