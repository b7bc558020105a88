import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeBlocks, isDecodable } from './decode.ts'
import { floatToHalf } from './half.ts'
import { TENSOR_TYPES, type TensorType } from './tensor-types.ts'

function decode(type: TensorType, bytes: Uint8Array, elementCount: number): Float32Array {
  const out = new Float32Array(elementCount)
  decodeBlocks(type, bytes, out)
  return out
}

function half(value: number): number[] {
  const bits = floatToHalf(value)
  return [bits & 255, bits >> 8]
}

function repeat(length: number, byte: number): number[] {
  return new Array<number>(length).fill(byte)
}

const RECORDED: TensorType[] = [
  ...(['F16', 'BF16', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'Q8_0', 'IQ4_NL', 'MXFP4'] as const),
  ...(['Q2_K', 'Q3_K', 'Q4_K', 'Q5_K', 'Q6_K', 'Q8_K', 'IQ4_XS'] as const),
]

describe('decodeBlocks against the Python gguf package, bit for bit', () => {
  it.each(RECORDED)('%s', (type) => {
    const file = readFileSync(new URL(`../../test/golden/quant/decode-${type}.bin`, import.meta.url))
    const { blockLength, blockBytes } = TENSOR_TYPES[type]
    const blockCount = file.length / (blockBytes + blockLength * 4)
    expect(blockCount % 1).toBe(0)
    const blocks = file.subarray(0, blockCount * blockBytes)
    const expected = new Uint32Array(new Uint8Array(file.subarray(blocks.length)).buffer)

    const out = decode(type, blocks, blockCount * blockLength)

    expect(new Uint32Array(out.buffer)).toEqual(expected)
  })
})

/** One block of each type written by hand: its bytes, and the value of every element by its index. */
const HAND_WRITTEN: { type: TensorType; bytes: number[]; value: (i: number) => number }[] = [
  { type: 'F32', bytes: [0, 0, 0xc0, 0xbf], value: () => -1.5 },
  { type: 'F64', bytes: [0, 0, 0, 0, 0, 0, 0xf8, 0xbf], value: () => -1.5 },
  { type: 'F16', bytes: half(-1.5), value: () => -1.5 },
  { type: 'BF16', bytes: [0xc0, 0xbf], value: () => -1.5 },
  { type: 'I8', bytes: [0xfe], value: () => -2 },
  { type: 'I16', bytes: [0xfe, 0xff], value: () => -2 },
  { type: 'I32', bytes: [0xfe, 0xff, 0xff, 0xff], value: () => -2 },
  { type: 'U8', bytes: [0xfe], value: () => 254 },
  { type: 'BOOL', bytes: [1], value: () => 1 },
  {
    type: 'Q4_0',
    bytes: [...half(0.5), 0xf0, ...repeat(15, 0x19)],
    value: (i) => (i < 16 ? (i === 0 ? -4 : 0.5) : i === 16 ? 3.5 : -3.5),
  },
  {
    type: 'Q4_1',
    bytes: [...half(0.5), ...half(-1), 0xf0, ...repeat(15, 0x19)],
    value: (i) => (i < 16 ? (i === 0 ? -1 : 3.5) : i === 16 ? 6.5 : -0.5),
  },
  {
    // High bits of elements 0 and 17.
    type: 'Q5_0',
    bytes: [...half(0.5), 0x01, 0x00, 0x02, 0x00, ...repeat(16, 0x21)],
    value: (i) => (i === 0 ? 0.5 : i < 16 ? -7.5 : i === 17 ? 1 : -7),
  },
  {
    type: 'Q5_1',
    bytes: [...half(0.5), ...half(10), 0x01, 0x00, 0x02, 0x00, ...repeat(16, 0x21)],
    value: (i) => (i === 0 ? 18.5 : i < 16 ? 10.5 : i === 17 ? 19 : 11),
  },
  {
    type: 'Q8_0',
    bytes: [...half(0.25), 0x80, 0x7f, ...repeat(30, 0xff)],
    value: (i) => (i === 0 ? -32 : i === 1 ? 31.75 : -0.25),
  },
  {
    type: 'IQ4_NL',
    bytes: [...half(2), ...repeat(16, 0xf0)],
    value: (i) => (i < 16 ? -254 : 226),
  },
  {
    type: 'MXFP4',
    bytes: [129, ...repeat(16, 0xf7)],
    value: (i) => (i < 16 ? 24 : -24),
  },
  {
    // Scale 3 and minimum 2 in every sub-block; codes 1, 2, 3, 0 in the four runs of 32.
    type: 'Q2_K',
    bytes: [...repeat(16, 0x23), ...repeat(64, 0b00_11_10_01), ...half(0.5), ...half(0.25)],
    value: (i) => 1.5 * ([1, 2, 3, 0][(i >> 5) & 3] as number) - 0.5,
  },
  {
    // Scales 33-32 = 1; high bits set in the first 128 elements only, so the rest is 4 lower.
    type: 'Q3_K',
    bytes: [
      ...repeat(32, 0x0f),
      ...repeat(64, 0b11_10_01_00),
      ...repeat(8, 0x11),
      ...repeat(4, 0b10_10_10_10),
      ...half(0.5),
    ],
    value: (i) => 0.5 * (((i >> 5) & 3) - (i < 128 ? 0 : 4)),
  },
  {
    // Sub-blocks 0..3: scale 1, minimum 2; 4..7: scale 3 + 16*1, minimum 4 + 16*2.
    type: 'Q4_K',
    bytes: [
      ...half(0.5),
      ...half(0.25),
      ...repeat(4, 0x41),
      ...repeat(4, 0x82),
      ...repeat(4, 0x43),
      ...repeat(128, 0xa5),
    ],
    value: (i) => {
      const code = (i >> 5) & 1 ? 10 : 5
      return i < 128 ? 0.5 * code - 0.5 : 9.5 * code - 9
    },
  },
  {
    // As Q4_K; the fifth bit is set in sub-blocks 0 and 7.
    type: 'Q5_K',
    bytes: [
      ...half(0.5),
      ...half(0.25),
      ...repeat(4, 0x41),
      ...repeat(4, 0x82),
      ...repeat(4, 0x43),
      ...repeat(32, 0x81),
      ...repeat(128, 0xa5),
    ],
    value: (i) => {
      const part = i >> 5
      const code = (part & 1 ? 10 : 5) + (part === 0 || part === 7 ? 16 : 0)
      return i < 128 ? 0.5 * code - 0.5 : 9.5 * code - 9
    },
  },
  {
    // Low nibbles 1 and 2, high pairs 0, 1, 2, 3 in the four runs of 32; scales -2 and 3 alternate.
    type: 'Q6_K',
    bytes: [
      ...repeat(128, 0x21),
      ...repeat(64, 0b11_10_01_00),
      ...Array.from({ length: 16 }, (_, part) => (part % 2 === 0 ? 0xfe : 3)),
      ...half(0.5),
    ],
    value: (i) => {
      const run = (i >> 5) & 3
      const code = (run < 2 ? 1 : 2) + 16 * run - 32
      return 0.5 * ((i >> 4) % 2 === 0 ? -2 : 3) * code
    },
  },
  {
    type: 'Q8_K',
    bytes: [0, 0, 0, 0x3f, ...repeat(128, 0x80), ...repeat(128, 0x7f), ...repeat(32, 0)],
    value: (i) => (i < 128 ? -64 : 63.5),
  },
  {
    // Scales 17-32 = -15: low nibble 1, upper bits 01.
    type: 'IQ4_XS',
    bytes: [...half(0.5), 0x55, 0x55, ...repeat(4, 0x11), ...repeat(128, 0xf0)],
    value: (i) => -7.5 * ((i >> 4) % 2 === 0 ? -127 : 113),
  },
]

