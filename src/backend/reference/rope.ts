import type { OpArguments } from '../backend.ts'
import { ROPE_PAIRINGS } from '../ops.ts'
import { floatsAt } from './memory.ts'

/** Turns the pair (first, second) of each head by the row's angle: (a cos - b sin, b cos + a sin). */
export function rope({ x, table, rows, heads, headDim, rotaryDim, pairing }: OpArguments<'rope'>): void {
  const values = floatsAt(x, rows * heads * headDim)
  const angles = floatsAt(table, rows * rotaryDim)
  const half = rotaryDim / 2
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < heads; head++) {
      const start = (row * heads + head) * headDim
      for (let i = 0; i < half; i++) {
        const first = start + (pairing === ROPE_PAIRINGS.half ? i : 2 * i)
        const second = pairing === ROPE_PAIRINGS.half ? first + half : first + 1
        const cos = angles[row * rotaryDim + i] as number
        const sin = angles[row * rotaryDim + half + i] as number
        const a = values[first] as number
        const b = values[second] as number
        values[first] = a * cos - b * sin
        values[second] = b * cos + a * sin
      }
    }
  }
}
