/*
 * Matrix times vector in plain TypeScript, for networks so small that a pool of workers would cost more than it saves,
 * and that must run where none is: in a worker of the page or beside a microphone.
 */

export interface DenseLayer {
  readonly weight: Float32Array // (rows, columns)
  readonly bias: Float32Array // (rows)
}

/**
 * Writes bias + weight * input[from ...] into `output[to ...]`. Four rows at a time share what they read; rows are a
 * multiple of 4, or 1.
 */
export function multiply(
  { weight, bias }: DenseLayer,
  input: Float32Array,
  from: number,
  output: Float32Array,
  to: number,
): void {
  const rows = bias.length
  const columns = weight.length / rows
  if (rows === 1) {
    let sum = bias[0] as number
    for (let i = 0; i < columns; i++) sum += (weight[i] as number) * (input[from + i] as number)
    output[to] = sum
    return
  }
  for (let row = 0; row < rows; row += 4) {
    const first = row * columns
    const second = first + columns
    const third = second + columns
    const fourth = third + columns
    let a = bias[row] as number
    let b = bias[row + 1] as number
    let c = bias[row + 2] as number
    let d = bias[row + 3] as number
    for (let i = 0; i < columns; i++) {
      const x = input[from + i] as number
      a += (weight[first + i] as number) * x
      b += (weight[second + i] as number) * x
      c += (weight[third + i] as number) * x
      d += (weight[fourth + i] as number) * x
    }
    output[to + row] = a
    output[to + row + 1] = b
    output[to + row + 2] = c
    output[to + row + 3] = d
  }
}

/** Negative values in `values[from ... to)` become 0. */
export function rectify(values: Float32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) if ((values[i] as number) < 0) values[i] = 0
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}
