import { EngineError } from '../shared/errors.ts'
import { KERNELS, type Kernel, type ResampleFilter } from './resample-filter.ts'
import { RgbImage } from './rgb-image.ts'

/*
 * Pillow's 8-bit resampler, byte for byte: a horizontal pass, then a vertical pass, each in fixed point with 22
 * fractional bits and rounded to 8 bits. Method: Pillow 12.3 `src/libImaging/Resample.c`.
 */

/** Fractional bits of a weight: 32 less 8 for the sample, less 2 for weights whose sums leave 0..1. */
const PRECISION_BITS = 22
const ONE = 1 << PRECISION_BITS
const HALF = 1 << (PRECISION_BITS - 1)

/**
 * Weights held at a time (16 MB as int32). A 12-megapixel photo needs 30 thousand; a strip of 100 million by 1
 * pixels would need 600 million, so output columns are then done in several rounds.
 */
const MAX_TABLE_ENTRIES = 1 << 22

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

/** Weights of the output positions `first .. first + count`. */
interface WeightTable {
  /** Taps of output `i` start at input `starts[i]`. */
  starts: Int32Array // (count)
  lengths: Int32Array // (count)
  weights: Int32Array // (count, stride), 22 fractional bits
  stride: number
}

/**
 * Resizes `image` to `width` x `height` as Pillow does, byte for byte. With `region` only that part of the result
 * is computed and returned, which costs no more than the part; its pixels equal those of the whole.
 *
 * Memory beside input and output: one picture of the region's width and the input rows that it needs. When neither
 * side changes, the result may share the bytes of `image`.
 * Throws `image/invalid-size` for a size that is no positive integer, a region outside, or a result above 2 GB.
 */
