import { RgbImage } from './rgb-image.ts'

/*
 * Decoded samples of other kinds to RGB, with Pillow's rounding (13.0 `src/libImaging/AlphaComposite.c`,
 * `src/libImaging/Convert.c`), so that a picture gives the bytes the models were trained on.
 */

/** Pillow's division by 255 of a number up to 65535 * 128, rounded by what the caller adds. */
function dividedBy255(value: number): number {
  return ((value >> 8) + value) >> 8
}

/** Fractional bits of the blend: as many as Pillow keeps. */
const BLEND_BITS = 7

/**
 * Lays a picture with alpha over white. Transformers 5.18 drops alpha instead, which shows hidden colours; releases
 * up to 4.57, with which the models were trained, did this.
 *
 * `data` is overwritten: the result lives in its first three quarters.
 */
export function rgbOverWhite(
  width: number,
  height: number,
  data: Uint8Array /* (height, width, 4) */,
): RgbImage {
  const pixels = width * height
  for (let pixel = 0; pixel < pixels; pixel++) {
    const at = pixel * 4
    const to = pixel * 3
    const alpha = data[at + 3] as number
    // Over an opaque ground the share of the top picture is its alpha, of 255 * 2^7.
    const share = alpha << BLEND_BITS
    const white = ((255 << BLEND_BITS) - share) * 255 + (0x80 << BLEND_BITS)
    data[to] = dividedBy255((data[at] as number) * share + white) >> BLEND_BITS
    data[to + 1] = dividedBy255((data[at + 1] as number) * share + white) >> BLEND_BITS
    data[to + 2] = dividedBy255((data[at + 2] as number) * share + white) >> BLEND_BITS
  }
  return new RgbImage(width, height, data.subarray(0, pixels * 3))
}

/**
 * Printing colours to RGB without a colour profile: `255 - black`, less the ink's share of it.
 *
 * `data` (0 = no ink) is overwritten: the result lives in its first three quarters.
 */
export function rgbFromCmyk(
  width: number,
  height: number,
  data: Uint8Array /* (height, width, 4) */,
): RgbImage {
  const pixels = width * height
  for (let pixel = 0; pixel < pixels; pixel++) {
    const at = pixel * 4
    const to = pixel * 3
    const light = 255 - (data[at + 3] as number)
    data[to] = light - dividedBy255((data[at] as number) * light + 128)
    data[to + 1] = light - dividedBy255((data[at + 1] as number) * light + 128)
    data[to + 2] = light - dividedBy255((data[at + 2] as number) * light + 128)
  }
  return new RgbImage(width, height, data.subarray(0, pixels * 3))
}
