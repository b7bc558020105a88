import type { RgbImage } from './rgb-image.ts'

/** From samples of 0..255 to the numbers a model was trained on: `(sample * rescaleFactor - mean) / std`. */
export interface Normalization {
  /** 1/255 in every released model; 1 when rescaling is off. */
  rescaleFactor: number
  mean: readonly [number, number, number] // red, green, blue; 0 when normalising is off
  std: readonly [number, number, number] // red, green, blue; 1 when normalising is off
}

const LEVELS = 256

/**
 * The result for every sample value: entry `channel * 256 + sample`.
 *
 * Rounded where the reference rounds (Transformers 5.18 `image_transforms.py`): the product in double, then float32;
 * mean and standard deviation to float32; difference and quotient in float32. Doing one float32 operation in double
 * and rounding once gives the same bits, as a double has more than twice the digits.
 */
export function normalizationTable({ rescaleFactor, mean, std }: Normalization): Float32Array {
  const table = new Float32Array(3 * LEVELS)
  for (let channel = 0; channel < 3; channel++) {
    const shift = Math.fround(mean[channel] as number)
    const scale = Math.fround(std[channel] as number)
    for (let sample = 0; sample < LEVELS; sample++) {
      const rescaled = Math.fround(sample * rescaleFactor)
      table[channel * LEVELS + sample] = Math.fround(rescaled - shift) / scale
    }
  }
  return table
}

/** Writes a frame as planes of red, green and blue, (3, height, width), through a table of `normalizationTable`. */
export function normalizeInto(frame: RgbImage, table: Float32Array, target: Float32Array): void {
  const { data } = frame
  const plane = frame.width * frame.height
  for (let channel = 0; channel < 3; channel++) {
    const levels = table.subarray(channel * LEVELS, (channel + 1) * LEVELS)
    const base = channel * plane
    for (let pixel = 0; pixel < plane; pixel++) {
      target[base + pixel] = levels[data[pixel * 3 + channel] as number] as number
    }
  }
}
