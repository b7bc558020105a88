/** A JPEG without place, time, device, comments, previews and whatever stands behind the picture. */
import type { BareOutcome } from './bare-picture.ts'
import { orientationOf, orientationSegment } from './exif-orientation.ts'
import { textAt } from './picture-format.ts'

const START_OF_SCAN = 0xda
const END = 0xd9

/**
 * Structure, tables and what colours mean are kept: JFIF, colour profile, Adobe's mark; all other application data and
 * comments go. What phones append, such as a second picture or a film, has metadata of its own and goes too.
 *
 * ITU-T T.81, annex B.
 */
export function bareJpeg(file: Uint8Array<ArrayBuffer>): BareOutcome {
  const parts = [file.subarray(0, 2)]
  let orientation = 1
  let size: { width: number; height: number } | undefined
  for (let at = 2; ; ) {
    // Markers may be filled up with any number of 0xff.
    while (file[at] === 0xff && file[at + 1] === 0xff) at++
    if (file[at] !== 0xff || at + 4 > file.length) return undefined
    const marker = file[at + 1] as number
    const end = at + 2 + word(file, at + 2)
    if (end > file.length) return undefined
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) size = { height: word(file, at + 5), width: word(file, at + 7) }
    if (marker === 0xe1 && textAt(file, at + 4, 4) === 'Exif')
      orientation = orientationOf(file.subarray(at + 10, end))
    if (marker === START_OF_SCAN) {
      if (!size) return undefined
      if (orientation !== 1) parts.splice(1, 0, orientationSegment(orientation))
      return { parts: [...parts, ...scansFrom(file, at)], ...size }
    }
    if (isKept(file, at, marker)) parts.push(file.subarray(at, end))
    at = end
  }
}

function isKept(file: Uint8Array, at: number, marker: number): boolean {
  const isApplicationData = marker >= 0xe0 && marker <= 0xef
  if (marker === 0xe2) return textAt(file, at + 4, 11) === 'ICC_PROFILE'
  if (isApplicationData) return marker === 0xe0 || marker === 0xee
  return marker !== 0xfe
}

/** The compressed picture up to its end, without application data between its scans. A cut file has no end. */
function scansFrom(file: Uint8Array<ArrayBuffer>, start: number): Uint8Array<ArrayBuffer>[] {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let kept = start
  let at = start + 2 + word(file, start + 2)
  for (;;) {
    at = file.indexOf(0xff, at)
    if (at < 0 || at + 1 >= file.length) return [...parts, file.subarray(kept)]
    const marker = file[at + 1] as number
    const isData = marker === 0 || (marker >= 0xd0 && marker <= 0xd7)
    if (isData) at += 2
    else if (marker === 0xff) at += 1
    else if (marker === END) return [...parts, file.subarray(kept, at + 2)]
    else {
      const end = at + 2 + word(file, at + 2)
      if (!isKept(file, at, marker)) {
        parts.push(file.subarray(kept, at))
        kept = end
      }
      at = end
    }
  }
}

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}
