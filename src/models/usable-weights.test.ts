import { describe, expect, it } from 'vitest'
import type { FloatMatrixType } from '../backend/ops.ts'
import { encodeBlocks } from '../quant/encode.ts'
import { findUnusableWeight } from './usable-weights.ts'

const find = (type: FloatMatrixType, ...values: number[]): number =>
  findUnusableWeight(encodeBlocks(type, Float32Array.from(values)), type)

describe.each(['F32', 'F16', 'BF16'] as const)('%s', (type) => {
  it('numbers of any sign and size that fits are usable', () => {
    expect(find(type, 0, -0, 1e-40, -1e-8, 1, -65504, type === 'F16' ? 65504 : 520_000)).toBe(-1)
    expect(find(type)).toBe(-1)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 19, -1e30])(
    '%d is not',
    (value) => {
      expect(find(type, 1, 2, value, 4, value)).toBe(2)
    },
  )
})
