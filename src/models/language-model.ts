/** A model on the device: its decoder, and what turns pictures into rows for it. */
import type { Backend, BufferRef, DeviceBuffer } from '../backend/backend.ts'
import type { KvType } from './blocks/kv-cache.ts'
import { KvCache } from './blocks/kv-cache.ts'
import type { Norm, PreNormBlock } from './blocks/pre-norm-block.ts'
import { planByteLength, Workspace, type WorkspacePlan } from './blocks/workspace.ts'
import {
  Decoder,
  type DecoderLayer,
  type DecoderWeights,
  decoderPlan,
  logitsByteLength,
} from './llama/decoder.ts'
import {
  type DecoderConfig,
  type ModelConfig,
  type ProjectorConfig,
  tokensPerFrame,
  type VisionConfig,
} from './model-config.ts'
import { Projector, type ProjectorWeights, projectorPlan } from './projector/projector.ts'
import { divideFrequencies, ROPE_DIVISORS } from './rope-frequencies.ts'
import { VisionTower, type VisionWeights, visionPlan } from './vision/vision.ts'
import type { WeightLoader } from './weight-loader.ts'
import type { WeightReader } from './weight-reader.ts'

/** Most tokens of one pass: enough for full speed, small enough for a phone's memory. */
export const MAX_PASS_TOKENS = 256

export interface LanguageModelOptions {
  readonly kvType: KvType
  /** Default 256. */
  readonly maxPassTokens?: number
}

/** Encodes one frame of a picture at a time. */
export interface PictureEncoder {
  readonly vision: VisionConfig
  readonly tokensPerFrame: number
  /**
   * Enqueues a frame: pixels (3, imageSize, imageSize) to `out`, f32 (tokensPerFrame, decoder dim). Returns where the
   * projector's input lies until the next call, f32 (patches, vision dim).
   */
  run(pixels: Float32Array, out: BufferRef): BufferRef
}

function pictureRunPlan(vision: VisionConfig, projector: ProjectorConfig) {
  return { ...visionPlan(vision), ...projectorPlan(vision, projector) }
}

/** The run states that share the workspace. */
function runPlans({ decoder, vision, projector }: ModelConfig, passTokens: number): WorkspacePlan<string>[] {
  return [
    decoderPlan(decoder, passTokens),
    ...(vision && projector ? [pictureRunPlan(vision, projector)] : []),
  ]
}

/** Bytes that a model takes while it runs, beside its weights: the workspace and the decoder's logits. */
export function runStateByteLength(config: ModelConfig, maxPassTokens: number): number {
  const plans = runPlans(config, Math.min(maxPassTokens, config.decoder.contextLength))
  return Math.max(...plans.map(planByteLength)) + logitsByteLength(config.decoder)
}

export class LanguageModel {
  readonly config: ModelConfig
  readonly backend: Backend
  readonly decoder: Decoder
  readonly pictures: PictureEncoder | undefined
  /** How the caches of conversations keep keys and values. */
  readonly kvType: KvType
  readonly #workspace: Workspace
  readonly #buffers: readonly DeviceBuffer[]

