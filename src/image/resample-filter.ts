import { EngineError } from '../shared/errors.ts'

/** How a picture is resized. Meaning and numbers are Pillow's. */
export type ResampleFilter = 'nearest' | 'lanczos' | 'bilinear' | 'bicubic' | 'box' | 'hamming'

/** Position = the number that `preprocessor_config.json` stores under `resample`. */
const FILTERS_BY_PILLOW_NUMBER: readonly ResampleFilter[] = [
  'nearest',
  'lanczos',
  'bilinear',
  'bicubic',
  'box',
  'hamming',
]

/** The filter of a Pillow number; throws `config/invalid-value` that names `where` for any other value. */
export function filterOfPillowNumber(value: unknown, where: string): ResampleFilter {
  const filter = typeof value === 'number' ? FILTERS_BY_PILLOW_NUMBER[value] : undefined
  if (filter === undefined) {
    throw new EngineError('config/invalid-value', {
      message: `${where}: expected a Pillow filter number from 0 to 5, found ${JSON.stringify(value)}.`,
      hint: '1 is Lanczos, 2 bilinear, 3 bicubic; take the file from the repository of the model.',
    })
  }
  return filter
}

/** A window function and half its width, both in pixels of the larger of the two grids. */
export interface Kernel {
  readonly support: number
  readonly weight: (distance: number) => number
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI)
}

/** The sharpness parameter that Pillow uses for its cubic; other software takes -0.75. */
const CUBIC_SHARPNESS = -0.5

/**
 * Pillow's windows, `src/libImaging/Resample.c`. Which end of an interval belongs to it matters for exactness:
 * taps fall on the ends whenever sizes divide evenly.
 */
export const KERNELS: Readonly<Record<Exclude<ResampleFilter, 'nearest'>, Kernel>> = {
  lanczos: {
    support: 3,
    weight: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0),
  },
  bicubic: {
    support: 2,
    weight: (x) => {
      const d = Math.abs(x)
      if (d < 1) return ((CUBIC_SHARPNESS + 2) * d - (CUBIC_SHARPNESS + 3)) * d * d + 1
      if (d < 2) return (((d - 5) * d + 8) * d - 4) * CUBIC_SHARPNESS
      return 0
    },
  },
  bilinear: {
    support: 1,
    weight: (x) => Math.max(0, 1 - Math.abs(x)),
  },
  box: {
    support: 0.5,
    weight: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0),
  },
  hamming: {
    support: 1,
    weight: (x) => (Math.abs(x) >= 1 ? 0 : sinc(x) * (0.54 + 0.46 * Math.cos(x * Math.PI))),
  },
}
