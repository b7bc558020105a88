import type { Steps } from '../shared/steps.ts'
import type { Normalization } from './normalize.ts'
import { resample } from './resample.ts'
import type { ResampleFilter } from './resample-filter.ts'
import { RgbImage } from './rgb-image.ts'

/*
 * CLIP and LLaVA: short side to a fixed size, then the square in the middle.
 * Method: Transformers 5.18 `image_transforms.py` with the settings of `models/clip/image_processing_pil_clip.py`.
 */

export interface ClipSettings {
  kind: 'clip'
  /** Undefined: the picture keeps its size. */
  resize: { shortestEdge: number } | { width: number; height: number } | undefined
  /** Cut from the middle, with black around a picture that is smaller. Undefined: no cut. */
  crop: { width: number; height: number } | undefined
  filter: ResampleFilter
  normalization: Normalization
}

/** Width and height after resizing: the long side follows the short one, its fraction dropped. */
export function clipSize(width: number, height: number, resize: ClipSettings['resize']): [number, number] {
  if (resize === undefined) return [width, height]
  if ('width' in resize) return [resize.width, resize.height]
  const short = resize.shortestEdge
  return width <= height
    ? [short, Math.trunc((short * height) / width)]
    : [Math.trunc((short * width) / height), short]
}

/** The one frame that the vision tower is given; only the pixels that survive the crop are computed. */
export function* cropImage(image: RgbImage, settings: ClipSettings): Steps<RgbImage> {
  const [width, height] = clipSize(image.width, image.height, settings.resize)
  const crop = settings.crop ?? { width, height }
  // Negative where the picture is smaller than the crop; floor puts the odd pixel where the reference does.
  const offsetX = Math.floor((width - crop.width) / 2)
  const offsetY = Math.floor((height - crop.height) / 2)
  const left = Math.max(offsetX, 0)
  const top = Math.max(offsetY, 0)
  const part = yield* resample(image, width, height, settings.filter, {
    left,
    top,
    width: Math.min(crop.width, width),
    height: Math.min(crop.height, height),
  })
  if (part.width === crop.width && part.height === crop.height) return part
  return pasteOnBlack(part, left - offsetX, top - offsetY, crop.width, crop.height)
}

function pasteOnBlack(image: RgbImage, left: number, top: number, width: number, height: number): RgbImage {
  const data = new Uint8ClampedArray(width * height * 3)
  const rowBytes = image.width * 3
  for (let row = 0; row < image.height; row++) {
    const from = row * rowBytes
    data.set(image.data.subarray(from, from + rowBytes), ((top + row) * width + left) * 3)
  }
  return new RgbImage(width, height, data)
}
