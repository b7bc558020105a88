/** From what a caller gives as a picture to pixels. */
import type { ImageDecoder } from '../image/decoder.ts'
import { RgbImage } from '../image/rgb-image.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost } from '../shared/model-files.ts'
import type { ImageInput } from './types.ts'

/** What a memory limit leaves for a picture while it is read. */
export interface PictureLimits {
  /** Larger ones are made smaller while they are decoded. */
  readonly maxPixels: number
  /** Larger files are refused. */
  readonly maxFileBytes: number
}

export interface ReadImage {
  readonly image: RgbImage
  /** Of the picture as it was given, upright. */
  readonly width: number
  readonly height: number
  /** EXIF orientation that was applied. */
  readonly orientation: number
}

export async function readImage(
  input: ImageInput,
  files: Pick<FileHost, 'readPicture'>,
  decoder: ImageDecoder,
  signal?: AbortSignal,
  { maxPixels, maxFileBytes }: Partial<PictureLimits> = {},
): Promise<ReadImage> {
  if (typeof input === 'string' || input instanceof URL) {
    const bytes = await files.readPicture(input, signal, maxFileBytes)
    return decoder.decode(bytes, String(input), signal, maxPixels)
  }
  if (input instanceof Uint8Array) return decoder.decode(input, 'the picture', signal, maxPixels)
  if (typeof Blob !== 'undefined' && input instanceof Blob) {
    const name = 'name' in input && typeof input.name === 'string' ? input.name : 'the picture'
    if (maxFileBytes !== undefined && input.size > maxFileBytes) {
      throw new EngineError('image/too-large', {
        message: `${name} has ${input.size} bytes; picture files of at most ${maxFileBytes} bytes fit the memory limit.`,
        hint: 'Save the picture smaller, or raise the memory limit.',
      })
    }
    return decoder.decode(new Uint8Array(await input.arrayBuffer()), name, signal, maxPixels)
  }
  if (isPixels(input)) {
    const { width, height, data } = input
    return { image: new RgbImage(width, height, data), width, height, orientation: 1 }
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
