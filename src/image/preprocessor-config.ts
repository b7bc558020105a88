import { EngineError } from '../shared/errors.ts'
import type { ClipSettings } from './clip.ts'
import type { Idefics3Settings } from './idefics3.ts'
import type { Normalization } from './normalize.ts'
import type { PreprocessorSettings } from './preprocess.ts'
import { filterOfPillowNumber, type ResampleFilter } from './resample-filter.ts'
import { type JsonFile, MAX_EDGE, SettingsFields } from './settings-fields.ts'

/*
 * Picture settings of a model: from the files of a Hugging Face repository or from the keys of a GGUF projector.
 * Where a file leaves a key out (or says null), the reference's class defaults count: Transformers 5.18
 * `models/idefics3/image_processing_pil_idefics3.py` and `models/clip/image_processing_pil_clip.py`.
 */

export interface PreprocessorFiles {
  /** `preprocessor_config.json`. */
  preprocessor?: JsonFile | undefined
  /** `processor_config.json`: `image_seq_len`, and since Transformers 5 also the settings, under `image_processor`. */
  processor?: JsonFile | undefined
}

/** What a projector GGUF says about pictures. */
export interface ProjectorSettings {
  /** `clip.projector_type`. */
  projector: 'idefics3' | 'mlp'
  /** `clip.vision.image_size`: side of a tile in pixels. */
  imageSize: number
  /** `clip.vision.image_mean`. */
  mean: readonly number[]
  /** `clip.vision.image_std`. */
  std: readonly number[]
  /** `clip.vision.preproc_image_size`; missing or 0 in files made before September 2025: then 4 tiles. */
  longestEdge?: number | undefined
}

const IDEFICS3_TYPES = ['Idefics3ImageProcessor', 'SmolVLMImageProcessor']
const CLIP_TYPES = ['CLIPImageProcessor', 'CLIPFeatureExtractor', 'LlavaImageProcessor']

const HALF: Normalization['mean'] = [0.5, 0.5, 0.5]
const CLIP_MEAN: Normalization['mean'] = [0.48145466, 0.4578275, 0.40821073]
const CLIP_STD: Normalization['std'] = [0.26862954, 0.26130258, 0.27577711]

/** Edges of the reference's defaults, for files that leave them out. */
const DEFAULT_TILE_EDGE = 364
const DEFAULT_CLIP_EDGE = 224

/** Released models of this family see four tiles along the long side. */
const TILES_ALONG_LONG_SIDE = 4

/**
 * Reads a model's picture settings, old and new spellings.
 *
 * Throws `config/missing-file` without any settings, `config/unsupported` for a kind of processor that is not known,
 * `config/invalid-value` for a field of the wrong type or size; each names the file and the field.
 */
export function parsePreprocessorConfig(files: PreprocessorFiles): PreprocessorSettings {
  const processor = files.processor && new SettingsFields(files.processor.name, '', files.processor.value)
  const fields =
    processor?.child('image_processor') ??
    (files.preprocessor && new SettingsFields(files.preprocessor.name, '', files.preprocessor.value))
  if (fields === undefined) {
    throw new EngineError('config/missing-file', {
      message: 'The model says nothing about pictures: expected preprocessor_config.json, found none.',
      hint: 'Put preprocessor_config.json of the model repository beside config.json.',
    })
  }
  return kindOf(fields) === 'idefics3' ? readIdefics3(fields, processor) : readClip(fields)
}

/**
 * The settings that go with a projector GGUF: stage sizes and filters of the families as released.
 * `name` is the file, for messages. Throws `config/invalid-value` for numbers that cannot be.
 */
export function preprocessorFromProjector(projector: ProjectorSettings, name: string): PreprocessorSettings {
  const edge = projector.longestEdge === 0 ? undefined : projector.longestEdge
  const fields = new SettingsFields(name, 'clip.vision.', {
    image_size: projector.imageSize,
    image_mean: projector.mean,
    image_std: projector.std,
    preproc_image_size: edge,
  })
  const tileEdge = fields.edge('image_size', DEFAULT_TILE_EDGE)
  const normalization: Normalization = {
    rescaleFactor: 1 / 255,
    mean: fields.triple('image_mean', HALF),
    std: fields.deviations('image_std', HALF),
  }
  switch (projector.projector) {
    case 'idefics3':
      return {
        kind: 'idefics3',
        resize: true,
        longestEdge: fields.edge('preproc_image_size', Math.min(TILES_ALONG_LONG_SIDE * tileEdge, MAX_EDGE)),
        tileEdge,
        split: true,
        filter: 'lanczos',
        normalization,
        tokensPerFrame: undefined,
      }
    case 'mlp':
      return {
        kind: 'clip',
        resize: { shortestEdge: tileEdge },
        crop: { width: tileEdge, height: tileEdge },
        filter: 'bicubic',
        normalization,
      }
    default:
      return projector.projector satisfies never
  }
}

