import { describe, expect, it } from 'vitest'
import { createMemorySource } from '../../shared/memory-source.ts'
import { encodeGguf, type GgufEntry } from './encode-gguf.ts'
import { loadGguf } from './load-gguf.ts'
import {
  optional,
  requireBoolean,
  requireBooleans,
  requireCount,
  requireNumber,
  requireNumbers,
  requireString,
  requireStrings,
} from './metadata.ts'

const METADATA = new Map<string, GgufEntry>([
  ['name', { type: 'string', value: 'llama' }],
  ['size', { type: 'u64', value: 960 }],
  ['large', { type: 'u64', value: 2n ** 60n }],
  ['offset', { type: 'i32', value: -3 }],
  ['scale', { type: 'f32', value: 0.5 }],
  ['flag', { type: 'bool', value: true }],
  ['tokens', { type: 'string[]', value: ['a', 'b'] }],
  ['flags', { type: 'bool[]', value: [false, true] }],
  ['mean', { type: 'f32[]', value: Float32Array.of(0.5, 0.25) }],
  ['longs', { type: 'i64[]', value: BigInt64Array.of(1n) }],
])
const file = encodeGguf({ metadata: METADATA, tensors: [] })
const gguf = await loadGguf(createMemorySource('m.gguf', file))

describe('typed metadata', () => {
  it('gives values of the right type', () => {
    expect(requireString(gguf, 'name')).toBe('llama')
    expect(requireCount(gguf, 'size')).toBe(960)
    expect(requireNumber(gguf, 'offset')).toBe(-3)
    expect(requireNumber(gguf, 'scale')).toBe(0.5)
    expect(requireBoolean(gguf, 'flag')).toBe(true)
    expect(requireStrings(gguf, 'tokens')).toEqual(['a', 'b'])
    expect(requireBooleans(gguf, 'flags')).toEqual([false, true])
    expect(requireNumbers(gguf, 'mean')).toEqual([0.5, 0.25])
  })

  it('gives undefined for absent optional keys only', () => {
    expect(optional(gguf, 'nothing', requireNumber)).toBe(undefined)
    expect(optional(gguf, 'scale', requireNumber)).toBe(0.5)
    expect(() => optional(gguf, 'name', requireNumber)).toThrow(
      expect.objectContaining({ code: 'config/wrong-type' }),
    )
  })

  it('names the file and a missing key', () => {
    expect(() => requireStrings(gguf, 'tokenizer.ggml.tokens')).toThrow(
      expect.objectContaining({
        code: 'config/missing-key',
        message: 'm.gguf: metadata key "tokenizer.ggml.tokens" is missing; expected a list of strings.',
      }),
    )
  })

  it.each([
    [requireString, 'size', '960 (u64); expected a string'],
    [requireNumber, 'name', '"llama" (string); expected a number'],
    [requireNumber, 'large', '1152921504606846976 (u64); expected a number'],
    [requireCount, 'offset', '-3 (i32); expected a whole number from 0 on'],
    [requireCount, 'scale', '0.5 (f32); expected a whole number from 0 on'],
    [requireBoolean, 'size', '960 (u64); expected a bool'],
    [requireStrings, 'mean', 'f32[] of length 2; expected a list of strings'],
    [requireStrings, 'flags', 'bool[] of length 2; expected a list of strings'],
    [requireNumbers, 'tokens', 'string[] of length 2; expected a list of numbers'],
    [requireNumbers, 'longs', 'i64[] of length 1; expected a list of numbers'],
    [requireBooleans, 'tokens', 'string[] of length 2; expected a list of bools'],
  ] as const)('%o of "%s"', (require, key, rest) => {
    expect(() => require(gguf, key)).toThrow(
      expect.objectContaining({
        code: 'config/wrong-type',
        message: `m.gguf: metadata key "${key}" is ${rest}.`,
      }),
    )
  })
})
