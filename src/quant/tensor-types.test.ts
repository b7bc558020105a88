import { describe, expect, it } from 'vitest'
import { byteLengthOf, TENSOR_TYPES, tensorTypeFromGgmlId, tensorTypeFromName } from './tensor-types.ts'

describe('tensor types', () => {
  it('finds types by name and by id', () => {
    expect(tensorTypeFromName('Q4_K')).toEqual({
      name: 'Q4_K',
      ggmlId: 12,
      blockLength: 256,
      blockBytes: 144,
    })
    expect(tensorTypeFromGgmlId(12)).toBe(TENSOR_TYPES.Q4_K)
    expect(tensorTypeFromName('BOOL')?.ggmlId).toBe(undefined)
  })

  it('knows no other names, and none from the prototype', () => {
    expect(tensorTypeFromName('q4_k')).toBe(undefined)
    expect(tensorTypeFromName('constructor')).toBe(undefined)
    expect(tensorTypeFromGgmlId(31)).toBe(undefined)
  })

  it('has no id twice', () => {
    const ids = Object.values(TENSOR_TYPES).flatMap((info) => info.ggmlId ?? [])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('computes lengths of whole blocks', () => {
    expect(byteLengthOf('F32', 3)).toBe(12)
    expect(byteLengthOf('Q8_0', 64)).toBe(68)
    expect(byteLengthOf('Q6_K', 512)).toBe(420)
    expect(byteLengthOf('Q4_0', 0)).toBe(0)
  })

  it.each([31, -32, 0.5, Number.NaN])('refuses %d elements of Q4_0', (count) => {
    expect(() => byteLengthOf('Q4_0', count)).toThrow(
      expect.objectContaining({
        code: 'format/partial-block',
        message: `Q4_0 stores 32 elements per block; expected a multiple of 32, found ${count} elements.`,
      }),
    )
  })
})
