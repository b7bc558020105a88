import { EngineError } from '../shared/errors.ts'
import type { Steps } from '../shared/steps.ts'
import { KERNELS, type ResampleFilter } from './resample-filter.ts'
import { offsetOf, passHorizontal, passVertical, type Span, type Strip, sourcesOf } from './resample-pass.ts'
import { RgbImage } from './rgb-image.ts'

/*
 * Pillow's 8-bit resampler, byte for byte: one pass a direction, each in fixed point with 22 fractional bits and
 * rounded to 8 bits. Method: Pillow `src/libImaging/Resample.c`; the order of the passes is that of Pillow 13.
 */

/**
 * Bytes of one output: what an ArrayBuffer holds on the smallest engines. The largest real picture, stage 2 of
 * Idefics3 at its 4096-pixel cap, takes 50 million.
 */
const MAX_OUTPUT_BYTES = 2 ** 31 - 1

/** A rectangle of pixels. */
export interface Region {
  left: number
  top: number
  width: number
  height: number
}

/**
 * Resizes `image` to `width` x `height` as Pillow does, byte for byte. With `region` only that part of the result
 * is computed and returned, which costs no more than the part; its pixels equal those of the whole.
 *
 * Memory beside input and output: one picture, resized in one direction. When neither side changes, the result may
 * share the bytes of `image`.
 * Throws `image/invalid-size` for a size that is no positive integer, a region outside, or a result above 2 GB.
 */
export function* resample(
  image: RgbImage,
  width: number,
  height: number,
  filter: ResampleFilter,
  region: Region = { left: 0, top: 0, width, height },
): Steps<RgbImage> {
  checkSizes(image, width, height, region)
  if (filter === 'nearest') return resampleNearest(image, width, height, region)
  const kernel = KERNELS[filter]
  const whole: Strip = {
    data: new Uint8ClampedArray(image.data.buffer, image.data.byteOffset, image.data.length),
    rows: { first: 0, end: image.height },
    columns: { first: 0, end: image.width },
  }
  const rows = { first: region.top, end: region.top + region.height }
  const columns = { first: region.left, end: region.left + region.width }
  let strip: Strip
  if (isVerticalFirst(image, width, height)) {
    const needed = sourcesOf(columns, image.width, width, kernel)
    strip = yield* passVertical(whole, image.height, height, kernel, rows, needed)
    strip = yield* passHorizontal(strip, image.width, width, kernel, columns, rows)
  } else {
    const needed = sourcesOf(rows, image.height, height, kernel)
    strip = yield* passHorizontal(whole, image.width, width, kernel, columns, needed)
    strip = yield* passVertical(strip, image.height, height, kernel, rows, columns)
  }
  return new RgbImage(region.width, region.height, crop(strip, rows, columns))
}

/**
 * Pillow 13's choice, found by trying 4000 pairs of sizes: the order shows in the result, as each pass rounds.
 * Releases before it went horizontally first (12.2 and 12.3: unless a picture is 100 times taller than wide).
 */
function isVerticalFirst(image: RgbImage, width: number, height: number): boolean {
  return height < image.height && image.height - height > 2 * (image.width - width)
}

function checkSizes(image: RgbImage, width: number, height: number, region: Region): void {
  const { left, top, width: w, height: h } = region
  const whole = [width, height, left, top, w, h].every(Number.isSafeInteger)
  const inside = left >= 0 && top >= 0 && w >= 1 && h >= 1 && left + w <= width && top + h <= height
  if (!whole || !inside) {
    throw new EngineError('image/invalid-size', {
      message:
        `Resizing ${image.width} x ${image.height} pixels: expected whole numbers and a part inside the result, ` +
        `found ${w} x ${h} at ${left}, ${top} of ${width} x ${height}.`,
      hint: 'Both sides of the new size must be at least 1.',
    })
  }
  if (w * h * 3 > MAX_OUTPUT_BYTES) {
    throw new EngineError('image/invalid-size', {
      message:
        `Resizing ${image.width} x ${image.height} pixels to ${w} x ${h} needs ${w * h * 3} bytes; ` +
        `at most ${MAX_OUTPUT_BYTES} are possible.`,
      hint: 'Crop the picture to a less extreme shape first.',
    })
  }
}

/** The wanted rows and columns of a strip that may hold more, where a pass was not needed. */
function crop(strip: Strip, rows: Span, columns: Span): Uint8ClampedArray {
  const rowBytes = (columns.end - columns.first) * 3
  if (strip.columns.end - strip.columns.first === columns.end - columns.first) {
    const from = offsetOf(strip, rows.first, columns.first)
    return strip.data.subarray(from, from + (rows.end - rows.first) * rowBytes)
  }
  const out = new Uint8ClampedArray((rows.end - rows.first) * rowBytes)
  for (let row = rows.first; row < rows.end; row++) {
    const from = offsetOf(strip, row, columns.first)
    out.set(strip.data.subarray(from, from + rowBytes), (row - rows.first) * rowBytes)
  }
  return out
}

/** Pillow's nearest: the sampling point moves by repeated addition, whose rounding errors belong to the result. */
function nearestSources(inputSize: number, outputSize: number, first: number, count: number): Int32Array {
  const scale = inputSize / outputSize
  const sources = new Int32Array(count)
  let point = scale * 0.5
  for (let i = 0; i < first + count; i++) {
    if (i >= first) sources[i - first] = Math.min(Math.trunc(point), inputSize - 1)
    point += scale
  }
  return sources
}

function resampleNearest(image: RgbImage, width: number, height: number, region: Region): RgbImage {
  const columns = nearestSources(image.width, width, region.left, region.width)
  const rows = nearestSources(image.height, height, region.top, region.height)
  const out = new Uint8ClampedArray(region.width * region.height * 3)
  let to = 0
  for (const row of rows) {
    for (const column of columns) {
      const at = (row * image.width + column) * 3
      out[to] = image.data[at] as number
      out[to + 1] = image.data[at + 1] as number
      out[to + 2] = image.data[at + 2] as number
      to += 3
    }
  }
  return new RgbImage(region.width, region.height, out)
}
