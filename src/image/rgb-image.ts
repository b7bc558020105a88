import { EngineError } from '../shared/errors.ts'

/** A decoded picture: 8-bit RGB, rows from top to bottom, no padding between rows. */
export class RgbImage {
  /** Pixels in a row, at least 1. */
  readonly width: number
  /** Rows, at least 1. */
  readonly height: number
  readonly data: Uint8Array | Uint8ClampedArray // (height, width, 3)

  /**
   * Takes `data` as it is, without a copy.
   *
   * Throws `image/invalid-size` when a side is no positive integer or `data` has another length than
   * `width * height * 3`.
   */
  constructor(width: number, height: number, data: Uint8Array | Uint8ClampedArray) {
    if (!Number.isSafeInteger(width) || !Number.isSafeInteger(height) || width < 1 || height < 1) {
      throw new EngineError('image/invalid-size', {
        message: `A picture needs a width and a height of at least 1 pixel, found ${width} x ${height}.`,
        hint: 'Pass the size in whole pixels.',
      })
    }
    const expected = width * height * 3
    if (data.length !== expected) {
      throw new EngineError('image/invalid-size', {
        message: `A picture of ${width} x ${height} pixels needs ${expected} bytes of RGB, found ${data.length}.`,
        hint: 'Pass three bytes a pixel: red, green, blue; no alpha and no padding between rows.',
      })
    }
    this.width = width
    this.height = height
    this.data = data
  }
}
