/** A PNG with only what its picture is made of. */
import type { BareOutcome } from './bare-picture.ts'
import { orientationOf } from './exif-orientation.ts'
import { textAt } from './picture-format.ts'

/** Chunks without which the picture would look different; of an animation the first frame stays. */
const KEPT = new Set([
  ...['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'],
  ...['gAMA', 'cHRM', 'sRGB', 'iCCP', 'cICP', 'sBIT', 'bKGD', 'pHYs'],
])

/** PNG specification, third edition, section 5. */
export function barePng(file: Uint8Array<ArrayBuffer>): BareOutcome {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const parts = [file.subarray(0, 8)]
  let size: { width: number; height: number } | undefined
  let at = 8
  while (at + 12 <= file.length) {
    const length = view.getUint32(at)
    const name = textAt(file, at + 4, 4)
    const end = at + 12 + length
    if (end > file.length) return undefined
    if (name === 'IHDR' && length === 13) {
      size = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) }
    }
    // Only drawing it anew turns the picture.
    if (name === 'eXIf' && orientationOf(file.subarray(at + 8, end - 4)) !== 1) return undefined
    if (KEPT.has(name)) parts.push(file.subarray(at, end))
    if (name === 'IEND') return size && { parts, ...size }
    at = end
  }
  return undefined
}
