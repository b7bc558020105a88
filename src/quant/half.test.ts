import { describe, expect, it } from 'vitest'
import {
  bfloat16ToFloat,
  decodeBfloat16s,
  decodeHalves,
  encodeBfloat16s,
  encodeHalves,
  floatToBfloat16,
  floatToHalf,
  halfToFloat,
} from './half.ts'

const EVERY_PATTERN = Array.from({ length: 65536 }, (_, bits) => bits)

describe('IEEE half', () => {
  it.each([
    [0x0000, 0],
    [0x8000, -0],
    [0x0001, 2 ** -24],
    [0x8001, -(2 ** -24)],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x3c00, 1],
    [0x3555, 0.333251953125],
    [0xc000, -2],
    [0x7bff, 65504],
    [0x7c00, Infinity],
    [0xfc00, -Infinity],
    [0x7e00, NaN],
  ])('0x%s is %d', (bits, value) => {
    expect(halfToFloat(bits)).toBe(value)
  })

  it.each([
    ['a tie rounds to even, down', 1 + 2 ** -11, 0x3c00],
    ['a tie rounds to even, up', 1 + 3 * 2 ** -11, 0x3c02],
    ['just above a tie rounds up', 1 + 2 ** -11 + 2 ** -23, 0x3c01],
    ['a carry into the exponent', 2 - 2 ** -12, 0x4000],
    ['the largest that stays finite', 65519.996, 0x7bff],
    ['halfway to 65536', 65520, 0x7c00],
    ['half of the smallest subnormal, tie to even', 2 ** -25, 0x0000],
    ['just above half of it', 2 ** -25 + 2 ** -48, 0x0001],
    ['a tie between subnormals', 3 * 2 ** -25, 0x0002],
    ['from subnormal to normal', 2 ** -14 - 2 ** -26, 0x0400],
    ['the smallest float32', -(2 ** -149), 0x8000],
    ['infinity', -Infinity, 0xfc00],
    ['not a number', NaN, 0x7e00],
  ])('%s', (_, value, bits) => {
    expect(floatToHalf(value)).toBe(bits)
  })

  it('gives back every bit pattern except signalling NaN, which turns quiet', () => {
    for (const bits of EVERY_PATTERN) {
      const isNaNPattern = (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0
      const back = floatToHalf(halfToFloat(bits))
      if (isNaNPattern) expect(back & 0x7e00).toBe(0x7e00)
      else if (back !== bits) expect(back).toBe(bits)
    }
  })

  it('decodes and encodes little-endian bytes', () => {
    const values = Float32Array.of(1, -2, 2 ** -24, 65504)
    const bytes = new Uint8Array(8)
    encodeHalves(values, bytes)
    expect([...bytes]).toEqual([0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b])
    const back = new Float32Array(4)
    decodeHalves(bytes, back)
    expect(back).toEqual(values)
  })
})

describe('bfloat16', () => {
  it.each([
    ['one', 1, 0x3f80],
    ['a tie rounds to even, down', 1 + 2 ** -8, 0x3f80],
    ['a tie rounds to even, up', 1 + 3 * 2 ** -8, 0x3f82],
    ['above a tie', 1 + 2 ** -8 + 2 ** -23, 0x3f81],
    ['a float32 subnormal', 2 ** -133, 0x0001],
    ['the largest float32 overflows', 3.4028234663852886e38, 0x7f80],
    ['minus infinity', -Infinity, 0xff80],
    ['not a number', NaN, 0x7fc0],
  ])('%s', (_, value, bits) => {
    expect(floatToBfloat16(value)).toBe(bits)
  })

  it('gives back every bit pattern except signalling NaN, which turns quiet', () => {
    for (const bits of EVERY_PATTERN) {
      const isNaNPattern = (bits & 0x7f80) === 0x7f80 && (bits & 0x7f) !== 0
      const back = floatToBfloat16(bfloat16ToFloat(bits))
      if (isNaNPattern) expect(back & 0x7fc0).toBe(0x7fc0)
      else if (back !== bits) expect(back).toBe(bits)
    }
  })

  it('decodes and encodes little-endian bytes', () => {
    const values = Float32Array.of(1, -2, 0.15625)
    const bytes = new Uint8Array(6)
    encodeBfloat16s(values, bytes)
    expect([...bytes]).toEqual([0x80, 0x3f, 0x00, 0xc0, 0x20, 0x3e])
    const back = new Float32Array(3)
    decodeBfloat16s(bytes, back)
    expect(back).toEqual(values)
  })
})
