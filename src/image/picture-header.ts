/**
 * Size and orientation of a picture file, read before anything decodes it: for hosts whose decoder tells neither. The
 * bytes are not trusted; what cannot be followed has no header.
 */
import { parseExifOrientation } from './exif-orientation.ts'
import type { PictureFormat } from './picture-format.ts'

export interface PictureHeader {
  /** Pixels as stored, orientation not applied. */
  readonly width: number
  readonly height: number
  /** EXIF orientation, 1 to 8; 1 when the file names none or an impossible one. */
  readonly orientation: number
  /** Where the file names an orientation other than 1. */
  readonly exif: ExifPlace | undefined
}

/** Put `replacement` in place of these bytes, and the same picture names no orientation. */
export interface ExifPlace {
  readonly byteOffset: number
  readonly byteLength: number
  readonly replacement: string
}

type Size = Pick<PictureHeader, 'width' | 'height'>

/** Undefined when the header is damaged, or of a format that is not read here (TIFF, JPEG XL, JPEG 2000). */
export function parsePictureHeader(bytes: Uint8Array, format: PictureFormat): PictureHeader | undefined {
  try {
    const header = parseFormat(bytes, format)
    return header && header.width > 0 && header.height > 0 ? header : undefined
  } catch (error) {
    // A view was read beyond the end of the file.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function parseFormat(bytes: Uint8Array, format: PictureFormat): PictureHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (format) {
    case 'jpeg':
      return parseJpeg(bytes, view)
    case 'png':
      return parsePng(bytes, view)
    case 'webp':
      return parseWebp(bytes, view)
    case 'gif':
      return upright({ width: view.getUint16(6, true), height: view.getUint16(8, true) })
    case 'bmp':
      return upright(parseBmpSize(view))
    case 'avif':
    case 'heic':
      return upright(parseIsoMediaSize(view))
    default:
      return undefined
  }
}

function upright(size: Size | undefined): PictureHeader | undefined {
  return size && { ...size, orientation: 1, exif: undefined }
}

function oriented(size: Size | undefined, block: Uint8Array | undefined, exif: ExifPlace | undefined) {
  const orientation = block ? parseExifOrientation(block) : 1
  return size && { ...size, orientation, exif: orientation === 1 ? undefined : exif }
}

/** Markers of frames, which hold the size; the numbers between them mean other things (ITU-T T.81, table B.1). */
const isFrameMarker = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
const hasNoLength = (marker: number): boolean => (marker >= 0xd0 && marker <= 0xd8) || marker === 0x01
const APP1 = 0xe1
const START_OF_SCAN = 0xda
const EXIF_NAME = 'Exif\0\0'

function parseJpeg(bytes: Uint8Array, view: DataView): PictureHeader | undefined {
  let size: Size | undefined
  let block: Uint8Array | undefined
  let exif: ExifPlace | undefined
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1] as number
    // Some cameras leave stray bytes between segments, and any number of 0xff may stand before a marker.
    if (bytes[at] !== 0xff || marker === 0 || marker === 0xff) at += 1
    else if (hasNoLength(marker)) at += 2
    else if (marker === START_OF_SCAN) break
    else {
      const begin = at + 4
      const end = at + 2 + view.getUint16(at + 2)
      if (isFrameMarker(marker))
        size ??= { width: view.getUint16(begin + 3), height: view.getUint16(begin + 1) }
      if (marker === APP1 && !block && readText(bytes, begin, EXIF_NAME.length) === EXIF_NAME) {
        block = bytes.subarray(begin + EXIF_NAME.length, end)
        exif = { byteOffset: begin, byteLength: 4, replacement: 'none' }
      }
      at = Math.max(end, begin)
    }
  }
  return oriented(size, block, exif)
}

/** Chunks: length, name, data, checksum of name and data (W3C PNG, section 5.3). */
function parsePng(bytes: Uint8Array, view: DataView): PictureHeader | undefined {
  if (readText(bytes, 12, 4) !== 'IHDR') return undefined
  const size = { width: view.getUint32(16), height: view.getUint32(20) }
  for (let at = 8; at + 12 <= bytes.length; ) {
    const byteLength = 12 + view.getUint32(at)
    if (readText(bytes, at + 4, 4) === 'eXIf') {
      const block = bytes.subarray(at + 8, at + byteLength - 4)
      return oriented(size, block, { byteOffset: at, byteLength, replacement: '' })
    }
    at += byteLength
  }
  return upright(size)
}

/** Chunks: name, length, data padded to an even length (RFC 9649, section 2.3). */
function parseWebp(bytes: Uint8Array, view: DataView): PictureHeader | undefined {
  const size = parseWebpSize(bytes, view)
  for (let at = 12; at + 8 <= bytes.length; ) {
    const byteLength = view.getUint32(at + 4, true)
    if (readText(bytes, at, 4) === 'EXIF') {
      const chunk = bytes.subarray(at + 8, at + 8 + byteLength)
      const hasName = readText(chunk, 0, EXIF_NAME.length) === EXIF_NAME
      const exif = { byteOffset: at, byteLength: 4, replacement: 'none' }
      return oriented(size, hasName ? chunk.subarray(EXIF_NAME.length) : chunk, exif)
    }
    at += 8 + byteLength + (byteLength % 2)
  }
  return upright(size)
}

function parseWebpSize(bytes: Uint8Array, view: DataView): Size | undefined {
  switch (readText(bytes, 12, 4)) {
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X': {
      const width = view.getUint32(24, true) & 0xffffff
      const height = view.getUint32(26, true) >>> 8
      return { width: width + 1, height: height + 1 }
    }
    default:
      return undefined
  }
}

/** The oldest header has 16-bit sizes; in the others a negative height means rows from top to bottom. */
function parseBmpSize(view: DataView): Size {
  if (view.getUint32(14, true) === 12)
    return { width: view.getUint16(18, true), height: view.getUint16(20, true) }
  return { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) }
}

/** Boxes: length, name, content (ISO/IEC 14496-12); the sizes of all pictures inside are properties of the file. */
const SIZE_PATH = [
  { name: 'meta', skip: 4 },
  { name: 'iprp', skip: 0 },
  { name: 'ipco', skip: 0 },
] as const

/** The largest picture: a large one may be a grid of tiles that have sizes of their own. */
function parseIsoMediaSize(view: DataView): Size | undefined {
  let [begin, end] = [0, view.byteLength]
  for (const { name, skip } of SIZE_PATH) {
    const box = [...boxes(view, begin, end)].find((one) => one.name === name)
    if (!box) return undefined
    ;[begin, end] = [box.begin + skip, box.end]
  }
  let largest: Size | undefined
  for (const box of boxes(view, begin, end)) {
    if (box.name !== 'ispe') continue
    const size = { width: view.getUint32(box.begin + 4), height: view.getUint32(box.begin + 8) }
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size
  }
  return largest
}

function* boxes(view: DataView, begin: number, end: number) {
  for (let at = begin; at + 8 <= end; ) {
    const short = view.getUint32(at)
    const headerLength = short === 1 ? 16 : 8
    // 0 stands for "to the end", 1 for a length of 64 bits.
    const length = short === 0 ? end - at : short === 1 ? Number(view.getBigUint64(at + 8)) : short
    if (length < headerLength) return
    const name = String.fromCharCode(...[4, 5, 6, 7].map((index) => view.getUint8(at + index)))
    yield { name, begin: at + headerLength, end: Math.min(at + length, end) }
    at += length
  }
}

function readText(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length))
}
