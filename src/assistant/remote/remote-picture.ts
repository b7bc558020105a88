/** How pictures leave the device: as small as they may be, and without what a camera wrote into the file. */
import type { ImageInput, ImageReport } from '../../engine/types.ts'

export interface RemotePicture {
  /** A JPEG file, upright, without EXIF, location or other metadata. */
  readonly jpeg: Uint8Array
  /** `usedWidth` and `usedHeight` are the size of the JPEG. */
  readonly report: Pick<ImageReport, 'width' | 'height' | 'usedWidth' | 'usedHeight' | 'orientation'>
}

/** Implemented by hosts. Throws `image/…` and `file/…` as for a model on the device. */
export type EncodeRemotePicture = (
  input: ImageInput,
  /** Longest side in pixels; smaller pictures keep their size. */
  longestSide: number,
  signal?: AbortSignal,
) => Promise<RemotePicture>

/** What services scale pictures down to anyway, by the detail that was asked for. */
export const LONGEST_SIDE = { low: 512, high: 2048, auto: 2048 } as const

const CHUNK = 0x8000

export function jpegDataUrl(jpeg: Uint8Array): string {
  let binary = ''
  for (let start = 0; start < jpeg.length; start += CHUNK) {
    binary += String.fromCharCode(...jpeg.subarray(start, start + CHUNK))
  }
  return `data:image/jpeg;base64,${btoa(binary)}`
}
