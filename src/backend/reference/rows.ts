import type { OpArguments } from '../backend.ts'
import { floatsAt, integersAt } from './memory.ts'

export function addRows({ x, y, rows, columns }: OpArguments<'addRows'>): void {
  const sums = floatsAt(x, rows * columns)
  const addends = floatsAt(y, rows * columns)
  for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + (addends[i] as number)
}

export function copyRows({ source, out, rows, columns }: OpArguments<'copyRows'>): void {
  integersAt(out, rows * columns).set(integersAt(source, rows * columns))
}

export function xorRows({ x, out, rows, columns }: OpArguments<'xorRows'>): void {
  const words = integersAt(x, rows * columns)
  const results = integersAt(out, rows)
  for (let row = 0; row < rows; row++) {
    results[row] = words.subarray(row * columns, (row + 1) * columns).reduce((sum, word) => sum ^ word, 0)
  }
}
