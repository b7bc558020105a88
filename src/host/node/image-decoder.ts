import type { Metadata, OutputInfo, Sharp, SharpOptions } from 'sharp'
import { type DecodedImage, type ImageDecoder, MAX_PICTURE_PIXELS } from '../../image/decoder.ts'
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
    async decode(bytes: Uint8Array, name: string, signal?: AbortSignal): Promise<DecodedImage> {
      throwIfAborted(signal)
      const format = sniffPictureFormat(bytes)
      if (format === undefined || !SUPPORTED.includes(format))
        throw unsupportedPictureError(bytes, name, SUPPORTED)
      const sharp = await loadSharp()
      const header = await readHeader(sharp, bytes, name, format)
      throwIfAborted(signal)
      const image = await readPixels(sharp, bytes, name, header)
      throwIfAborted(signal)
      return { image, format, orientation: header.orientation ?? 1 }
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

async function readPixels(
  sharp: SharpFactory,
  bytes: Uint8Array,
  name: string,
  header: Metadata,
): Promise<RgbImage> {
  const isCmyk = header.space === 'cmyk'
  const readRaw = (failOn: 'warning' | 'error'): Promise<{ data: Buffer; info: OutputInfo }> => {
    const pipeline = sharp(bytes, { ...OPTIONS, failOn }).autoOrient()
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
