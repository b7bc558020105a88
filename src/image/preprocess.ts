import { EngineError } from '../shared/errors.ts'
import type { Steps } from '../shared/steps.ts'
import { type ClipSettings, cropImage } from './clip.ts'
import { chooseDetail, type Idefics3Settings, limitFrames, type TiledImage, tileImage } from './idefics3.ts'
import { normalizationTable, normalizeInto } from './normalize.ts'
import type { RgbImage } from './rgb-image.ts'

/** How a model wants its pictures; from `parsePreprocessorConfig` or `preprocessorFromProjector`. */
export type PreprocessorSettings = Idefics3Settings | ClipSettings

/** How closely to look: `low` one tile, `high` the model's own setting, `auto` by the size of the picture. */
export type Detail = 'low' | 'high' | 'auto'

/** A picture as a model wants it. */
export interface PreprocessedImage extends TiledImage {
  /** Size of each frame in pixels. */
  frameWidth: number
  frameHeight: number
  /** Tiles the picture was cut into, the overview not counted; 1 for a single frame. */
  tiles: number
  /** What was done: never `auto`. Always `high` for models that know one way only. */
  detail: 'low' | 'high'
  /**
   * Frame `index` as numbers, (3, frameHeight, frameWidth). Made anew at each call, or written to `target`, so that
   * the frames are not all held as floats. Throws `image/invalid-frame` for an index or a length that does not fit.
   */
  pixelValues(index: number, target?: Float32Array): Float32Array
}

/** How a picture of some size is turned into frames: the model's settings, decided for it. */
export interface FramePlan {
  readonly settings: PreprocessorSettings
  readonly detail: 'low' | 'high'
}

/** @param maxFrames Most frames, the overview counted. Models that tile then look less closely. Default: no limit. */
export function planFrames(
  { width, height }: { readonly width: number; readonly height: number },
  settings: PreprocessorSettings,
  detail: Detail = 'auto',
  maxFrames = Number.POSITIVE_INFINITY,
): FramePlan {
  switch (settings.kind) {
    case 'idefics3': {
      const wanted =
        detail === 'auto'
          ? chooseDetail(width, height, settings)
          : { detail, longestEdge: settings.longestEdge }
      const choice = limitFrames(width, height, settings, wanted, maxFrames)
      const split = settings.split && choice.detail === 'high'
      return { settings: { ...settings, split, longestEdge: choice.longestEdge }, detail: choice.detail }
    }
    case 'clip':
      return { settings, detail: 'high' }
    default:
      return settings satisfies never
  }
}

/** Turns a picture into a model's frames: resized, cut, and on demand normalised, equal to the reference bit by bit. */
export function* preprocess(image: RgbImage, { settings, detail }: FramePlan): Steps<PreprocessedImage> {
  const tiled = yield* cutFrames(image, settings)
  const { frames } = tiled
  const { width: frameWidth, height: frameHeight } = frames[0] as RgbImage
  const table = normalizationTable(settings.normalization)
  const length = 3 * frameWidth * frameHeight
  return {
    ...tiled,
    frameWidth,
    frameHeight,
    tiles: Math.max(1, tiled.rows * tiled.cols),
    detail,
    pixelValues(index: number, target: Float32Array = new Float32Array(length)): Float32Array {
      const frame = frames[index]
      if (frame === undefined || target.length !== length) {
        throw new EngineError('image/invalid-frame', {
          message:
            `Frame ${index} into ${target.length} floats: expected a frame from 0 to ${frames.length - 1} and ` +
            `${length} floats for 3 x ${frameHeight} x ${frameWidth}.`,
          hint: 'Use frames.length, frameWidth and frameHeight of the same picture.',
        })
      }
      normalizeInto(frame, table, target)
      return target
    },
  }
}

function* cutFrames(image: RgbImage, settings: PreprocessorSettings): Steps<TiledImage> {
  if (settings.kind === 'idefics3') return yield* tileImage(image, settings)
  const frame = yield* cropImage(image, settings)
  return { frames: [frame], rows: 0, cols: 0, usedWidth: frame.width, usedHeight: frame.height }
}
