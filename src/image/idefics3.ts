import { EngineError } from '../shared/errors.ts'
import type { Steps } from '../shared/steps.ts'
import type { Normalization } from './normalize.ts'
import { resample } from './resample.ts'
import type { ResampleFilter } from './resample-filter.ts'
import { RgbImage } from './rgb-image.ts'

/*
 * Idefics3 and SmolVLM: a picture becomes square tiles and an overview.
 * Method: Transformers 5.18 `models/idefics3/image_processing_pil_idefics3.py`.
 */

export interface Idefics3Settings {
  kind: 'idefics3'
  /** Stage 1 on: the long side becomes `longestEdge`, small pictures are enlarged. */
  resize: boolean
  /** Long side after stage 1 in pixels. */
  longestEdge: number
  /** Side of a tile, and of the overview, in pixels. */
  tileEdge: number
  /** Off: the whole picture becomes one tile. */
  split: boolean
  filter: ResampleFilter
  normalization: Normalization
  /** `image_seq_len` of the processor file, for a check against the model; undefined when the file has none. */
  tokensPerFrame: number | undefined
}

/** What the vision tower is given. */
export interface TiledImage {
  /** Tiles row by row, then the overview; a single frame without tiles. */
  frames: RgbImage[]
  /** Rows of tiles, 0 for a single frame. */
  rows: number
  /** Tiles in a row, 0 for a single frame. */
  cols: number
  /** Pixels of the picture that the frames were cut from. */
  usedWidth: number
  usedHeight: number
}

/** Which of the two ways of looking was taken, and with which longest edge. */
export interface DetailChoice {
  /** `low`: one tile. `high`: the model's own setting, at this longest edge. */
  detail: 'low' | 'high'
  longestEdge: number
}

/** The reference never lets stage 1 go beyond this many pixels on the long side. */
export const MAX_EDGE_AFTER_RESIZE = 4096

/**
 * Tiles of one picture. Released models make at most 16; the largest grid that their prompts can name has 36.
 * More than this comes from damaged settings and would fill the memory.
 */
const MAX_TILES = 1024

/** Long side to `longestEdge`, then under the cap; a short side that comes out odd grows by one, as trained. */
export function stage1Size(width: number, height: number, longestEdge: number): [number, number] {
  let [w, h] = fitLongSide(width, height, longestEdge)
  if (width >= height) h += h % 2
  else w += w % 2
  w = Math.max(w, 1)
  h = Math.max(h, 1)
  if (Math.max(w, h) > MAX_EDGE_AFTER_RESIZE) [w, h] = fitLongSide(w, h, MAX_EDGE_AFTER_RESIZE)
  return [Math.max(w, 1), Math.max(h, 1)]
}

/** Both sides to whole tiles; the shape changes by up to a tile. */
export function stage2Size(width: number, height: number, tileEdge: number): [number, number] {
  const up = (side: number): number => Math.ceil(side / tileEdge) * tileEdge
  const long = up(Math.max(width, height))
  const [w, h] = fitLongSide(width, height, long)
  return [up(w), up(h)]
}

/** Divides by the ratio rather than multiplying by its inverse: the reference truncates exactly this double. */
function fitLongSide(width: number, height: number, long: number): [number, number] {
  const aspect = width / height
  return width >= height ? [long, Math.trunc(long / aspect)] : [Math.trunc(long * aspect), long]
}

/** Frames that `tileImage` makes: tiles and the overview, or one. */
export function frameCount(width: number, height: number, settings: Idefics3Settings): number {
  if (!settings.split) return 1
  const fitted = settings.resize
    ? stage1Size(width, height, settings.longestEdge)
    : ([width, height] as const)
  const [usedWidth, usedHeight] = stage2Size(...fitted, settings.tileEdge)
  const tiles = (usedWidth / settings.tileEdge) * (usedHeight / settings.tileEdge)
  return tiles === 1 ? 1 : tiles + 1
}

/**
 * The closest look, `wanted` or below, that takes at most `maxFrames` frames: one tile fewer along the long side at a
 * time, so that the shape of the picture is kept; one tile for the whole picture at last.
 */
