/** The facts of a model: sizes, types, memory, pictures, text. */
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { PreprocessorSettings } from '../image/preprocess.ts'
import { KvCache } from '../models/blocks/kv-cache.ts'
import { type ModelConfig, tokensPerFrame } from '../models/model-config.ts'
import type { ModelCard } from './model-card.ts'
import { MODEL_PARTS, type ModelPart, partOf } from './model-part.ts'

export interface ModelReport {
  readonly name: string
  readonly container: 'safetensors' | 'gguf' | 'unknown'
  /** As the file states it; null when it does not. */
  readonly architecture: string | null
  /** Elements of all tensors, in all and by part. */
  readonly parameters: Readonly<Record<'total' | ModelPart, number>>
  /** By element type, largest first. */
  readonly types: readonly { readonly type: string; readonly tensors: number; readonly bytes: number }[]
  readonly decoder: {
    readonly layers: number
    readonly width: number
    readonly heads: number
    readonly keyValueHeads: number
    readonly vocabulary: number
    readonly contextLength: number
  } | null
  readonly pictures: {
    /** Side of a frame in pixels. */
    readonly frameSize: number
    readonly patchSize: number
    readonly tokensPerFrame: number
    /** Of a picture in full detail, overview included. */
    readonly maxFrames: number
    readonly maxTokens: number
  } | null
  /** Bytes at `contextLength` tokens, with the weights as stored and a 16-bit cache; null without a decoder. */
  readonly memory: {
    readonly contextLength: number
    readonly weightBytes: number
    readonly cacheBytes: number
    readonly totalBytes: number
  } | null
  /** Where the chat template was found. */
  readonly chatTemplate: string | null
  readonly licence: string | null
  readonly languages: readonly string[]
  readonly read: { readonly bytes: number; readonly ofBytes: number; readonly whole: boolean }
}

export interface ModelFacts {
  readonly name: string
  readonly container: ModelReport['container']
  readonly architecture: string | undefined
  readonly config: ModelConfig | undefined
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly preprocessor: PreprocessorSettings | undefined
  readonly chatTemplate: string | undefined
  readonly card: ModelCard
  readonly contextLength: number | undefined
  readonly bytesRead: number
  readonly isWhole: boolean
}

/** Conversations about pictures seldom get longer; the cache of a long-context model would say little. */
const DEFAULT_CONTEXT = 8192

export function describeModel(facts: ModelFacts): ModelReport {
  const tensors = [...facts.tensors.values()]
  const weightBytes = tensors.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const { name, container, config, card } = facts
  return {
    name,
    container,
    architecture: facts.architecture ?? null,
    parameters: countParameters(tensors),
    types: countTypes(tensors),
    decoder: config ? describeDecoder(config) : null,
    pictures: config ? describePictures(config, facts.preprocessor) : null,
    memory: config ? describeMemory(config, weightBytes, facts.contextLength) : null,
    chatTemplate: facts.chatTemplate ?? null,
    licence: card.licence ?? null,
    languages: card.languages,
    read: { bytes: facts.bytesRead, ofBytes: weightBytes, whole: facts.isWhole },
  }
}

function countParameters(tensors: readonly TensorInfo[]): ModelReport['parameters'] {
  const counts = Object.fromEntries(['total', ...MODEL_PARTS].map((part) => [part, 0])) as Record<
    'total' | ModelPart,
    number
  >
  for (const { name, shape } of tensors) {
    const elements = shape.reduce((product, size) => product * size, 1)
    counts.total += elements
    counts[partOf(name)] += elements
  }
  return counts
}

function countTypes(tensors: readonly TensorInfo[]): ModelReport['types'] {
  const types = new Map<string, { type: string; tensors: number; bytes: number }>()
  for (const { type, byteLength } of tensors) {
    const row = types.get(type) ?? { type, tensors: 0, bytes: 0 }
    row.tensors++
    row.bytes += byteLength
    types.set(type, row)
  }
  return [...types.values()].sort((a, b) => b.bytes - a.bytes)
}

function describeDecoder({ decoder }: ModelConfig): ModelReport['decoder'] {
  const { layers, dim, heads, kvHeads, vocabSize, contextLength } = decoder
  return { layers, width: dim, heads, keyValueHeads: kvHeads, vocabulary: vocabSize, contextLength }
}

function describePictures(
  { vision, projector }: ModelConfig,
  preprocessor: PreprocessorSettings | undefined,
): ModelReport['pictures'] {
  if (!vision || !projector) return null
  const tokens = tokensPerFrame(vision, projector)
  const side =
    preprocessor?.kind === 'idefics3' && preprocessor.split
      ? Math.ceil(preprocessor.longestEdge / preprocessor.tileEdge)
      : 1
  const maxFrames = side > 1 ? side * side + 1 : 1
  return {
    frameSize: vision.imageSize,
    patchSize: vision.patchSize,
    tokensPerFrame: tokens,
    maxFrames,
    maxTokens: tokens * maxFrames,
  }
}

function describeMemory(
  { decoder }: ModelConfig,
  weightBytes: number,
  wanted: number | undefined,
): ModelReport['memory'] {
  const contextLength = Math.min(wanted ?? DEFAULT_CONTEXT, decoder.contextLength)
  const cacheBytes = KvCache.bytesPerToken(decoder, 'F16') * contextLength
  return { contextLength, weightBytes, cacheBytes, totalBytes: weightBytes + cacheBytes }
}