describe('decodeBlocks of a block written by hand', () => {
  it.each(HAND_WRITTEN)('$type', ({ type, bytes, value }) => {
    const { blockLength } = TENSOR_TYPES[type]
    // At an odd address, as tensors of a safetensors file may lie.
    const shifted = new Uint8Array(bytes.length + 1)
    shifted.set(bytes, 1)

    const out = decode(type, shifted.subarray(1), blockLength)

    expect([...out]).toEqual(Array.from({ length: blockLength }, (_, i) => value(i)))
  })

  it('covers every type that can be decoded', () => {
    const covered = new Set(HAND_WRITTEN.map(({ type }) => type))
    const decodable = Object.values(TENSOR_TYPES).filter(({ name }) => isDecodable(name))
    expect(decodable.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([])
  })
})

describe('decodeBlocks refuses', () => {
  it('a type without a decoder, by name', () => {
    expect(() => decode('IQ2_XXS', new Uint8Array(66), 256)).toThrow(
      expect.objectContaining({
        code: 'format/unsupported-tensor-type',
        message: expect.stringMatching(/^Tensor type IQ2_XXS cannot be decoded; expected one of F32, /),
      }),
    )
  })

  it('a wrong number of bytes', () => {
    expect(() => decode('Q8_0', new Uint8Array(33), 32)).toThrow(
      expect.objectContaining({
        code: 'format/wrong-byte-length',
        message: '32 elements of type Q8_0 take 34 bytes, found 33.',
      }),
    )
  })

  it('a part of a block', () => {
    expect(() => decode('Q8_0', new Uint8Array(34), 31)).toThrow(
      expect.objectContaining({ code: 'format/partial-block' }),
    )
  })
})
