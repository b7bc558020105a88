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
