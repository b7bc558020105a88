/** Rearranging pictures and patch grids. */
import type { OpArguments } from '../backend.ts'
import { floatsAt, integersAt } from './memory.ts'

export function extractPatches(args: OpArguments<'extractPatches'>): void {
  const { channels, height, width, patch, patchRows } = args
  const patchColumns = Math.floor(width / patch)
  // As words, so that every value keeps its bits.
  const pixels = integersAt(args.pixels, channels * height * width)
  const out = integersAt(args.out, patchRows * patchColumns * channels * patch * patch)
  let at = 0
  for (let row = 0; row < patchRows; row++) {
    for (let column = 0; column < patchColumns; column++) {
      for (let channel = 0; channel < channels; channel++) {
        for (let y = row * patch; y < (row + 1) * patch; y++) {
          const start = (channel * height + y) * width + column * patch
          out.set(pixels.subarray(start, start + patch), at)
          at += patch
        }
      }
    }
  }
}

export function pixelShuffle(args: OpArguments<'pixelShuffle'>): void {
  const { gridRows, gridColumns, columns, factor } = args
  const x = integersAt(args.x, gridRows * gridColumns * columns)
  const out = integersAt(args.out, gridRows * gridColumns * columns)
  let at = 0
  for (let top = 0; top < gridRows; top += factor) {
    for (let left = 0; left < gridColumns; left += factor) {
      for (let y = top; y < top + factor; y++) {
        const start = (y * gridColumns + left) * columns
        out.set(x.subarray(start, start + factor * columns), at)
        at += factor * columns
      }
    }
  }
}

export function poolRows({ x, out, rows, gridColumns, columns, factor }: OpArguments<'poolRows'>): void {
  const values = floatsAt(x, rows * factor * gridColumns * columns)
  const pooled = floatsAt(out, (rows * gridColumns * columns) / factor)
  let at = 0
  for (let row = 0; row < rows; row++) {
    for (let left = 0; left < gridColumns; left += factor) {
      for (let column = 0; column < columns; column++) {
        let sum = 0
        for (let y = row * factor; y < (row + 1) * factor; y++) {
          for (let i = left; i < left + factor; i++)
            sum = Math.fround(sum + (values[(y * gridColumns + i) * columns + column] as number))
        }
        pooled[at++] = sum / (factor * factor)
      }
    }
  }
}
