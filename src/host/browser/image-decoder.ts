import { type DecodedImage, fitPixels, type ImageDecoder, MAX_PICTURE_PIXELS } from '../../image/decoder.ts'
import { type UprightLayout, uprightLayout } from '../../image/orientation.ts'
import {
  type PictureFormat,
  sniffPictureFormat,
  unsupportedPictureError,
} from '../../image/picture-format.ts'
import { type PictureHeader, parsePictureHeader } from '../../image/picture-header.ts'
import { RgbImage } from '../../image/rgb-image.ts'
import { throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'

/** What browsers decode that run the engine. */
const SUPPORTED: readonly PictureFormat[] = ['jpeg', 'png', 'webp', 'gif', 'avif', 'bmp']
/** What some of them decode too: Safari. */
const TRIED: readonly PictureFormat[] = [...SUPPORTED, 'heic']

/** Side of the canvas through which pixels are read, in pieces: larger ones stay blank on some phones. */
const CANVAS_EDGE = 2048

/** Embedded colour profiles are left aside, as in the reference. */
const OPTIONS: ImageBitmapOptions = {
  imageOrientation: 'from-image',
  premultiplyAlpha: 'none',
  colorSpaceConversion: 'none',
}

/**
 * Decodes with the browser's own decoder. Size and orientation are read from the header; the orientation is then
 * applied here, since browsers know it in some formats only.
 *
 * The first frame of animations; 16-bit samples keep their upper 8 bits; transparent parts lie over white.
 */
export function createImageDecoder(): ImageDecoder {
  return {
    async decode(
      bytes: Uint8Array,
      name: string,
      signal?: AbortSignal,
      maxPixels = MAX_PICTURE_PIXELS,
    ): Promise<DecodedImage> {
      throwIfAborted(signal)
      const format = sniffPictureFormat(bytes)
      if (format === undefined || !TRIED.includes(format))
        throw unsupportedPictureError(bytes, name, SUPPORTED)
      const header = parsePictureHeader(bytes, format)
      if (!header) throw damagedError(name, `a readable ${format.toUpperCase()} header`)
      checkSize(header, name)
      const bitmap = await decodeBitmap(bytes, name, format, header, maxPixels)
      try {
        throwIfAborted(signal)
        checkSize(bitmap, name)
        const { width, height, orientation } = header
        const image = readPixels(bitmap, name, orientation)
        return {
          image,
          ...(orientation < 5 ? { width, height } : { width: height, height: width }),
          format,
          orientation,
        }
      } finally {
        bitmap.close()
      }
    },
  }
}

async function decodeBitmap(
  bytes: Uint8Array,
  name: string,
  format: PictureFormat,
  header: PictureHeader,
  maxPixels: number,
): Promise<ImageBitmap> {
  const file = new Blob(withoutOrientation(bytes, header), { type: `image/${format}` })
  try {
    const { width, height } = header
    if (width * height <= maxPixels) return await createImageBitmap(file, OPTIONS)
    const [resizeWidth, resizeHeight] = fitPixels(width, height, maxPixels)
    return await createImageBitmap(file, { ...OPTIONS, resizeWidth, resizeHeight, resizeQuality: 'high' })
  } catch (cause) {
    if (!SUPPORTED.includes(format)) throw unsupportedPictureError(bytes, name, SUPPORTED)
    throw damagedError(name, `${header.width} x ${header.height} pixels`, cause)
  }
}

function withoutOrientation(bytes: Uint8Array, { exif }: PictureHeader): BlobPart[] {
  // Views of shared memory are no parts of a blob.
  const own = bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice()
  if (!exif) return [own]
  const { byteOffset, byteLength, replacement } = exif
  return [own.subarray(0, byteOffset), replacement, own.subarray(byteOffset + byteLength)]
}

function checkSize(
  { width, height }: { readonly width: number; readonly height: number },
  name: string,
): void {
  if (width * height <= MAX_PICTURE_PIXELS) return
  throw new EngineError('image/too-large', {
    message:
      `${name}: the picture has ${width} x ${height} = ${width * height} pixels; ` +
      `at most ${MAX_PICTURE_PIXELS} are decoded.`,
    hint: 'Make it smaller first; models see 2048 pixels a side or fewer.',
  })
}

function readPixels(bitmap: ImageBitmap, name: string, orientation: number): RgbImage {
  const layout = uprightLayout(bitmap.width, bitmap.height, orientation)
  const data = allocate(layout.width * layout.height * 3, name)
  const width = Math.min(CANVAS_EDGE, bitmap.width)
  const height = Math.min(CANVAS_EDGE, bitmap.height)
  const context = createCanvas(width, height)
  for (let top = 0; top < bitmap.height; top += height) {
    for (let left = 0; left < bitmap.width; left += width) {
      const columns = Math.min(width, bitmap.width - left)
      const rows = Math.min(height, bitmap.height - top)
      context.fillRect(0, 0, columns, rows)
      context.drawImage(bitmap, left, top, columns, rows, 0, 0, columns, rows)
      const piece = context.getImageData(0, 0, columns, rows)
      placePixels(piece, data, layout, left, top)
    }
  }
  return new RgbImage(layout.width, layout.height, data)
}

function placePixels(
  { data: source, width, height }: ImageData,
  target: Uint8Array,
  { start, stepX, stepY }: UprightLayout,
  left: number,
  top: number,
): void {
  let from = 0
  for (let y = 0; y < height; y++) {
    let to = (start + left * stepX + (top + y) * stepY) * 3
    for (let x = 0; x < width; x++) {
      target[to] = source[from] as number
      target[to + 1] = source[from + 1] as number
      target[to + 2] = source[from + 2] as number
      from += 4
      to += stepX * 3
    }
  }
}

/** White and opaque: what is drawn on it lies over white. */
function createCanvas(width: number, height: number): OffscreenCanvasRenderingContext2D {
  const canvas = typeof OffscreenCanvas === 'undefined' ? undefined : new OffscreenCanvas(width, height)
  // Pixels are read back at once; on a graphics card that would be slow, and rounded differently.
  const context = canvas?.getContext('2d', { alpha: false, willReadFrequently: true })
  if (!context) {
    throw new EngineError('image/decoder-missing', {
      message: 'Pictures need OffscreenCanvas, which this browser does not have.',
      hint: 'Use a newer browser, or give pixels as { data, width, height }.',
    })
  }
  context.fillStyle = '#ffffff'
  return context
}

function allocate(byteLength: number, name: string): Uint8Array {
  try {
    return new Uint8Array(byteLength)
  } catch (cause) {
    throw new EngineError('image/too-large', {
      message: `${name}: the browser gave no ${Math.ceil(byteLength / 1e6)} MB for its pixels.`,
      hint: 'Make the picture smaller first; models see 2048 pixels a side or fewer.',
      cause,
    })
  }
}

function damagedError(name: string, expected: string, cause?: unknown): EngineError {
  const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : 'the file ends or errs before it'
  return new EngineError('image/damaged', {
    message: `${name}: expected ${expected}, but decoding failed: ${reason}.`,
    hint: 'The file looks cut off or damaged; fetch it again or open and save it in another program.',
    cause,
  })
}
