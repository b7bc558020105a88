/** The port through which pictures become files again. */
import type { RgbImage } from './rgb-image.ts'

export interface EncodedJpeg {
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/** Scales down so that no side is longer than `longestSide` pixels. The file holds no metadata. */
export type EncodeJpeg = (
  image: RgbImage,
  longestSide: number,
  /** 1 to 100. */
  quality: number,
) => Promise<EncodedJpeg>