  constructor(
    backend: Backend,
    config: ModelConfig,
    weights: ModelWeights,
    buffers: readonly DeviceBuffer[],
    { kvType, maxPassTokens = MAX_PASS_TOKENS }: LanguageModelOptions,
  ) {
    this.backend = backend
    this.config = config
    this.kvType = kvType
    this.#buffers = buffers
    const { vision, projector } = config
    const passTokens = Math.min(maxPassTokens, config.decoder.contextLength)
    const picturePlan = vision && projector && pictureRunPlan(vision, projector)
    this.#workspace = new Workspace(backend, runPlans(config, passTokens))
    this.decoder = new Decoder(backend, config.decoder, weights.decoder, this.#workspace, passTokens)
    if (vision && projector && picturePlan && weights.vision && weights.projector) {
      const tower = new VisionTower(backend, vision, weights.vision, this.#workspace)
      const head = new Projector(
        backend,
        vision,
        projector,
        weights.projector,
        this.#workspace.lay(picturePlan),
      )
      this.pictures = {
        vision,
        tokensPerFrame: tokensPerFrame(vision, projector),
        run(pixels, out) {
          const patches = tower.run(pixels)
          head.run(patches, out)
          return patches
        },
      }
    }
  }

  createCache(): KvCache {
    return new KvCache(this.backend, this.config.decoder, this.kvType)
  }

  /** Bytes that one token of a conversation takes. */
  get cacheBytesPerToken(): number {
    return KvCache.bytesPerToken(this.config.decoder, this.kvType)
  }

  dispose(): void {
    this.decoder.dispose()
    this.#workspace.dispose()
    for (const buffer of this.#buffers) this.backend.free(buffer)
  }
}

/** Loads all weights that the configuration names and puts the model together. */
export async function loadLanguageModel(
  backend: Backend,
  config: ModelConfig,
  loader: WeightLoader,
  options: LanguageModelOptions,
): Promise<LanguageModel> {
  try {
    const weights = await readWeights(loader, config)
    const ropeFrequencies = await loadRopeFrequencies(loader, config.decoder)
    await loader.finish()
    return new LanguageModel(
      backend,
      { ...config, decoder: { ...config.decoder, ropeFrequencies } },
      weights,
      loader.takeBuffers(),
      options,
    )
  } catch (error) {
    loader.abandon()
    throw error
  }
}

export interface ModelWeights {
  readonly decoder: DecoderWeights
  readonly vision: VisionWeights | undefined
  readonly projector: ProjectorWeights | undefined
}

/** Asks `reader` for every tensor that the configuration names, in the order of use. */
export async function readWeights(reader: WeightReader, config: ModelConfig): Promise<ModelWeights> {
  const { decoder, vision, projector } = config
  return {
    decoder: await loadDecoder(reader, decoder),
    vision: vision && (await loadVision(reader, vision)),
    projector: vision && projector && (await loadProjector(reader, vision, projector, decoder.dim)),
  }
}

async function loadDecoder(loader: WeightReader, config: DecoderConfig): Promise<DecoderWeights> {
  const { dim, vocabSize } = config
  const tokenEmbedding = await loader.matrix('token_embd.weight', vocabSize, dim, 'embedding')
  const layers: DecoderLayer[] = []
  for (let index = 0; index < config.layers; index++)
    layers.push(await loadDecoderLayer(loader, config, `blk.${index}`))
  const outputNorm = await loader.vector('output_norm.weight', dim)
  const tied = config.tiedEmbeddings ?? !loader.has('output.weight')
  const output = tied ? tokenEmbedding : await loader.matrix('output.weight', vocabSize, dim, 'output')
  return { tokenEmbedding, layers, outputNorm, output }
}

/** Those of the configuration, slowed where the file holds divisors. */
async function loadRopeFrequencies(
  loader: WeightLoader,
  { ropeFrequencies, headDim }: DecoderConfig,
): Promise<Float32Array> {
  if (!loader.has(ROPE_DIVISORS)) return ropeFrequencies
  return divideFrequencies(ropeFrequencies, await loader.floats(ROPE_DIVISORS, headDim / 2))
}

async function loadDecoderLayer(
  loader: WeightReader,
  config: DecoderConfig,
  name: string,
): Promise<DecoderLayer> {
  const { dim, hiddenDim, heads, kvHeads, headDim, biases, queryKeyNorm } = config
  const queries = heads * headDim
  const keys = kvHeads * headDim
  return {
    attnNorm: await loader.vector(`${name}.attn_norm.weight`, dim),
    attnQ: await loader.matrix(`${name}.attn_q.weight`, queries, dim, 'layer'),
    attnK: await loader.matrix(`${name}.attn_k.weight`, keys, dim, 'layer'),
    attnV: await loader.matrix(`${name}.attn_v.weight`, keys, dim, 'layer'),
    attnOutput: await loader.matrix(`${name}.attn_output.weight`, dim, queries, 'layer'),
    attnQBias: await loader.optionalVector(biases.qkv, `${name}.attn_q.bias`, queries),
    attnKBias: await loader.optionalVector(biases.qkv, `${name}.attn_k.bias`, keys),
    attnVBias: await loader.optionalVector(biases.qkv, `${name}.attn_v.bias`, keys),
    attnOutputBias: await loader.optionalVector(biases.output, `${name}.attn_output.bias`, dim),
    attnQNorm: await loader.optionalVector(queryKeyNorm, `${name}.attn_q_norm.weight`, headDim),
    attnKNorm: await loader.optionalVector(queryKeyNorm, `${name}.attn_k_norm.weight`, headDim),
    ffnNorm: await loader.vector(`${name}.ffn_norm.weight`, dim),
    ffnGate: await loader.matrix(`${name}.ffn_gate.weight`, hiddenDim, dim, 'layer'),
    ffnUp: await loader.matrix(`${name}.ffn_up.weight`, hiddenDim, dim, 'layer'),
    ffnDown: await loader.matrix(`${name}.ffn_down.weight`, dim, hiddenDim, 'layer'),
    ffnGateBias: await loader.optionalVector(biases.mlp, `${name}.ffn_gate.bias`, hiddenDim),
    ffnUpBias: await loader.optionalVector(biases.mlp, `${name}.ffn_up.bias`, hiddenDim),
    ffnDownBias: await loader.optionalVector(biases.mlp, `${name}.ffn_down.bias`, dim),
  }
}

async function loadVision(loader: WeightReader, config: VisionConfig): Promise<VisionWeights> {
  const { dim, imageSize, patchSize, classToken } = config
  const norm = async (name: string) => ({
    weight: await loader.vector(`${name}.weight`, dim),
    bias: await loader.vector(`${name}.bias`, dim),
  })
  const grid = Math.floor(imageSize / patchSize)
  const layers: PreNormBlock[] = []
  const patchEmbedding = await loader.matrix('v.patch_embd.weight', dim, 3 * patchSize * patchSize, 'patch')
  const patchBias = await loader.optionalVector(config.patchBias, 'v.patch_embd.bias', dim)
  const classEmbedding = await loader.optionalVector(classToken, 'v.class_embd', dim)
  const positions = await loader.vector('v.position_embd.weight', grid * grid + (classToken ? 1 : 0), dim)
  const preNorm = config.preNorm ? await norm('v.pre_ln') : undefined
  for (let index = 0; index < config.layers; index++) {
    layers.push(await loadVisionLayer(loader, config, `v.blk.${index}`, norm))
  }
  const postNorm = config.postNorm ? await norm('v.post_ln') : undefined
  return { patchEmbedding, patchBias, classEmbedding, positions, preNorm, layers, postNorm }
}

async function loadVisionLayer(
  loader: WeightReader,
  { dim, hiddenDim }: VisionConfig,
  name: string,
  norm: (name: string) => Promise<Norm>,
): Promise<PreNormBlock> {
  return {
    ln1: await norm(`${name}.ln1`),
    attnQ: await loader.matrix(`${name}.attn_q.weight`, dim, dim, 'vision'),
    attnK: await loader.matrix(`${name}.attn_k.weight`, dim, dim, 'vision'),
    attnV: await loader.matrix(`${name}.attn_v.weight`, dim, dim, 'vision'),
    attnOut: await loader.matrix(`${name}.attn_out.weight`, dim, dim, 'vision'),
    attnQBias: await loader.vector(`${name}.attn_q.bias`, dim),
    attnKBias: await loader.vector(`${name}.attn_k.bias`, dim),
    attnVBias: await loader.vector(`${name}.attn_v.bias`, dim),
    attnOutBias: await loader.vector(`${name}.attn_out.bias`, dim),
    ln2: await norm(`${name}.ln2`),
    ffnUp: await loader.matrix(`${name}.ffn_up.weight`, hiddenDim, dim, 'vision'),
    ffnUpBias: await loader.vector(`${name}.ffn_up.bias`, hiddenDim),
    ffnDown: await loader.matrix(`${name}.ffn_down.weight`, dim, hiddenDim, 'vision'),
    ffnDownBias: await loader.vector(`${name}.ffn_down.bias`, dim),
  }
}

async function loadProjector(
  loader: WeightReader,
  vision: VisionConfig,
  config: ProjectorConfig,
  dim: number,
): Promise<ProjectorWeights> {
  if (config.kind === 'pixel-shuffle') {
    const first = await loader.matrix('mm.model.fc.weight', dim, vision.dim * config.factor ** 2, 'projector')
    return { first, firstBias: undefined, second: undefined, secondBias: undefined }
  }
  return {
    first: await loader.matrix('mm.0.weight', config.hiddenDim, vision.dim, 'projector'),
    firstBias: await loader.optionalVector(config.bias, 'mm.0.bias', config.hiddenDim),
    second: await loader.matrix('mm.2.weight', dim, config.hiddenDim, 'projector'),
    secondBias: await loader.optionalVector(config.bias, 'mm.2.bias', dim),
  }
}
