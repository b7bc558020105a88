import { EngineError } from '../shared/errors.ts'

/** Formats that are told apart by their first bytes. Which of them can be decoded depends on the host. */
export type PictureFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'avif' | 'tiff' | 'heic' | 'bmp' | 'jxl' | 'jp2'

/** Enough for every mark below and for the brand list of the box that opens AVIF and HEIC files. */
const SNIFFED_BYTES = 256

/** The format by content; undefined for anything that is no picture made of pixels. Names and endings do not count. */
export function sniffPictureFormat(bytes: Uint8Array): PictureFormat | undefined {
  const start = latin1(bytes)
  if (start.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'gif'
  if (start.startsWith('RIFF') && start.startsWith('WEBP', 8)) return 'webp'
  if (/^(II[*+]\0|MM\0[*+])/.test(start)) return 'tiff'
  if (start.startsWith('BM') && start.startsWith('\0\0\0\0', 6)) return 'bmp'
  if (start.startsWith('\xff\x0a') || start.startsWith('\0\0\0\x0cJXL ')) return 'jxl'
  if (start.startsWith('\xff\x4f\xff\x51') || start.startsWith('\0\0\0\x0cjP  ')) return 'jp2'
  if (start.startsWith('ftyp', 4)) return sniffBrands(bytes, start)
  return undefined
}

/** AVIF and HEIC share a container (ISO/IEC 14496-12); the brands of its first box tell them apart. */
function sniffBrands(bytes: Uint8Array, start: string): PictureFormat | undefined {
  const boxLength = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0)
  const brands = start.slice(8, Math.max(boxLength, 12)).match(/[\s\S]{4}/g) ?? []
  if (brands.some((brand) => brand === 'avif' || brand === 'avis')) return 'avif'
  if (brands.some((brand) => /^(he[ivm]|mif1|msf1)/.test(brand))) return 'heic'
  return undefined
}

/**
 * The error for bytes that a host cannot decode: `image/empty` or `image/unsupported-format`, with what was found
 * and what to do about it. `supported` is what the host does decode.
 */
export function unsupportedPictureError(
  bytes: Uint8Array,
  name: string,
  supported: readonly PictureFormat[],
): EngineError {
  const expected = supported.map((format) => (format === 'webp' ? 'WebP' : format.toUpperCase())).join(', ')
  if (bytes.length === 0) {
    return new EngineError('image/empty', {
      message: `${name}: expected a picture (${expected}), found an empty file.`,
      hint: 'The file was not written or not downloaded completely; fetch it again.',
    })
  }
  const { found, hint } = describe(bytes)
  return new EngineError('image/unsupported-format', {
    message: `${name}: expected a picture (${expected}), found ${found}.`,
    hint,
  })
}

function describe(bytes: Uint8Array): { found: string; hint: string } {
  const format = sniffPictureFormat(bytes)
  if (format === 'heic') {
    return {
      found: 'HEIC, the format of iPhone photos, which is not decoded here',
      hint: 'Convert it to JPEG first, or set the camera to "Most Compatible" so that it takes JPEG.',
    }
  }
  if (format !== undefined) {
    return { found: format.toUpperCase(), hint: 'Convert it to JPEG or PNG first.' }
  }
  const start = latin1(bytes)
  if (start.startsWith('%PDF')) {
    return { found: 'a PDF document', hint: 'Save the page as PNG first.' }
  }
  if (/<svg[\s>]/.test(start)) {
    return {
      found: 'an SVG drawing, which is refused because it can pull in other files',
      hint: 'Export it as PNG first.',
    }
  }
  const hint =
    'Check the path: the content decides, not the name. Convert other formats to JPEG or PNG first.'
  if (isText(start)) return { found: `text that begins ${JSON.stringify(start.slice(0, 24))}`, hint }
  const hex = Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join(' ')
  return { found: `${bytes.length} bytes that begin ${hex}`, hint }
}

function isText(start: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells text from binary
  return !/[\x00-\x08\x0e-\x1f\x7f]/.test(start)
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, SNIFFED_BYTES))
}
