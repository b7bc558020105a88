import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { decodeBlocks } from './decode.ts'
import { encodeBlocks } from './encode.ts'
import { encodeSearched, isSearchable } from './encode-searched.ts'
import { factorizeMoments } from './error-feedback.ts'
import type { TensorType } from './tensor-types.ts'

const SEARCHED = ['Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'IQ4_NL'] as const

function normals(seed: number, count: number): Float32Array {
  const random = new SeededRandom(seed)
  return Float32Array.from({ length: count }, () => random.normal())
}

function decode(type: TensorType, bytes: Uint8Array, count: number): Float32Array {
  const out = new Float32Array(count)
  decodeBlocks(type, bytes, out)
  return out
}

/** Weighted squared error over the weighted square. */
function relativeError(values: Float32Array, decoded: Float32Array, weights: Float32Array): number {
  let error = 0
  let power = 0
  for (let i = 0; i < values.length; i++) {
    const weight = weights[i % weights.length]!
    error += weight * (values[i]! - decoded[i]!) ** 2
    power += weight * values[i]! ** 2
  }
  return error / power
}

const ALIKE = new Float32Array(64).fill(1)
/** From 1/16 to 16. */
const UNLIKE = Float32Array.from({ length: 64 }, (_, i) => 2 ** (((i * 13) % 64) / 8 - 4))

describe('encodeSearched', () => {
  it('writes a block whose elements are levels exactly', () => {
    // Scale 0.5 and all sixteen levels, twice: d = 0.5 is half 0x3800, codes 0..15 in low and high nibbles.
    const values = Float32Array.from({ length: 32 }, (_, i) => 0.5 * ((i % 16) - 8))
    const codes = Array.from({ length: 16 }, (_, code) => code | (code << 4))
    expect([...encodeSearched('Q4_0', values, 32)]).toEqual([0x00, 0x38, ...codes])
  })

  it.each(SEARCHED)('%s: a block of zeros decodes to zeros', (type) => {
    expect(decode(type, encodeSearched(type, new Float32Array(32), 32), 32)).toEqual(new Float32Array(32))
  })

  // Measured shares of the plain encoder's squared error, rounded up in the second digit.
  it.each([
    ['Q4_0', 0.88],
    ['Q4_1', 0.87],
    ['Q5_0', 0.88],
    ['Q5_1', 0.86],
    ['IQ4_NL', 0.98],
  ] as const)('%s: less squared error than plain rounding', (type, share) => {
    const values = normals(1, 64 * 64)
    const plain = decode(type, encodeBlocks(type, values), values.length)
    const searched = decode(type, encodeSearched(type, values, 64), values.length)
    expect(relativeError(values, searched, ALIKE) / relativeError(values, plain, ALIKE)).toBeLessThan(share)
  })

  it.each([
    ['Q4_0', 0.82],
    ['Q4_1', 0.8],
    ['Q5_0', 0.82],
    ['Q5_1', 0.82],
    ['IQ4_NL', 0.85],
  ] as const)('%s: importance moves the error to columns that matter less', (type, share) => {
    const values = normals(2, 64 * 64)
    const alike = decode(type, encodeSearched(type, values, 64), values.length)
    const weighted = decode(type, encodeSearched(type, values, 64, { importance: UNLIKE }), values.length)
    expect(relativeError(values, weighted, UNLIKE) / relativeError(values, alike, UNLIKE)).toBeLessThan(share)
  })

  it.each([
    ['Q4_0', 0.3],
    ['Q4_1', 0.3],
    ['Q5_0', 0.3],
    ['Q5_1', 0.3],
    ['IQ4_NL', 0.3],
  ] as const)('%s: feedback lets correlated inputs make up for errors', (type, share) => {
    const columns = 64
    const { moments, output } = correlatedInputs(columns)
    const values = normals(3, 32 * columns)
    const feedback = factorizeMoments(moments, columns)
    const importance = feedback.variances
    const plain = decode(type, encodeSearched(type, values, columns), values.length)
    const made = decode(type, encodeSearched(type, values, columns, { importance, feedback }), values.length)
    expect(output(values, made) / output(values, plain)).toBeLessThan(share)
  })

  it('feedback of uncorrelated inputs changes nothing but the weights', () => {
    const columns = 64
    const moments = new Float32Array((columns * (columns + 1)) / 2)
    for (let i = 0; i < columns; i++) moments[(i * (i + 1)) / 2 + i] = 1
    const values = normals(4, 8 * columns)
    const feedback = factorizeMoments(moments, columns)
    const plain = encodeSearched('Q4_0', values, columns)
    expect(encodeSearched('Q4_0', values, columns, { importance: ALIKE, feedback })).toEqual(plain)
  })

  it('types without a search are encoded plainly', () => {
    const values = normals(5, 512)
    expect(isSearchable('Q6_K')).toBe(false)
    expect(encodeSearched('Q6_K', values, 256, { importance: new Float32Array(256).fill(1) })).toEqual(
      encodeBlocks('Q6_K', values),
    )
  })

  it('refuses statistics of another width and values that are not finite', () => {
    const values = normals(6, 64)
    expect(() => encodeSearched('Q4_0', values, 64, { importance: new Float32Array(32) })).toThrow(
      'Rows of 64 elements need statistics of 64 inputs, found 32.',
    )
    values[40] = Number.NaN
    expect(() => encodeSearched('Q4_0', values, 64)).toThrow(
      'Q4_0 stores finite values only; element 40 is NaN.',
    )
  })
})

/** 400 rows of inputs in which eight sources mix, their moments, and the squared error of a layer's output on them. */
function correlatedInputs(columns: number) {
  const random = new SeededRandom(9)
  const mixing = Array.from({ length: 8 }, () => Array.from({ length: columns }, () => random.normal()))
  const rows = Array.from({ length: 400 }, () => {
    const sources = mixing.map(() => random.normal())
    return Array.from(
      { length: columns },
      (_, c) => 0.1 * random.normal() + sources.reduce((sum, source, s) => sum + source * mixing[s]![c]!, 0),
    )
  })
  const moments = new Float32Array((columns * (columns + 1)) / 2)
  for (const row of rows) {
    for (let i = 0; i < columns; i++) {
      const at = (i * (i + 1)) / 2
      for (let j = 0; j <= i; j++) moments[at + j]! += (row[i]! * row[j]!) / rows.length
    }
  }
  const output = (weights: Float32Array, other: Float32Array): number => {
    let sum = 0
    for (let from = 0; from < weights.length; from += columns) {
      for (const row of rows) {
        let difference = 0
        for (let c = 0; c < columns; c++) difference += row[c]! * (weights[from + c]! - other[from + c]!)
        sum += difference ** 2
      }
    }
    return sum
  }
  return { moments, output }
}
