import type { Steps } from '../shared/steps.ts'
import type { Kernel } from './resample-filter.ts'

/*
 * The two passes of Pillow's 8-bit resampler. Which one goes first is decided in resample.ts.
 */

/** Fractional bits of a weight: 32 less 8 for the sample, less 2 for weights whose sums leave 0..1. */
const PRECISION_BITS = 22
const ONE = 1 << PRECISION_BITS
const HALF = 1 << (PRECISION_BITS - 1)

/**
 * Weights held at a time (1 MB as int32, some milliseconds to compute). A 12-megapixel photo needs 30 thousand; a strip of
 * 100 million by 1 pixels would need 600 million, so output positions are then done in several rounds.
 */
const MAX_TABLE_ENTRIES = 1 << 18

/** Products of a sample and a weight in one step, some milliseconds of work. */
const STEP_PRODUCTS = 1 << 20

/** Positions `first .. end` along one side. */
export interface Span {
  first: number
  end: number
}

/** Part of a picture on its way: rows and columns keep the numbers they have in the whole. */
export interface Strip {
  data: Uint8ClampedArray // (rows, columns, 3)
  rows: Span
  columns: Span
}

/** Weights of the output positions `first .. first + count`. */
interface WeightTable {
  /** Taps of output `i` start at input `starts[i]`. */
  starts: Int32Array // (count)
  lengths: Int32Array // (count)
  weights: Int32Array // (count, stride), 22 fractional bits
  stride: number
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

/** The input positions that `outputs` are made of. */
export function sourcesOf(outputs: Span, inputSize: number, outputSize: number, kernel: Kernel): Span {
  if (inputSize === outputSize) return outputs
  const { scale, support } = windowOf(inputSize, outputSize, kernel)
  return {
    first: tapStart((outputs.first + 0.5) * scale, support),
    end: tapEnd((outputs.end - 1 + 0.5) * scale, support, inputSize),
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

function createStrip(rows: Span, columns: Span): Strip {
  const pixels = (rows.end - rows.first) * (columns.end - columns.first)
  return { data: new Uint8ClampedArray(pixels * 3), rows, columns }
}

/** Bytes from the start of `strip` to a pixel of it. */
export function offsetOf(strip: Strip, row: number, column: number): number {
  const width = strip.columns.end - strip.columns.first
  return ((row - strip.rows.first) * width + column - strip.columns.first) * 3
}

/** Output columns `columns` of the rows `rows`. */
export function* passHorizontal(
  strip: Strip,
  inputWidth: number,
  width: number,
  kernel: Kernel,
  columns: Span,
  rows: Span,
): Steps<Strip> {
  if (width === inputWidth) return strip
  const out = createStrip(rows, columns)
  const stride = tableStride(inputWidth, width, kernel)
  const perRound = Math.max(1, Math.floor(MAX_TABLE_ENTRIES / stride))
  for (let first = columns.first; first < columns.end; first += perRound) {
    const count = Math.min(perRound, columns.end - first)
    const table = makeWeights(inputWidth, width, kernel, first, count)
    const rowsPerStep = Math.ceil(STEP_PRODUCTS / (count * stride * 3))
    for (let row = rows.first; row < rows.end; row++) {
      if ((row - rows.first) % rowsPerStep === 0) yield
      blendColumns(strip.data, offsetOf(strip, row, 0), table, out.data, offsetOf(out, row, first))
    }
  }
  return out
}

/** Output rows `rows` of the columns `columns`. */
export function* passVertical(
  strip: Strip,
  inputHeight: number,
  height: number,
  kernel: Kernel,
  rows: Span,
  columns: Span,
): Steps<Strip> {
  if (height === inputHeight) return strip
  const out = createStrip(rows, columns)
  const pitch = (strip.columns.end - strip.columns.first) * 3
  const rowBytes = (columns.end - columns.first) * 3
  const stride = tableStride(inputHeight, height, kernel)
  const perRound = Math.max(1, Math.floor(MAX_TABLE_ENTRIES / stride))
  const bytesPerStep = Math.ceil(STEP_PRODUCTS / stride)
  let bytes = 0
  for (let first = rows.first; first < rows.end; first += perRound) {
    const count = Math.min(perRound, rows.end - first)
    const table = makeWeights(inputHeight, height, kernel, first, count)
    for (let i = 0; i < count; i++) {
      const from = offsetOf(strip, table.starts[i] as number, columns.first)
      const to = offsetOf(out, first + i, columns.first)
      for (let done = 0; done < rowBytes; done += bytesPerStep) {
        const part = Math.min(bytesPerStep, rowBytes - done)
        blendRows(strip.data, from + done, pitch, table, i, out.data, to + done, part)
        bytes += part
        if (bytes < bytesPerStep) continue
        bytes = 0
        yield
      }
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
  source: Uint8ClampedArray,
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

/** One row of the vertical pass: four bytes side by side share a weight, so that sums stay in registers. */
function blendRows(
  source: Uint8ClampedArray,
  from: number,
  pitch: number,
  table: WeightTable,
  i: number,
  out: Uint8ClampedArray,
  to: number,
  rowBytes: number,
): void {
  const firstTap = i * table.stride
  const endTap = firstTap + (table.lengths[i] as number)
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
      at += pitch
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
      at += pitch
    }
    out[to + column] = sum >> PRECISION_BITS
  }
}
