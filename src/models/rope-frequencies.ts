/**
 * Rotation speeds of rotary position embedding, in float32 step by step as the reference computes them, since the
 * product with a position in the thousands would show a difference.
 */
const { fround } = Math

/** The tensor with which GGUF files state Llama 3's scaling: a divisor for each pair. */
export const ROPE_DIVISORS = 'rope_freqs.weight'

export type RopeScaling =
  | { readonly type: 'default' }
  | { readonly type: 'linear'; readonly factor: number }
  | {
      readonly type: 'llama3'
      readonly factor: number
      readonly lowFreqFactor: number
      readonly highFreqFactor: number
      readonly originalContext: number
    }

export function ropeFrequencies(base: number, headDim: number, scaling: RopeScaling): Float32Array {
  const frequencies = new Float32Array(headDim / 2)
  for (let i = 0; i < frequencies.length; i++) {
    frequencies[i] = 1 / fround(base ** fround((2 * i) / headDim))
  }
  return frequencies.map((frequency) => scaleFrequency(frequency, scaling))
}

/** Slows each pair by its divisor. */
export function divideFrequencies(frequencies: Float32Array, divisors: Float32Array): Float32Array {
  return frequencies.map((frequency, i) => fround(frequency / (divisors[i] as number)))
}

function scaleFrequency(frequency: number, scaling: RopeScaling): number {
  switch (scaling.type) {
    case 'default':
      return frequency
    case 'linear':
      return fround(frequency / scaling.factor)
    case 'llama3': {
      const { factor, lowFreqFactor, highFreqFactor, originalContext } = scaling
      const wavelength = fround((2 * Math.PI) / frequency)
      if (wavelength < originalContext / highFreqFactor) return frequency
      const slowed = fround(frequency / factor)
      if (wavelength > originalContext / lowFreqFactor) return slowed
      const smooth = fround(
        fround(fround(originalContext / wavelength) - lowFreqFactor) / (highFreqFactor - lowFreqFactor),
      )
      return fround(fround(fround(1 - smooth) * slowed) + fround(smooth * frequency))
    }
  }
}

/** What Llama 3's scaling divides each pair's frequency by, as `ROPE_DIVISORS` holds it; in float64 until it is stored. */
export function ropeDivisors(
  base: number,
  headDim: number,
  scaling: RopeScaling & { type: 'llama3' },
): Float32Array {
  const { factor, lowFreqFactor, highFreqFactor, originalContext } = scaling
  return Float32Array.from({ length: headDim / 2 }, (_, i) => {
    const wavelength = 2 * Math.PI * base ** ((2 * i) / headDim)
    if (wavelength < originalContext / highFreqFactor) return 1
    if (wavelength > originalContext / lowFreqFactor) return factor
    const smooth = (originalContext / wavelength - lowFreqFactor) / (highFreqFactor - lowFreqFactor)
    return 1 / ((1 - smooth) / factor + smooth)
  })
}