export function limitFrames(
  width: number,
  height: number,
  settings: Idefics3Settings,
  wanted: DetailChoice,
  maxFrames: number,
): DetailChoice {
  const fits = (longestEdge: number): boolean =>
    frameCount(width, height, { ...settings, longestEdge }) <= maxFrames
  if (wanted.detail === 'low' || fits(wanted.longestEdge)) return wanted
  const most = settings.resize ? Math.min(wanted.longestEdge, MAX_EDGE_AFTER_RESIZE) / settings.tileEdge : 0
  for (let tiles = Math.ceil(most) - 1; tiles > 1; tiles--) {
    const longestEdge = tiles * settings.tileEdge
    if (fits(longestEdge)) return { detail: 'high', longestEdge }
  }
  return { detail: 'low', longestEdge: settings.longestEdge }
}

/**
 * `auto`: how closely to look at a picture of `width` x `height` pixels.
 *
 * - Long side up to one tile: one tile. More would only magnify.
 * - Otherwise the long side becomes the multiple of the tile that is nearest to the picture's own, up to the model's
 *   setting. That shrinks the picture by at most a third and enlarges it by at most a third.
 * - A model that does not split has nothing to choose: its own setting.
 */
export function chooseDetail(width: number, height: number, settings: Idefics3Settings): DetailChoice {
  const { longestEdge, tileEdge, split, resize } = settings
  if (!split || !resize) return { detail: 'high', longestEdge }
  const tiles = Math.round(Math.max(width, height) / tileEdge)
  if (tiles <= 1) return { detail: 'low', longestEdge }
  return { detail: 'high', longestEdge: Math.min(tiles * tileEdge, longestEdge) }
}

/**
 * Cuts a picture into frames of `tileEdge` x `tileEdge` pixels. Each stage rounds to 8 bits, as in the reference, and
 * works on the result of the one before.
 *
 * Throws `image/too-many-tiles` when the settings ask for more tiles than any model has.
 */
export function* tileImage(image: RgbImage, settings: Idefics3Settings): Steps<TiledImage> {
  const { tileEdge, filter } = settings
  const fitted = settings.resize
    ? yield* resample(image, ...stage1Size(image.width, image.height, settings.longestEdge), filter)
    : image
  if (!settings.split) return singleFrame(yield* resample(fitted, tileEdge, tileEdge, filter))
  const [usedWidth, usedHeight] = stage2Size(fitted.width, fitted.height, tileEdge)
  const cols = usedWidth / tileEdge
  const rows = usedHeight / tileEdge
  if (rows * cols > MAX_TILES) {
    throw new EngineError('image/too-many-tiles', {
      message:
        `A picture of ${image.width} x ${image.height} pixels would become ${cols} x ${rows} tiles of ${tileEdge} ` +
        `pixels; at most ${MAX_TILES} are possible.`,
      hint: 'Check "max_image_size" and "size" in preprocessor_config.json, or ask for low detail.',
    })
  }
  const whole = yield* resample(fitted, usedWidth, usedHeight, filter)
  if (rows * cols === 1) return singleFrame(whole)
  const frames: RgbImage[] = []
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) frames.push(cutTile(whole, col * tileEdge, row * tileEdge, tileEdge))
  }
  frames.push(yield* resample(whole, tileEdge, tileEdge, filter))
  return { frames, rows, cols, usedWidth, usedHeight }
}

function singleFrame(frame: RgbImage): TiledImage {
  return { frames: [frame], rows: 0, cols: 0, usedWidth: frame.width, usedHeight: frame.height }
}

function cutTile(image: RgbImage, left: number, top: number, edge: number): RgbImage {
  const data = new Uint8ClampedArray(edge * edge * 3)
  for (let row = 0; row < edge; row++) {
    const from = ((top + row) * image.width + left) * 3
    data.set(image.data.subarray(from, from + edge * 3), row * edge * 3)
  }
  return new RgbImage(edge, edge, data)
}
