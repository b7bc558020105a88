import { describe, expect, it } from 'vitest'
import { createMemorySource } from '../shared/memory-source.ts'
import type { TensorInfo } from './tensor-info.ts'
import { checkNoOverlap, tensorByteLength } from './tensor-layout.ts'

describe('tensorByteLength', () => {
  it.each([
    ['F32', [], 4],
    ['F32', [3, 5], 60],
    ['F32', [0, 5], 0],
    ['Q8_0', [3, 64], 204],
    ['Q4_K', [2, 1, 256], 288],
    ['Q4_K', [0, 256], 0],
  ] as const)('%s %j takes %d bytes', (type, shape, expected) => {
    expect(tensorByteLength('x', type, shape)).toBe(expected)
  })

  it.each([
    ['F32', [-1], 'format/bad-shape'],
    ['F32', [1.5], 'format/bad-shape'],
    ['F32', [2 ** 30, 2 ** 30], 'format/bad-shape'],
    ['F32', [2 ** 52], 'format/bad-shape'],
    ['F32', [2 ** 30, 2 ** 30, 0], 'format/bad-shape'],
    ['Q8_0', [64, 33], 'format/row-not-whole-blocks'],
    ['Q8_0', [], 'format/row-not-whole-blocks'],
  ] as const)('%s %j is %s', (type, shape, code) => {
    expect(() => tensorByteLength('x', type, shape)).toThrow(expect.objectContaining({ code }))
  })
})

describe('checkNoOverlap', () => {
  const source = createMemorySource('a.bin', new Uint8Array(0))
  const tensor = (name: string, byteOffset: number, byteLength: number): TensorInfo => {
    return { name, type: 'I8', shape: [byteLength], byteOffset, byteLength, source }
  }

  it('accepts neighbours, gaps and empty tensors anywhere', () => {
    const tensors = [tensor('b', 10, 5), tensor('a', 0, 10), tensor('empty', 3, 0), tensor('c', 20, 1)]
    expect(() => checkNoOverlap('a.bin', tensors)).not.toThrow()
  })

  it('names both tensors', () => {
    expect(() => checkNoOverlap('a.bin', [tensor('b', 9, 5), tensor('a', 0, 10)])).toThrow(
      expect.objectContaining({
        code: 'format/tensors-overlap',
        message: 'a.bin: tensor "b" starts at byte 9, inside tensor "a" (bytes 0 to 10).',
      }),
    )
  })
})
