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
   * Throws `image/empty`, `image/unsupported-format`, `image/too-large`, `image/damaged` or
   * `image/decoder-missing`; rejects with an `AbortError` when `signal` is aborted.
   */
  decode(bytes: Uint8Array, name: string, signal?: AbortSignal): Promise<DecodedImage>
}
