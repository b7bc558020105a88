import type { Backend, BufferRef, DeviceBuffer } from '../../backend/backend.ts'
import { isFloatMatrixType, type MatrixType } from '../../backend/ops.ts'

/** A weight matrix on the device. */
export interface Matrix {
  readonly type: MatrixType
  /** Outputs. */
  readonly rows: number
  /** Inputs. */
  readonly columns: number
  readonly data: DeviceBuffer // packed (rows, columns)
}

/** Rows of activations that one or more linear layers read; quantised at most once. */
export interface Activations {
  readonly x: BufferRef // f32 (rows, columns)
  readonly rows: number
  readonly columns: number
  /** Room for the quantised form, `quantizedByteLength(rows, columns)`. */
  readonly quantized: BufferRef
  isQuantized: boolean
}

export function createActivations(
  x: BufferRef,
  rows: number,
  columns: number,
  quantized: BufferRef,
): Activations {
  return { x, rows, columns, quantized, isQuantized: false }
}

export interface LinearOptions {
  readonly bias?: BufferRef | undefined // f32 (matrix.rows)
  /** Add to what `out` holds: a residual connection. Default false. */
  readonly accumulate?: boolean
}

/** `out (rows, matrix.rows) = activations · matrixᵀ + bias`, in the arithmetic that the matrix's type asks for. */
export function linear(
  backend: Backend,
  input: Activations,
  matrix: Matrix,
  out: BufferRef,
  options: LinearOptions = {},
): void {
  const shared = {
    type: matrix.type,
    matrix: matrix.data,
    bias: options.bias,
    out,
    m: input.rows,
    n: matrix.rows,
    k: matrix.columns,
    accumulate: options.accumulate ? 1 : 0,
  }
  if (isFloatMatrixType(matrix.type)) {
    backend.enqueue('matmulFloat', { ...shared, x: input.x })
    return
  }
  if (!input.isQuantized) {
    backend.enqueue('quantizeRows', {
      x: input.x,
      out: input.quantized,
      rows: input.rows,
      columns: input.columns,
    })
    input.isQuantized = true
  }
  backend.enqueue('matmulQuantized', { ...shared, x: input.quantized })
}
