/** A WebP with only its picture and colour profile. */
import type { BareOutcome } from './bare-picture.ts'
import { orientationOf } from './exif-orientation.ts'
import { textAt } from './picture-format.ts'

/** Of the first byte of VP8X: which other chunks there are. */
const HAS_METADATA = 0x08 | 0x04
const HAS_ANIMATION = 0x02

/** RFC 9649, section 2. */
export function bareWebp(file: Uint8Array<ArrayBuffer>): BareOutcome {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size: { width: number; height: number } | undefined
  let at = 12
  while (at + 8 <= file.length) {
    const name = textAt(file, at, 4)
    const length = view.getUint32(at + 4, true)
    // Chunks have an even length; the byte that fills up is not counted.
    const end = at + 8 + length + (length & 1)
    if (at + 8 + length > file.length) return undefined
    const chunk = file.slice(at, Math.min(end, file.length))
    if (name === 'EXIF') {
      const data = file.subarray(at + 8, at + 8 + length)
      const tiff = textAt(data, 0, 4) === 'Exif' ? data.subarray(6) : data
      if (orientationOf(tiff) !== 1) return undefined
    } else if (name === 'VP8X') {
      const flags = chunk[8] ?? 0
      if (flags & HAS_ANIMATION) return undefined
      chunk[8] = flags & ~HAS_METADATA
      size = { width: 1 + threeBytes(chunk, 12), height: 1 + threeBytes(chunk, 15) }
      parts.push(chunk)
    } else if (['VP8 ', 'VP8L', 'ALPH', 'ICCP'].includes(name)) {
      size ??= sizeOfFrame(name, chunk)
      parts.push(chunk)
    }
    at = end
  }
  if (!size) return undefined
  const header = file.slice(0, 12)
  const byteLength = parts.reduce((sum, part) => sum + part.length, 4)
  new DataView(header.buffer).setUint32(4, byteLength, true)
  return { parts: [header, ...parts], ...size }
}

/** Sizes of 14 bits: of VP8 in its key frame's header (RFC 6386, 9.1), of VP8L behind its signature (RFC 9649, 3.4). */
function sizeOfFrame(name: string, chunk: Uint8Array): { width: number; height: number } | undefined {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  if (name === 'VP8 ' && chunk.length >= 18) {
    return { width: view.getUint16(14, true) & 0x3fff, height: view.getUint16(16, true) & 0x3fff }
  }
  if (name === 'VP8L' && chunk.length >= 13) {
    const bits = view.getUint32(9, true)
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
  }
  return undefined
}

function threeBytes(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
}
