/** Convolutions over time in float, in pieces that fit a small scratch memory. Rows are times, columns channels. */
import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import type { FloatMatrixType } from '../../backend/ops.ts'

export interface Convolution {
  readonly type: FloatMatrixType
  readonly matrix: DeviceBuffer // packed (outputs, kernel * inputs); transposed: (kernel * outputs, inputs)
  readonly bias: DeviceBuffer | undefined // f32 (outputs)
  readonly inputs: number
  readonly outputs: number
  readonly kernel: number
  /** Transposed: rows of output for each row of input. */
  readonly stride: number
  readonly dilation: number
  /** Zeros before the input; transposed: rows that are cut off before the output. */
  readonly padding: number
}

/** Scratch memory of all convolutions of a model. */
export interface Scratch {
  readonly buffer: DeviceBuffer
}

export interface ConvolveOptions {
  /** Add to what `out` holds. Default false. */
  readonly accumulate?: boolean
}

/** `out (rows, outputs)`: as many rows as `x (rows, inputs)` has. */
export function convolve(
  backend: Backend,
  conv: Convolution,
  x: BufferRef,
  rows: number,
  out: BufferRef,
  { buffer }: Scratch,
  { accumulate = false }: ConvolveOptions = {},
): void {
  const { type, matrix, bias, inputs, outputs, kernel, dilation, padding } = conv
  const linear = (source: BufferRef, target: BufferRef, m: number): void =>
    backend.enqueue('matmulFloat', {
      type,
      x: source,
      matrix,
      bias,
      out: target,
      m,
      n: outputs,
      k: kernel * inputs,
      accumulate: accumulate ? 1 : 0,
    })
  if (kernel === 1) {
    linear(x, out, rows)
    return
  }
  const piece = Math.max(1, Math.floor(buffer.byteLength / (kernel * inputs * 4)))
  for (let firstRow = 0; firstRow < rows; firstRow += piece) {
    const outRows = Math.min(piece, rows - firstRow)
    backend.enqueue('unfoldRows', {
      x,
      out: buffer,
      rows,
      columns: inputs,
      outRows,
      kernel,
      stride: 1,
      dilation,
      padding,
      firstRow,
    })
    linear(buffer, shift(out, firstRow * outputs), outRows)
  }
}

/** Rows that `convolveTransposed` makes of `rows`. */
export function transposedRows({ kernel, stride, padding }: Convolution, rows: number): number {
  return (rows - 1) * stride + kernel - 2 * padding
}

/** A transposed convolution: `out (transposedRows, outputs)` of `x (rows, inputs)`. */
export function convolveTransposed(
  backend: Backend,
  conv: Convolution,
  x: BufferRef,
  rows: number,
  out: BufferRef,
  { buffer }: Scratch,
): void {
  const { type, matrix, bias, inputs, outputs, kernel, stride, padding } = conv
  const total = transposedRows(conv, rows)
  // Rows of input that reach into the output of the next piece.
  const overlap = Math.ceil(kernel / stride) - 1
  const piece = Math.max(overlap + 1, Math.floor(buffer.byteLength / (kernel * outputs * 4)))
  for (let firstInput = 0, firstRow = 0; firstRow < total; firstInput += piece - overlap) {
    const count = Math.min(piece, rows - firstInput)
    const isLast = firstInput + count === rows
    const end = isLast ? total : (firstInput + count) * stride - padding
    backend.enqueue('matmulFloat', {
      type,
      x: shift(x, firstInput * inputs),
      matrix,
      bias: undefined,
      out: buffer,
      m: count,
      n: kernel * outputs,
      k: inputs,
      accumulate: 0,
    })
    backend.enqueue('foldRows', {
      x: buffer,
      bias,
      out: shift(out, firstRow * outputs),
      rows: count,
      columns: outputs,
      outRows: end - firstRow,
      kernel,
      stride,
      padding,
      firstRow,
      firstInput,
    })
    firstRow = end
  }
}

/** The place `floats` float32 further on. */
export function shift({ buffer, byteOffset }: BufferRef, floats: number): BufferRef {
  return { buffer, byteOffset: byteOffset + floats * 4 }
}
