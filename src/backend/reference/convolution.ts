/** Convolutions over time, in the textbook form. */
import type { OpArguments } from '../backend.ts'
import { floatsAt } from './memory.ts'

export function unfoldRows(args: OpArguments<'unfoldRows'>): void {
  const { rows, columns, outRows, kernel, stride, dilation, padding, firstRow } = args
  const x = floatsAt(args.x, rows * columns)
  const out = floatsAt(args.out, outRows * kernel * columns)
  for (let row = 0; row < outRows; row++) {
    for (let tap = 0; tap < kernel; tap++) {
      const from = (firstRow + row) * stride - padding + tap * dilation
      for (let column = 0; column < columns; column++) {
        const isInside = from >= 0 && from < rows
        out[(row * kernel + tap) * columns + column] = isInside ? (x[from * columns + column] as number) : 0
      }
    }
  }
}

/** Sums of float32 in ascending order of the inputs, as the kernels: the result is the same to the last bit. */
export function foldRows(args: OpArguments<'foldRows'>): void {
  const { rows, columns, outRows, kernel, stride, padding, firstRow, firstInput } = args
  const x = floatsAt(args.x, rows * kernel * columns)
  const bias = args.bias && floatsAt(args.bias, columns)
  const out = floatsAt(args.out, outRows * columns)
  for (let row = 0; row < outRows; row++) {
    for (let column = 0; column < columns; column++) {
      let sum = bias?.[column] ?? 0
      for (let input = 0; input < rows; input++) {
        const tap = firstRow + row + padding - (firstInput + input) * stride
        if (tap >= 0 && tap < kernel) {
          sum = Math.fround(sum + (x[(input * kernel + tap) * columns + column] as number))
        }
      }
      out[row * columns + column] = sum
    }
  }
}

export function depthwiseConv(args: OpArguments<'depthwiseConv'>): void {
  const { rows, columns, kernel, dilation, padding } = args
  const x = floatsAt(args.x, rows * columns)
  const weight = floatsAt(args.weight, kernel * columns)
  const bias = args.bias && floatsAt(args.bias, columns)
  const out = floatsAt(args.out, rows * columns)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let sum = bias?.[column] ?? 0
      for (let tap = 0; tap < kernel; tap++) {
        const from = row - padding + tap * dilation
        if (from < 0 || from >= rows) continue
        sum += (x[from * columns + column] as number) * (weight[tap * columns + column] as number)
      }
      out[row * columns + column] = sum
    }
  }
}
