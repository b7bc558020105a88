import type { Backend, BufferRef } from '../../backend/backend.ts'
import { quantizedByteLength } from '../../backend/ops.ts'
import { createActivations, linear, type Matrix } from './matrix.ts'
import { offset } from './offset.ts'

export interface Convolution {
  readonly x: BufferRef // f32 (rows, channels)
  readonly rows: number
  readonly channels: number
  readonly matrix: Matrix // (outputs, kernel * channels)
  readonly bias?: BufferRef | undefined // f32 (outputs)
  readonly kernel: number
  /** Default 1, as `dilation`. */
  readonly stride?: number
  readonly dilation?: number
  /** Rows of zeros before the first row. Default 0. */
  readonly padding?: number
  /** Rows of zeros behind the last row. Default: as before the first. */
  readonly paddingAfter?: number
  readonly out: BufferRef // f32 (convolvedRows, outputs)
  /** Of the size that `convolutionPlan` says. */
  readonly windows: BufferRef
  readonly quantized: BufferRef
}

/** Windows unfolded at a time, so that they stay small beside the sound. */
const PIECE_ROWS = 512

/** Rows of a convolution's result. */
export function convolvedRows(
  convolution: Omit<Convolution, 'x' | 'out' | 'matrix' | 'windows' | 'quantized'>,
): number {
  const { rows, kernel, stride = 1, dilation = 1, padding = 0, paddingAfter = padding } = convolution
  return Math.floor((rows + padding + paddingAfter - dilation * (kernel - 1) - 1) / stride) + 1
}

/** Sizes of the run state for windows of `columns` = kernel * channels elements. */
export function convolutionPlan(columns: number): { windows: number; quantized: number } {
  return { windows: PIECE_ROWS * columns * 4, quantized: quantizedByteLength(PIECE_ROWS, columns) }
}

/** Enqueues a convolution over time. */
export function conv1d(backend: Backend, convolution: Convolution): void {
  const { x, rows, channels, matrix, bias, kernel, stride = 1, dilation = 1, padding = 0 } = convolution
  const { out, windows, quantized } = convolution
  const outRows = convolvedRows(convolution)
  for (let firstRow = 0; firstRow < outRows; firstRow += PIECE_ROWS) {
    const count = Math.min(PIECE_ROWS, outRows - firstRow)
    backend.enqueue('unfoldRows', {
      x,
      out: windows,
      rows,
      columns: channels,
      outRows: count,
      kernel,
      stride,
      dilation,
      padding,
      firstRow,
    })
    const input = createActivations(windows, count, kernel * channels, quantized)
    linear(backend, input, matrix, offset(out, firstRow * matrix.rows * 4), { bias })
  }
}
