/** The keys that an mmproj file states about a vision tower, its projector and how pictures are prepared. */
import type { GgufEntry } from '../formats/gguf/encode-gguf.ts'
import type { PreprocessorSettings } from '../image/preprocess.ts'
import { EngineError } from '../shared/errors.ts'

export interface ProjectorFacts {
  /** `general.name`. */
  readonly name: string
  /** `clip.projector_type`. */
  readonly kind: 'idefics3' | 'mlp'
  readonly dim: number
  /** Blocks that run and are written. */
  readonly layers: number
  readonly heads: number
  readonly hiddenDim: number
  readonly imageSize: number
  readonly patchSize: number
  readonly epsilon: number
  /** Of the tower's feed-forward layers. */
  readonly activation: 'geluTanh' | 'geluQuick' | 'geluErf'
  /** Between the layers of an `mlp` projector. */
  readonly projectorActivation: 'geluTanh' | 'geluQuick' | 'geluErf' | undefined
  /** Patches along a side that become one token, for `idefics3`. */
  readonly factor: number | undefined
  /** Width of the decoder. */
  readonly decoderDim: number
  readonly preprocessor: PreprocessorSettings
  /** Where messages say the settings came from. */
  readonly source: string
}

export interface ProjectorKeys {
  readonly metadata: ReadonlyMap<string, GgufEntry>
  readonly notes: readonly string[]
}

/** @throws EngineError `model/not-expressible` for what runtimes of mmproj files cannot be told to compute. */
export function projectorKeys(facts: ProjectorFacts): ProjectorKeys {
  checkActivations(facts)
  const { kind, preprocessor } = facts
  const entries = new Map<string, GgufEntry>([
    ['general.architecture', { type: 'string', value: 'clip' }],
    ['general.type', { type: 'string', value: 'mmproj' }],
    ['general.name', { type: 'string', value: facts.name }],
    ['clip.has_vision_encoder', { type: 'bool', value: true }],
    ['clip.projector_type', { type: 'string', value: kind }],
    ['clip.use_gelu', { type: 'bool', value: facts.activation === 'geluTanh' }],
  ])
  if (kind === 'mlp') entries.set('clip.has_llava_projector', { type: 'bool', value: true })
  const counts: Readonly<Record<string, number | undefined>> = {
    embedding_length: facts.dim,
    feed_forward_length: facts.hiddenDim,
    block_count: facts.layers,
    'attention.head_count': facts.heads,
    projection_dim: facts.decoderDim,
    image_size: facts.imageSize,
    patch_size: facts.patchSize,
    'projector.scale_factor': facts.factor,
    preproc_image_size: preprocessor.kind === 'idefics3' ? longestEdge(preprocessor) : undefined,
  }
  for (const [key, value] of Object.entries(counts)) {
    if (value !== undefined) entries.set(`clip.vision.${key}`, { type: 'u32', value })
  }
  const { mean, std } = preprocessor.normalization
  entries.set('clip.vision.attention.layer_norm_epsilon', { type: 'f32', value: facts.epsilon })
  entries.set('clip.vision.image_mean', { type: 'f32[]', value: Float32Array.from(mean) })
  entries.set('clip.vision.image_std', { type: 'f32[]', value: Float32Array.from(std) })
  if (kind === 'mlp') {
    entries.set('clip.vision.feature_layer', { type: 'i32[]', value: Int32Array.of(facts.layers) })
  }
  return { metadata: entries, notes: notesOn(facts) }
}

/** Without splitting there is one tile whatever the size, which a longest edge of one tile says. */
function longestEdge({ longestEdge, tileEdge, split }: PreprocessorSettings & { kind: 'idefics3' }): number {
  return split ? longestEdge : tileEdge
}

function checkActivations({ activation, projectorActivation, source }: ProjectorFacts): void {
  if (activation === 'geluErf') {
    throw notExpressible(
      source,
      'the vision tower uses GELU by the error function; mmproj files know its tanh form and quick-GELU',
    )
  }
  if (projectorActivation !== undefined && projectorActivation !== 'geluErf') {
    throw notExpressible(
      source,
      `the projector uses ${projectorActivation}; mmproj files of type mlp mean GELU by the error function`,
    )
  }
}

function notExpressible(source: string, what: string): EngineError {
  return new EngineError('model/not-expressible', {
    message: `${source} cannot be written as GGUF: ${what}.`,
    hint: 'Use the Hugging Face folder as it is.',
  })
}

/** What the readers of mmproj files take for granted. */
function notesOn({ preprocessor, imageSize }: ProjectorFacts): string[] {
  const notes: string[] = []
  const { rescaleFactor } = preprocessor.normalization
  if (Math.abs(rescaleFactor * 255 - 1) > 1e-6)
    notes.push(`GGUF cannot say that pixels are multiplied by ${rescaleFactor}; readers divide by 255.`)
  const filter = preprocessor.kind === 'idefics3' ? 'lanczos' : 'bicubic'
  if (preprocessor.filter !== filter)
    notes.push(`GGUF cannot say that pictures are resized by ${preprocessor.filter}; readers use ${filter}.`)
  if (preprocessor.kind === 'idefics3') {
    if (!preprocessor.resize)
      notes.push('GGUF cannot say that pictures keep their size; readers resize them.')
    if (!preprocessor.split && preprocessor.longestEdge !== preprocessor.tileEdge) {
      notes.push(
        'GGUF cannot say that pictures are resized twice before they become one tile; readers resize once.',
      )
    }
    return notes
  }
  const { resize, crop } = preprocessor
  const shortEdge = resize && 'shortestEdge' in resize ? resize.shortestEdge : undefined
  if (shortEdge !== imageSize || crop?.width !== imageSize || crop.height !== imageSize) {
    notes.push(
      `GGUF cannot say how pictures are cut; readers bring the short side to ${imageSize} and take the middle.`,
    )
  }
  return notes
}