/** The class name decides; files without one are told apart by the keys that only tiling models have. */
function kindOf(fields: SettingsFields): PreprocessorSettings['kind'] {
  const type = fields.text('image_processor_type') ?? fields.text('feature_extractor_type')
  if (type === undefined)
    return fields.has('max_image_size') || fields.has('do_image_splitting') ? 'idefics3' : 'clip'
  const plain = type.replace(/(Fast|Pil)$/, '')
  if (IDEFICS3_TYPES.includes(plain)) return 'idefics3'
  if (CLIP_TYPES.includes(plain)) return 'clip'
  throw new EngineError('config/unsupported', {
    message:
      `${fields.where('image_processor_type')}: expected one of ${[...IDEFICS3_TYPES, ...CLIP_TYPES].join(', ')}, ` +
      `found "${type}".`,
    hint: 'This family of vision models is not supported; take a SmolVLM, Idefics3 or LLaVA-1.5 model.',
  })
}

function readIdefics3(fields: SettingsFields, processor: SettingsFields | undefined): Idefics3Settings {
  return {
    kind: 'idefics3',
    resize: fields.flag('do_resize', true),
    // No upper limit: stage 1 has a cap of its own.
    longestEdge:
      longestEdgeOf(fields, 'size')?.count('longest_edge') ?? TILES_ALONG_LONG_SIDE * DEFAULT_TILE_EDGE,
    tileEdge:
      longestEdgeOf(fields, 'max_image_size')?.edge('longest_edge', DEFAULT_TILE_EDGE) ?? DEFAULT_TILE_EDGE,
    split: fields.flag('do_image_splitting', true),
    filter: readFilter(fields, 'lanczos'),
    normalization: readNormalization(fields, HALF, HALF),
    tokensPerFrame: processor?.count('image_seq_len'),
  }
}

/** The object of a size that must hold a longest edge; undefined when the file leaves it out. */
function longestEdgeOf(fields: SettingsFields, key: string): SettingsFields | undefined {
  const size = fields.child(key)
  if (size !== undefined && !size.has('longest_edge')) size.fail('longest_edge', 'a number of pixels')
  return size
}

function readClip(fields: SettingsFields): ClipSettings {
  if (fields.flag('do_pad', false)) fields.fail('do_pad', 'false: padding to a square is not supported')
  const crop = readCrop(fields)
  return {
    kind: 'clip',
    resize: fields.flag('do_resize', true) ? readClipSize(fields) : undefined,
    crop: fields.flag('do_center_crop', true) ? crop : undefined,
    filter: readFilter(fields, 'bicubic'),
    normalization: readNormalization(fields, CLIP_MEAN, CLIP_STD),
  }
}

/** `{"shortest_edge": n}`, `{"height": n, "width": n}`, or as in old files plain `n`: the short side. */
function readClipSize(fields: SettingsFields): NonNullable<ClipSettings['resize']> {
  if (fields.isNumber('size')) return { shortestEdge: fields.edge('size', DEFAULT_CLIP_EDGE) }
  const size = fields.child('size')
  if (size === undefined) return { shortestEdge: DEFAULT_CLIP_EDGE }
  if (size.has('longest_edge')) size.fail('longest_edge', 'no such field beside "shortest_edge"')
  if (size.has('shortest_edge')) return { shortestEdge: size.edge('shortest_edge', DEFAULT_CLIP_EDGE) }
  return readBox(size)
}

/** `{"height": n, "width": n}`, or as in old files plain `n`: a square. */
function readCrop(fields: SettingsFields): { width: number; height: number } {
  if (!fields.isNumber('crop_size')) {
    const box = fields.child('crop_size')
    if (box !== undefined) return readBox(box)
  }
  const edge = fields.edge('crop_size', DEFAULT_CLIP_EDGE)
  return { width: edge, height: edge }
}

function readBox(size: SettingsFields): { width: number; height: number } {
  for (const key of ['height', 'width']) if (!size.has(key)) size.fail(key, 'a number of pixels')
  return { width: size.edge('width', DEFAULT_CLIP_EDGE), height: size.edge('height', DEFAULT_CLIP_EDGE) }
}

function readFilter(fields: SettingsFields, fallback: ResampleFilter): ResampleFilter {
  return fields.has('resample')
    ? filterOfPillowNumber(fields.raw('resample'), fields.where('resample'))
    : fallback
}

function readNormalization(
  fields: SettingsFields,
  mean: Normalization['mean'],
  std: Normalization['std'],
): Normalization {
  const normalize = fields.flag('do_normalize', true)
  return {
    rescaleFactor: fields.flag('do_rescale', true) ? fields.positive('rescale_factor', 1 / 255) : 1,
    mean: normalize ? fields.triple('image_mean', mean) : [0, 0, 0],
    std: normalize ? fields.deviations('image_std', std) : [1, 1, 1],
  }
}
