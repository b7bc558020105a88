import type { PictureFormat } from './picture-format.ts'
import type { RgbImage } from './rgb-image.ts'

/**
 * Pictures above this are refused before they are decoded. As RGB it is 400 MB, and turning a picture holds two. The
 * largest real cameras below it take 108 million pixels (12000 x 9000); 200-megapixel phone modes are above it.
 */
export const MAX_PICTURE_PIXELS = 2 ** 27

/** What a decoder makes of the bytes of a picture file. */
export interface DecodedImage {
  /**
   * The pixels as a person sees them: orientation applied, transparent parts over white, first frame of an
   * animation. `image.width` and `image.height` are therefore swapped against the file for orientations 5 to 8.
   */
  image: RgbImage
  /** Of the file, as a person sees it: `image` is smaller where `maxPixels` asked for that. */
  width: number
  height: number
  /** Found in the bytes, not in the name. */
  format: PictureFormat
  /** EXIF orientation that was applied, 1 to 8; 1 when the file names none or an impossible one. */
  orientation: number
}

/** Port: turns the bytes of a picture file into pixels. Each host brings its own. */
export interface ImageDecoder {
  /**
   * Decodes a whole file held in `bytes`. `name` is how a person would recognise it in a message.
   *
   * A picture of more than `maxPixels` is made smaller while it is decoded, by the decoder's own filter, without ever
   * being held at its full size. Default: none is.
   *
   * Throws `image/empty`, `image/unsupported-format`, `image/too-large`, `image/damaged` or
   * `image/decoder-missing`; rejects with an `AbortError` when `signal` is aborted.
   */
  decode(bytes: Uint8Array, name: string, signal?: AbortSignal, maxPixels?: number): Promise<DecodedImage>
}

/** The largest size of the same shape within `maxPixels`, at least one pixel; the size itself where it fits. */
export function fitPixels(width: number, height: number, maxPixels: number): [width: number, height: number] {
  const scale = Math.sqrt(maxPixels / (width * height))
  if (scale >= 1) return [width, height]
  return [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))]
}
