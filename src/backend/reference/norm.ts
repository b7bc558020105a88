/** Row normalisation. Statistics are summed in double, so squares of large values do not overflow. */
import type { OpArguments } from '../backend.ts'
import { floatsAt } from './memory.ts'

export function rmsNorm({ x, weight, out, rows, columns, epsilon }: OpArguments<'rmsNorm'>): void {
  const source = floatsAt(x, rows * columns)
  const target = floatsAt(out, rows * columns)
  const weights = floatsAt(weight, columns)
  for (let start = 0; start < rows * columns; start += columns) {
    const row = source.slice(start, start + columns)
    const meanSquare = row.reduce((sum, value) => sum + value * value, 0) / columns
    const root = Math.sqrt(meanSquare + epsilon)
    row.forEach((value, i) => {
      target[start + i] = (value / root) * (weights[i] as number)
    })
  }
}

export function layerNorm(args: OpArguments<'layerNorm'>): void {
  const { x, weight, bias, out, rows, columns, epsilon } = args
  const source = floatsAt(x, rows * columns)
  const target = floatsAt(out, rows * columns)
  const weights = floatsAt(weight, columns)
  const biases = floatsAt(bias, columns)
  for (let start = 0; start < rows * columns; start += columns) {
    const row = source.slice(start, start + columns)
    const mean = row.reduce((sum, value) => sum + value, 0) / columns
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / columns
    const deviation = Math.sqrt(variance + epsilon)
    row.forEach((value, i) => {
      target[start + i] = ((value - mean) / deviation) * (weights[i] as number) + (biases[i] as number)
    })
  }
}

export function groupNorm(args: OpArguments<'groupNorm'>): void {
  const { x, weight, bias, out, rows, columns, groups, epsilon } = args
  const source = floatsAt(x, rows * columns)
  const target = floatsAt(out, rows * columns)
  const weights = floatsAt(weight, columns)
  const biases = floatsAt(bias, columns)
  const groupOf = (index: number): number => Math.floor((index % columns) / (columns / groups))
  for (let group = 0; group < groups; group++) {
    const members = Array.from(source.keys()).filter((index) => groupOf(index) === group)
    const values = members.map((index) => source[index] as number)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
    const deviation = Math.sqrt(variance + epsilon)
    members.forEach((index, i) => {
      const column = index % columns
      const normal = ((values[i] as number) - mean) / deviation
      target[index] = normal * (weights[column] as number) + (biases[column] as number)
    })
  }
}
