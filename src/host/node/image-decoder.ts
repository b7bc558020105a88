import type { Metadata, OutputInfo, Sharp, SharpOptions } from 'sharp'
import { type DecodedImage, fitPixels, type ImageDecoder, MAX_PICTURE_PIXELS } from '../../image/decoder.ts'
import {
  type PictureFormat,
  sniffPictureFormat,
  unsupportedPictureError,
} from '../../image/picture-format.ts'
import { RgbImage } from '../../image/rgb-image.ts'
import { rgbFromCmyk, rgbOverWhite } from '../../image/to-rgb.ts'
import { throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'

type SharpFactory = (input: Uint8Array, options: SharpOptions) => Sharp

const SUPPORTED: readonly PictureFormat[] = ['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff']

/** What sharp calls a format, where it has another name. */
const SHARP_NAMES: Partial<Record<PictureFormat, string>> = { avif: 'heif' }

/** Bytes a pixel for holding a file whole are about a third of those for what becomes of it. */
const WHOLE_SHARE = 3

/** Embedded colour profiles are left aside, as in the reference: the models were trained on the stored numbers. */
const OPTIONS: SharpOptions = { ignoreIcc: true, failOn: 'error', limitInputPixels: MAX_PICTURE_PIXELS }

/**
 * Warnings of the JPEG decoder that stand for lost pixels. sharp knows only all warnings or none, and most mean
 * nothing, such as the stray bytes that some cameras leave between segments.
 */
const LOST_PIXELS =
  /bad (Huffman|arithmetic) code|premature end of data|instead of RST|Inconsistent progression/

/**
 * Decodes with sharp, which is loaded on first use.
 *
 * The first frame of animations and the first page of TIFF files; 16-bit samples keep their upper 8 bits; printing
 * colours become RGB as in Pillow; transparent parts lie over white; all EXIF orientations are applied.
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
      if (format === undefined || !SUPPORTED.includes(format))
        throw unsupportedPictureError(bytes, name, SUPPORTED)
      const sharp = await loadSharp()
      const header = await readHeader(sharp, bytes, name, format)
      throwIfAborted(signal)
      const orientation = header.orientation ?? 1
      const [width, height] = orientation < 5 ? [header.width, header.height] : [header.height, header.width]
      checkWhole(header, maxPixels, name)
      const image = await readPixels(sharp, bytes, name, header, fitPixels(width, height, maxPixels))
      throwIfAborted(signal)
      return { image, width, height, format, orientation }
    },
  }
}

async function loadSharp(): Promise<SharpFactory> {
  try {
    const { default: sharp } = await import('sharp')
    // Decoded pictures are used once; the cache would keep up to 50 MB of them.
    sharp.cache(false)
    return sharp
  } catch (cause) {
    throw new EngineError('image/decoder-missing', {
      message: `Pictures need the package "sharp", which could not be loaded: ${reasonOf(cause)}.`,
      hint: 'Run "npm install sharp" for this platform.',
      cause,
    })
  }
}

async function readHeader(
  sharp: SharpFactory,
  bytes: Uint8Array,
  name: string,
  format: PictureFormat,
): Promise<Metadata> {
  const header = await sharp(bytes, { ...OPTIONS, limitInputPixels: false })
    .metadata()
    .catch((cause: unknown) => {
      throw damagedError(name, `a readable ${format.toUpperCase()} header`, cause)
    })
  if (header.format !== (SHARP_NAMES[format] ?? format)) {
    throw damagedError(name, `a ${format.toUpperCase()} picture`, new Error(`found ${header.format} inside`))
  }
  const { width, height } = header
  if (width * height > MAX_PICTURE_PIXELS) {
    throw new EngineError('image/too-large', {
      message:
        `${name}: the picture has ${width} x ${height} = ${width * height} pixels; ` +
        `at most ${MAX_PICTURE_PIXELS} are decoded.`,
      hint: 'Make it smaller first; models see 2048 pixels a side or fewer.',
    })
  }
  if (header.depth !== 'uchar' && header.depth !== 'ushort') {
    throw unsupportedSamplesError(name, `samples of type "${header.depth}"`)
  }
  return header
}

/** The decoder holds some files at their full size, however small they are to become. */
function checkWhole(
  { format, width, height, isProgressive, orientation = 1 }: Metadata,
  maxPixels: number,
  name: string,
): void {
  // JPEG is made smaller before it is turned.
  const isHeldWhole = isProgressive || (orientation > 1 && format !== 'jpeg')
  if (!isHeldWhole || width * height <= WHOLE_SHARE * maxPixels) return
  throw new EngineError('image/too-large', {
    message: `${name}: the picture has ${width} x ${height} pixels, which its decoder holds at once (${isProgressive ? 'it is progressive' : 'it is turned'}); at most ${WHOLE_SHARE * maxPixels} fit the memory limit.`,
    hint: 'Make it smaller first, or raise the memory limit.',
  })
}

async function readPixels(
  sharp: SharpFactory,
  bytes: Uint8Array,
  name: string,
  header: Metadata,
  [fitWidth, fitHeight]: readonly [width: number, height: number],
): Promise<RgbImage> {
  const isCmyk = header.space === 'cmyk'
  const readRaw = (failOn: 'warning' | 'error'): Promise<{ data: Buffer; info: OutputInfo }> => {
    const upright = sharp(bytes, { ...OPTIONS, failOn }).autoOrient()
    const isWhole = fitWidth * fitHeight === header.width * header.height
    const pipeline = isWhole ? upright : upright.resize(fitWidth, fitHeight, { fit: 'fill' })
    // Kept in ink, as sharp's own way to RGB goes through a colour profile that the reference does not use.
    const colours = isCmyk ? pipeline.pipelineColourspace('cmyk').toColourspace('cmyk') : pipeline
    return colours.raw().toBuffer({ resolveWithObject: true })
  }
  const { data, info } = await readRaw('warning')
    .catch((cause: unknown) => {
      if (LOST_PIXELS.test(String(cause))) throw cause
      return readRaw('error')
    })
    .catch((cause: unknown) => {
      throw damagedError(name, `${header.width} x ${header.height} pixels`, cause)
    })
  const { width, height, channels } = info
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (pixels.length === width * height * channels) {
    if (channels === 3) return new RgbImage(width, height, pixels)
    if (channels === 4)
      return isCmyk ? rgbFromCmyk(width, height, pixels) : rgbOverWhite(width, height, pixels)
  }
  throw unsupportedSamplesError(name, `${channels} channels in ${pixels.length} bytes`)
}

function unsupportedSamplesError(name: string, found: string): EngineError {
  return new EngineError('image/unsupported-format', {
    message: `${name}: expected grey, RGB or CMYK samples of 8 or 16 bits, found ${found}.`,
    hint: 'Convert the picture to JPEG or PNG first.',
  })
}

function damagedError(name: string, expected: string, cause: unknown): EngineError {
  return new EngineError('image/damaged', {
    message: `${name}: expected ${expected}, but decoding failed: ${reasonOf(cause)}.`,
    hint: 'The file looks cut off or damaged; fetch it again or open and save it in another program.',
    cause,
  })
}

/** sharp's messages span lines, often the same one several times; the first 160 characters say enough. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const lines = new Set(message.split('\n').map((line) => line.replace(/[.: ]+$/, '').trim()))
  lines.delete('')
  return [...lines].join('; ').slice(0, 160)
}
