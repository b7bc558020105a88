import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { decodeBlocks } from './decode.ts'
import { encodeBlocks, isEncodable } from './encode.ts'
import { TENSOR_TYPES, type TensorType } from './tensor-types.ts'

function roundTrip(type: TensorType, values: Float32Array): Float32Array {
  const out = new Float32Array(values.length)
  decodeBlocks(type, encodeBlocks(type, values), out)
  return out
}

/** Root of the mean squared error over the root of the mean square. */
function relativeError(values: Float32Array, decoded: Float32Array): number {
  let error = 0
  let power = 0
  for (let i = 0; i < values.length; i++) {
    error += (values[i]! - decoded[i]!) ** 2
    power += values[i]! ** 2
  }
  return Math.sqrt(error / power)
}

function normals(seed: number, count: number): Float32Array {
  const random = new SeededRandom(seed)
  return Float32Array.from({ length: count }, () => random.normal())
}

describe('encodeBlocks against the Python gguf package, bit for bit', () => {
  it.each(['Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'F16', 'BF16'] as const)('%s', (type) => {
    const file = readFileSync(new URL(`../../test/golden/quant/encode-${type}.bin`, import.meta.url))
    const values = new Float32Array(new Uint8Array(file.subarray(0, 8 * 32 * 4)).buffer)
    expect(Buffer.from(encodeBlocks(type, values))).toEqual(file.subarray(8 * 32 * 4))
  })
})

describe('encodeBlocks of normally distributed values', () => {
  // Measured relative root-mean-square errors, rounded up in the second digit.
  it.each([
    ['F32', 0],
    ['F16', 0.00021],
    ['BF16', 0.0017],
    ['Q8_0', 0.0055],
    ['Q6_K', 0.018],
    ['Q5_K', 0.037],
    ['Q5_1', 0.039],
    ['Q5_0', 0.044],
    ['Q4_K', 0.073],
    ['IQ4_NL', 0.078],
    ['Q4_1', 0.081],
    ['Q4_0', 0.087],
  ] as const)('%s loses at most %d of their magnitude', (type, bound) => {
    const values = normals(7, 4096)
    expect(relativeError(values, roundTrip(type, values))).toBeLessThanOrEqual(bound)
  })

  it.each(['Q4_K', 'Q5_K', 'Q6_K', 'IQ4_NL', 'Q4_1', 'Q5_1'] as const)(
    '%s has the same relative error for values a thousand times smaller or larger',
    (type) => {
      const values = normals(8, 2048)
      const error = relativeError(values, roundTrip(type, values))
      for (const factor of [2 ** -8, 2 ** 10]) {
        const scaled = values.map((value) => value * factor)
        expect(relativeError(scaled, roundTrip(type, scaled)) / error).toBeCloseTo(1, 1)
      }
    },
  )
})

const FITTED = ['Q4_K', 'Q5_K', 'Q6_K', 'IQ4_NL'] as const

describe('encodeBlocks of the types with searched scales', () => {
  it.each(FITTED)('%s keeps zeros', (type) => {
    expect(roundTrip(type, new Float32Array(256))).toEqual(new Float32Array(256))
  })

  it.each(['Q4_K', 'Q5_K', 'Q6_K'] as const)('%s keeps a constant within half a percent', (type) => {
    for (const constant of [0.75, -0.75]) {
      const out = roundTrip(type, new Float32Array(256).fill(constant))
      for (const value of out) expect(Math.abs(value / constant - 1)).toBeLessThan(0.005)
    }
  })

  it.each(FITTED)('%s keeps values on its own grid within the rounding of its 16-bit scale', (type) => {
    // Every sub-block spans the full range of codes, so all sub-scales are the largest.
    const levels: Record<(typeof FITTED)[number], (i: number) => number> = {
      Q4_K: (i) => i % 16,
      Q5_K: (i) => i % 32,
      Q6_K: (i) => (i % 16 === 0 ? -32 : ((i * 7) % 64) - 32),
      IQ4_NL: (i) => [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113][i % 16]!,
    }
    const values = Float32Array.from({ length: 256 }, (_, i) => levels[type](i) * 63 * 0.25)
    const out = roundTrip(type, values)
    const largest = Math.max(...values.map(Math.abs))
    for (let i = 0; i < 256; i++)
      expect(Math.abs(out[i]! - values[i]!)).toBeLessThanOrEqual(largest * 2 ** -11)
  })

  it('Q4_K writes the block that its rules give for a ramp', () => {
    // Codes 0..15 twice in each sub-block, step 1: scale 63*d with d = 1/63, no minimum.
    const bytes = encodeBlocks(
      'Q4_K',
      Float32Array.from({ length: 256 }, (_, i) => i % 16),
    )
    expect(bytes[0]! | (bytes[1]! << 8)).toBe(0x2410) // half nearest to 1/63
    expect([...bytes.subarray(2, 4)]).toEqual([0, 0])
    // Scale 63 in all eight sub-blocks, minimum 0.
    expect([...bytes.subarray(4, 16)]).toEqual([255, 255, 255, 255, 0, 0, 0, 0, 15, 15, 15, 15])
    const ramp = Array.from({ length: 16 }, (_, i) => i * 17)
    expect([...bytes.subarray(16)]).toEqual(Array.from({ length: 8 }, () => ramp).flat())
  })
})

describe('encodeBlocks refuses', () => {
  it('a type without an encoder, by name', () => {
    expect(() => encodeBlocks('Q2_K', new Float32Array(256))).toThrow(
      expect.objectContaining({
        code: 'format/unsupported-tensor-type',
        message: expect.stringMatching(/^Tensor type Q2_K cannot be written; expected one of F32, /),
      }),
    )
  })

  it('a part of a block', () => {
    expect(() => encodeBlocks('Q4_K', new Float32Array(32))).toThrow(
      expect.objectContaining({ code: 'format/partial-block' }),
    )
  })

  it.each([NaN, Infinity, -Infinity])('%d in a block', (value) => {
    const values = new Float32Array(64)
    values[40] = value
    expect(() => encodeBlocks('Q8_0', values)).toThrow(
      expect.objectContaining({
        code: 'format/value-not-finite',
        message: `Q8_0 stores finite values only; element 40 is ${value}.`,
      }),
    )
  })

  it.each(['Q8_0', 'Q4_0', 'Q4_1', 'Q4_K', 'Q6_K', 'IQ4_NL'] as const)(
    'a scale that does not fit 16 bits: %s',
    (type) => {
      expect(() =>
        encodeBlocks(
          type,
          Float32Array.from({ length: 256 }, (_, i) => (i % 2 ? 1e9 : -1e9)),
        ),
      ).toThrow(expect.objectContaining({ code: 'format/value-out-of-range' }))
    },
  )
})

it('isEncodable agrees with encodeBlocks', () => {
  for (const { name, blockLength } of Object.values(TENSOR_TYPES)) {
    const encode = (): Uint8Array => encodeBlocks(name, new Float32Array(blockLength))
    if (isEncodable(name)) expect(encode().byteLength).toBe(TENSOR_TYPES[name].blockBytes)
    else expect(encode).toThrow(expect.objectContaining({ code: 'format/unsupported-tensor-type' }))
  }
})