export function resample(
  image: RgbImage,
  width: number,
  height: number,
  filter: ResampleFilter,
  region: Region = { left: 0, top: 0, width, height },
): RgbImage {
  checkSizes(image, width, height, region)
  if (filter === 'nearest') return resampleNearest(image, width, height, region)
  const kernel = KERNELS[filter]
  const rows = rowsNeeded(image.height, height, kernel, region)
  const source = new Uint8Array(image.data.buffer, image.data.byteOffset, image.data.length)
  const squeezed =
    width === image.width
      ? cropColumns(source, image.width, rows, region)
      : passHorizontal(source, image.width, width, kernel, rows, region)
  const data =
    height === image.height
      ? squeezed
      : passVertical(squeezed, image.height, height, kernel, rows.first, region)
  return new RgbImage(region.width, region.height, data)
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

/** Half the window's width in input pixels, and the step from one output pixel to the next. */
function windowOf(inputSize: number, outputSize: number, kernel: Kernel): { scale: number; support: number } {
  const scale = inputSize / outputSize
  return { scale, support: kernel.support * Math.max(scale, 1) }
}

/** First tap and the tap after the last one, of output position `index`. */
function tapStart(center: number, support: number): number {
  return Math.max(0, Math.trunc(center - support + 0.5))
}

function tapEnd(center: number, support: number, inputSize: number): number {
  return Math.min(inputSize, Math.trunc(center + support + 0.5))
}

/** The input rows that the region's rows are made of. */
function rowsNeeded(
  inputHeight: number,
  height: number,
  kernel: Kernel,
  region: Region,
): { first: number; end: number } {
  if (height === inputHeight) return { first: region.top, end: region.top + region.height }
  const { scale, support } = windowOf(inputHeight, height, kernel)
  const last = region.top + region.height - 1
  return {
    first: tapStart((region.top + 0.5) * scale, support),
    end: tapEnd((last + 0.5) * scale, support, inputHeight),
  }
}

function tableStride(inputSize: number, outputSize: number, kernel: Kernel): number {
  const { support } = windowOf(inputSize, outputSize, kernel)
  return Math.min(Math.ceil(support) * 2 + 1, inputSize)
}

function makeWeights(
  inputSize: number,
  outputSize: number,
  kernel: Kernel,
  first: number,
  count: number,
): WeightTable {
  const { scale, support } = windowOf(inputSize, outputSize, kernel)
  const perPixel = 1 / Math.max(scale, 1)
  const stride = tableStride(inputSize, outputSize, kernel)
  const starts = new Int32Array(count)
  const lengths = new Int32Array(count)
  const weights = new Int32Array(count * stride)
  const exact = new Float64Array(stride)
  for (let i = 0; i < count; i++) {
    const center = (first + i + 0.5) * scale
    const start = tapStart(center, support)
    const length = tapEnd(center, support, inputSize) - start
    let sum = 0
    for (let t = 0; t < length; t++) {
      const weight = kernel.weight((t + start - center + 0.5) * perPixel)
      exact[t] = weight
      sum += weight
    }
    for (let t = 0; t < length; t++) {
      // Divided first, scaled after, rounded half away from zero: the order decides the last bit.
      const weight = sum === 0 ? (exact[t] ?? 0) : (exact[t] ?? 0) / sum
      weights[i * stride + t] = Math.trunc(weight < 0 ? weight * ONE - 0.5 : weight * ONE + 0.5)
    }
    starts[i] = start
    lengths[i] = length
  }
  return { starts, lengths, weights, stride }
}

/** Rows `rows` of the picture, resized in width to the region's columns. Result: (rows, region.width, 3). */
function passHorizontal(
  source: Uint8Array,
  inputWidth: number,
  width: number,
  kernel: Kernel,
  rows: { first: number; end: number },
  region: Region,
): Uint8ClampedArray {
  const rowCount = rows.end - rows.first
  const out = new Uint8ClampedArray(rowCount * region.width * 3)
  const perRound = Math.max(1, Math.floor(MAX_TABLE_ENTRIES / tableStride(inputWidth, width, kernel)))
  for (let column = 0; column < region.width; column += perRound) {
    const count = Math.min(perRound, region.width - column)
    const table = makeWeights(inputWidth, width, kernel, region.left + column, count)
    for (let row = 0; row < rowCount; row++) {
      const from = (rows.first + row) * inputWidth * 3
      blendColumns(source, from, table, out, (row * region.width + column) * 3)
    }
  }
  return out
}

/**
 * One row of the horizontal pass. Sums fit an int32: the positive weights of one output sum to less than 1.3 for
 * every window here (largest found: Lanczos, 4 to 5 pixels, 9/7), so a sum stays below 255 * 1.3 * 2^22 < 2^31,
 * and so does each partial sum. A store to a clamped array does the clipping to 0..255.
 */
function blendColumns(
  source: Uint8Array,
  from: number,
  table: WeightTable,
  out: Uint8ClampedArray,
  to: number,
): void {
  const { starts, lengths, weights, stride } = table
  const count = starts.length
  for (let i = 0; i < count; i++) {
    const firstTap = i * stride
    const endTap = firstTap + (lengths[i] as number)
    let at = from + (starts[i] as number) * 3
    let red = HALF
    let green = HALF
    let blue = HALF
    for (let tap = firstTap; tap < endTap; tap++) {
      const weight = weights[tap] as number
      red = (red + Math.imul(source[at] as number, weight)) | 0
      green = (green + Math.imul(source[at + 1] as number, weight)) | 0
      blue = (blue + Math.imul(source[at + 2] as number, weight)) | 0
      at += 3
    }
    out[to] = red >> PRECISION_BITS
    out[to + 1] = green >> PRECISION_BITS
    out[to + 2] = blue >> PRECISION_BITS
    to += 3
  }
}

/** Resizes `source`, whose first row is input row `firstRow`, in height to the region's rows. */
function passVertical(
  source: Uint8Array | Uint8ClampedArray,
  inputHeight: number,
  height: number,
  kernel: Kernel,
  firstRow: number,
  region: Region,
): Uint8ClampedArray {
  const rowBytes = region.width * 3
  const out = new Uint8ClampedArray(region.height * rowBytes)
  const perRound = Math.max(1, Math.floor(MAX_TABLE_ENTRIES / tableStride(inputHeight, height, kernel)))
  for (let row = 0; row < region.height; row += perRound) {
    const count = Math.min(perRound, region.height - row)
    const table = makeWeights(inputHeight, height, kernel, region.top + row, count)
    for (let i = 0; i < count; i++) blendRows(source, firstRow, table, i, out, (row + i) * rowBytes, rowBytes)
  }
  return out
}

/** Output row `i` of the vertical pass: eight bytes side by side share a weight, so that sums stay in registers. */
function blendRows(
  source: Uint8Array | Uint8ClampedArray,
  firstRow: number,
  table: WeightTable,
  i: number,
  out: Uint8ClampedArray,
  to: number,
  rowBytes: number,
): void {
  const firstTap = i * table.stride
  const endTap = firstTap + (table.lengths[i] as number)
  const from = ((table.starts[i] as number) - firstRow) * rowBytes
  const weights = table.weights
  let column = 0
  for (; column + 4 <= rowBytes; column += 4) {
    let at = from + column
    let a = HALF
    let b = HALF
    let c = HALF
    let d = HALF
    for (let tap = firstTap; tap < endTap; tap++) {
      const weight = weights[tap] as number
      a = (a + Math.imul(source[at] as number, weight)) | 0
      b = (b + Math.imul(source[at + 1] as number, weight)) | 0
      c = (c + Math.imul(source[at + 2] as number, weight)) | 0
      d = (d + Math.imul(source[at + 3] as number, weight)) | 0
      at += rowBytes
    }
    out[to + column] = a >> PRECISION_BITS
    out[to + column + 1] = b >> PRECISION_BITS
    out[to + column + 2] = c >> PRECISION_BITS
    out[to + column + 3] = d >> PRECISION_BITS
  }
  for (; column < rowBytes; column++) {
    let at = from + column
    let sum = HALF
    for (let tap = firstTap; tap < endTap; tap++) {
      sum = (sum + Math.imul(source[at] as number, weights[tap] as number)) | 0
      at += rowBytes
    }
    out[to + column] = sum >> PRECISION_BITS
  }
}

/** The region's columns of the needed rows, for a picture whose width does not change. */
function cropColumns(
  source: Uint8Array,
  inputWidth: number,
  rows: { first: number; end: number },
  region: Region,
): Uint8Array {
  const rowBytes = region.width * 3
  if (region.width === inputWidth) return source.subarray(rows.first * rowBytes, rows.end * rowBytes)
  const out = new Uint8Array((rows.end - rows.first) * rowBytes)
  for (let row = rows.first; row < rows.end; row++) {
    const at = (row * inputWidth + region.left) * 3
    out.set(source.subarray(at, at + rowBytes), (row - rows.first) * rowBytes)
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
