/** From what a caller gives as a picture to pixels. */
import type { ImageDecoder } from '../image/decoder.ts'
import { RgbImage } from '../image/rgb-image.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost } from '../shared/model-files.ts'
import type { ImageInput } from './types.ts'

export interface ReadImage {
  readonly image: RgbImage
  /** EXIF orientation that was applied. */
  readonly orientation: number
}

export async function readImage(
  input: ImageInput,
  files: Pick<FileHost, 'readPicture'>,
  decoder: ImageDecoder,
  signal?: AbortSignal,
): Promise<ReadImage> {
  if (typeof input === 'string' || input instanceof URL) {
    return decoder.decode(await files.readPicture(input, signal), String(input), signal)
  }
  if (input instanceof Uint8Array) return decoder.decode(input, 'the picture', signal)
  if (typeof Blob !== 'undefined' && input instanceof Blob) {
    const name = 'name' in input && typeof input.name === 'string' ? input.name : 'the picture'
    return decoder.decode(new Uint8Array(await input.arrayBuffer()), name, signal)
  }
  if (isPixels(input)) {
    return { image: new RgbImage(input.width, input.height, input.data), orientation: 1 }
  }
  throw new EngineError('image/invalid-input', {
    message: `A picture must be a path, a URL, bytes, a Blob or { data, width, height } with data of bytes; found ${describe(input)}.`,
    hint: 'Read the picture from a file, or give its pixels as a Uint8Array of RGB.',
  })
}

function isPixels(input: unknown): input is Extract<ImageInput, { data: unknown }> {
  if (typeof input !== 'object' || input === null || !('data' in input)) return false
  return input.data instanceof Uint8Array || input.data instanceof Uint8ClampedArray
}

function describe(input: unknown): string {
  if (typeof input !== 'object' || input === null) return String(input)
  return `an object with ${Object.keys(input).slice(0, 5).join(', ') || 'nothing in it'}`
}
