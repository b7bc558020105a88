/** How a model wants its pictures: from its preprocessor files, or from the keys of its mmproj file. */
import type { GgufFile } from '../formats/gguf/load-gguf.ts'
import { optional, requireNumber, requireNumbers } from '../formats/gguf/metadata.ts'
import type { PreprocessorSettings } from '../image/preprocess.ts'
import { parsePreprocessorConfig, preprocessorFromProjector } from '../image/preprocessor-config.ts'
import { type ModelConfig, tokensPerFrame } from '../models/model-config.ts'
import { EngineError } from '../shared/errors.ts'
import type { OpenedCheckpoint } from './open-checkpoint.ts'

/** Undefined for a text model. */
export async function loadPreprocessor(
  { checkpoint, files }: OpenedCheckpoint,
  { vision, projector }: ModelConfig,
): Promise<PreprocessorSettings | undefined> {
  if (!vision || !projector) return undefined
  const kind = projector.kind === 'pixel-shuffle' ? 'idefics3' : 'mlp'
  if (checkpoint.container === 'gguf') {
    return fromProjectorFile(checkpoint.projector as GgufFile, kind, vision.imageSize)
  }
  const read = async (name: string) => {
    const value = await files?.read(name)
    return value === undefined ? undefined : { name: files?.label(name) ?? name, value }
  }
  const settings = parsePreprocessorConfig({
    preprocessor: await read('preprocessor_config.json'),
    processor: await read('processor_config.json'),
  })
  checkKind(settings, kind, checkpoint.name)
  checkFrameSize(settings, vision.imageSize, checkpoint.name)
  checkFrameTokens(settings, tokensPerFrame(vision, projector), checkpoint.name)
  return settings
}

function fromProjectorFile(
  file: GgufFile,
  kind: 'idefics3' | 'mlp',
  imageSize: number,
): PreprocessorSettings {
  return preprocessorFromProjector(
    {
      projector: kind,
      imageSize,
      mean: requireNumbers(file, 'clip.vision.image_mean'),
      std: requireNumbers(file, 'clip.vision.image_std'),
      longestEdge: optional(file, 'clip.vision.preproc_image_size', requireNumber),
    },
    file.source.name,
  )
}

function checkKind(settings: PreprocessorSettings, kind: 'idefics3' | 'mlp', name: string): void {
  if ((settings.kind === 'idefics3') === (kind === 'idefics3')) return
  throw new EngineError('model/preprocessor-mismatch', {
    message: `${name}: preprocessor_config.json prepares pictures for ${settings.kind}, but config.json describes a model of the kind ${kind === 'mlp' ? 'llava' : kind}.`,
    hint: 'The two files belong to different models; fetch them again.',
  })
}

/** Frames of another size than the tower's position table would be read wrongly. */
function checkFrameSize(settings: PreprocessorSettings, imageSize: number, name: string): void {
  const found = frameSize(settings)
  if (found === `to ${imageSize} x ${imageSize} pixels`) return
  throw new EngineError('model/frame-size', {
    message: `${name}: pictures are cut ${found} (preprocessor_config.json), but the vision tower takes ${imageSize} x ${imageSize} pixels (config.json).`,
    hint: 'The two files belong to different models; fetch them again.',
  })
}

function checkFrameTokens(settings: PreprocessorSettings, tokens: number, name: string): void {
  if (settings.kind !== 'idefics3' || (settings.tokensPerFrame ?? tokens) === tokens) return
  throw new EngineError('model/frame-tokens', {
    message: `${name}: "image_seq_len" of processor_config.json is ${settings.tokensPerFrame}, but config.json makes ${tokens} tokens of a frame.`,
    hint: 'The two files belong to different models; fetch them again.',
  })
}

function frameSize(settings: PreprocessorSettings): string {
  if (settings.kind === 'idefics3') return `to ${settings.tileEdge} x ${settings.tileEdge} pixels`
  const box = settings.crop ?? (settings.resize && 'width' in settings.resize ? settings.resize : undefined)
  return box ? `to ${box.width} x ${box.height} pixels` : 'to no fixed size'
}
