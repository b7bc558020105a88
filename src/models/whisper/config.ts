/** Sizes of Whisper models, from Hugging Face `config.json`, from whisper.cpp files and from GGUF metadata. */
import type { GgmlFile } from '../../formats/ggml/load-ggml.ts'
import type { GgufFile } from '../../formats/gguf/load-gguf.ts'
import { optional } from '../../formats/gguf/metadata.ts'
import type { TensorInfo } from '../../formats/tensor-info.ts'
import { EngineError } from '../../shared/errors.ts'
import type { ConfigFields } from '../config-fields.ts'
import { fieldError, requireSize } from '../gguf-fields.ts'
import { headProblem } from '../head-sizes.ts'

/** One of the two transformers. */
export interface WhisperSideConfig {
  readonly layers: number
  readonly heads: number
  /** Width of the feed-forward layer. */
  readonly hiddenDim: number
  /** Rows of the table of positions: 1500 of sound, 448 of text. */
  readonly positions: number
}

export interface WhisperConfig {
  /** Width of both residual streams. */
  readonly dim: number
  readonly encoder: WhisperSideConfig
  readonly decoder: WhisperSideConfig
  readonly melBands: number
  readonly vocabSize: number
  /** The embedding is the output matrix too. True of every published model. */
  readonly tiedEmbeddings: boolean
}

/** Of LayerNorm, in every Whisper model. */
export const WHISPER_EPSILON = 1e-5

export function parseWhisperConfig(fields: ConfigFields): WhisperConfig {
  fields.choice('activation_function', { gelu: true }, 'gelu')
  if (fields.boolean('scale_embedding', false)) throw fields.error('scale_embedding', 'false')
  const dim = fields.count('d_model')
  const side = (name: string, positions: string): WhisperSideConfig => {
    const key = `${name}_attention_heads`
    const heads = fields.count(key)
    const problem = headProblem(heads, heads, dim / heads)
    if (problem) throw fields.error(key, problem, heads)
    return {
      layers: fields.count(`${name}_layers`),
      heads,
      hiddenDim: fields.count(`${name}_ffn_dim`),
      positions: fields.count(positions),
    }
  }
  return {
    dim,
    encoder: side('encoder', 'max_source_positions'),
    decoder: side('decoder', 'max_target_positions'),
    melBands: fields.count('num_mel_bins'),
    vocabSize: fields.count('vocab_size'),
    tiedEmbeddings: fields.boolean('tie_word_embeddings', true),
  }
}

export function parseGgmlWhisperConfig({ sizes, source }: GgmlFile): WhisperConfig {
  const refuse = (what: string, expected: string, found: number): EngineError =>
    new EngineError('config/bad-field', {
      message: `${source.name}: ${what}: expected ${expected}, found ${found}.`,
      hint: 'The file is damaged or of a kind that is not supported.',
    })
  const { audioDim: dim, textDim } = sizes
  if (textDim !== dim) throw refuse('the width of the decoder', `that of the encoder, ${dim}`, textDim)
  for (const heads of [sizes.audioHeads, sizes.textHeads]) {
    const problem = headProblem(heads, heads, dim / heads)
    if (problem) throw refuse('the number of heads', problem, heads)
  }
  return {
    dim,
    encoder: {
      layers: sizes.audioLayers,
      heads: sizes.audioHeads,
      hiddenDim: dim * 4,
      positions: sizes.audioPositions,
    },
    decoder: {
      layers: sizes.textLayers,
      heads: sizes.textHeads,
      hiddenDim: dim * 4,
      positions: sizes.textPositions,
    },
    melBands: sizes.melBands,
    vocabSize: sizes.vocabSize,
    tiedEmbeddings: true,
  }
}

/** Every published Whisper model has heads of this size, which GGUF files that do not say are taken to have. */
const USUAL_HEAD_DIM = 64

/**
 * GGUF files of Whisper agree on little more than `general.architecture`, so sizes are read off the tensors.
 * @param tensors By the engine's names.
 */
export function parseGgufWhisperConfig(
  gguf: GgufFile,
  tensors: ReadonlyMap<string, TensorInfo>,
): WhisperConfig {
  const shape = (name: string): readonly number[] => {
    const info = tensors.get(name)
    if (info) return info.shape
    throw new EngineError('model/missing-tensor', {
      message: `${gguf.source.name}: the tensor "${name}" is missing.`,
      hint: 'The file is no whole Whisper model, or names its tensors in a way that is not known.',
    })
  }
  const [dim = 0, melBands = 0] = shape('encoder.conv1.weight')
  const side = (name: 'encoder' | 'decoder'): WhisperSideConfig => {
    const key = `whisper.${name}.attention.head_count`
    const heads = optional(gguf, key, requireSize) ?? dim / USUAL_HEAD_DIM
    const problem = headProblem(heads, heads, dim / heads)
    if (problem) throw fieldError(gguf, key, problem, heads)
    let layers = 0
    while (tensors.has(`${name}.blocks.${layers}.mlp.0.weight`)) layers++
    return {
      layers,
      heads,
      hiddenDim: shape(`${name}.blocks.0.mlp.0.weight`)[0] ?? 0,
      positions: shape(`${name}.positional_embedding`)[0] ?? 0,
    }
  }
  return {
    dim,
    encoder: side('encoder'),
    decoder: side('decoder'),
    melBands,
    vocabSize: shape('decoder.token_embedding.weight')[0] ?? 0,
    tiedEmbeddings: true,
  }
}
