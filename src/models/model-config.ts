import type { Activation, RopePairing } from '../backend/ops.ts'

/** The activation functions of transformers' feed-forward layers. */
export type Gelu = Extract<Activation, `gelu${string}`>

/** A decoder-only transformer of the Llama kind; families differ in these values only. */
export interface DecoderConfig {
  /** Width of the residual stream. */
  readonly dim: number
  readonly layers: number
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  /** Width of the feed-forward layer. */
  readonly hiddenDim: number
  /** Rows of the embedding matrix. */
  readonly vocabSize: number
  /** Longest sequence the model was made for, in tokens. */
  readonly contextLength: number
  /** Of RMSNorm. */
  readonly epsilon: number
  readonly ropePairing: RopePairing
  /** Angle per position of each pair, scaling applied. */
  readonly ropeFrequencies: Float32Array // (headDim / 2)
  readonly biases: { readonly qkv: boolean; readonly output: boolean; readonly mlp: boolean }
  /** RMSNorm on each query and key head before RoPE (Qwen3). */
  readonly queryKeyNorm: boolean
  /** True: the embedding is the output matrix; undefined: where the file has no other. */
  readonly tiedEmbeddings: boolean | undefined
}

/** A vision transformer: SigLIP as in Idefics3, or CLIP as in LLaVA. */
export interface VisionConfig {
  readonly dim: number
  /** Blocks that run, which may be fewer than the checkpoint has. */
  readonly layers: number
  readonly heads: number
  readonly hiddenDim: number
  /** Side of a frame in pixels. */
  readonly imageSize: number
  readonly patchSize: number
  /** Of LayerNorm. */
  readonly epsilon: number
  readonly activation: Gelu
  readonly patchBias: boolean
  /** A learned token before the patches, dropped from the result. */
  readonly classToken: boolean
  /** LayerNorm before the first block (CLIP), after the last one (SigLIP). */
  readonly preNorm: boolean
  readonly postNorm: boolean
}

/** From the vision tower's width to the decoder's. */
export type ProjectorConfig =
  | { readonly kind: 'pixel-shuffle'; readonly factor: number }
  | {
      readonly kind: 'mlp'
      readonly hiddenDim: number
      readonly activation: Gelu
      readonly bias: boolean
    }

export interface ModelConfig {
  /** As the file names it: `idefics3`, `llava`, `llama`, `qwen2`, … */
  readonly architecture: string
  readonly decoder: DecoderConfig
  readonly vision: VisionConfig | undefined
  readonly projector: ProjectorConfig | undefined
}

/** Patches along one side of a frame; what does not fill a patch is cut off. */
export function patchGrid({ imageSize, patchSize }: VisionConfig): number {
  return Math.floor(imageSize / patchSize)
}

/** Tokens that one frame takes in the prompt. */
export function tokensPerFrame(vision: VisionConfig, projector: ProjectorConfig): number {
  const grid = patchGrid(vision)
  return projector.kind === 'pixel-shuffle' ? Math.floor(grid / projector.factor) ** 2 : grid * grid
}
