/**
 * Thousands of damaged files: each must either load or end in an EngineError, at once and without memory that the
 * file does not justify. A crash or a hang of this test is the failure it looks for.
 */
import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { EngineError } from '../shared/errors.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import { encodeGguf, type GgufEntry } from './gguf/encode-gguf.ts'
import { loadGguf } from './gguf/load-gguf.ts'
import { loadSafetensors } from './safetensors/load-safetensors.ts'
import { writeSafetensors } from './safetensors/write-safetensors.ts'
import type { TensorInfo } from './tensor-info.ts'

const MUTATIONS = 4000

const GGUF = encodeGguf({
  metadata: new Map<string, GgufEntry>([
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['llama.block_count', { type: 'u32', value: 2 }],
    ['general.alignment', { type: 'u32', value: 32 }],
    ['tokenizer.ggml.tokens', { type: 'string[]', value: ['<s>', 'a', 'ü', ''] }],
    ['tokenizer.ggml.scores', { type: 'f32[]', value: Float32Array.of(0, -1, -2, -3) }],
    ['nested', { type: 'array[]', value: [['a'], Uint16Array.of(1, 2)] }],
    ['flags', { type: 'bool[]', value: [true, false] }],
  ]),
  tensors: [
    { name: 'a.weight', type: 'F32', shape: [2, 3], data: new Uint8Array(24) },
    { name: 'b.weight', type: 'Q4_0', shape: [1, 32], data: new Uint8Array(18) },
    { name: 'c.bias', type: 'F16', shape: [4], data: new Uint8Array(8) },
  ],
})

const SAFETENSORS = writeSafetensors(
  [
    { name: 'a.weight', type: 'F32', shape: [2, 3], data: new Uint8Array(24) },
    { name: 'b.weight', type: 'BF16', shape: [1, 4], data: new Uint8Array(8) },
    { name: 'c.ids', type: 'I64', shape: [1], data: new Uint8Array(8) },
  ],
  { format: 'pt' },
)

const NASTY_BYTES = [0, 1, 2, 7, 8, 9, 12, 13, 0x22, 0x2c, 0x5b, 0x5c, 0x7b, 0x7d, 0x7f, 0x80, 0xfe, 0xff]
const NASTY_LONGS = [
  0n,
  1n,
  31n,
  2n ** 24n,
  2n ** 31n,
  2n ** 32n,
  2n ** 53n,
  2n ** 60n,
  2n ** 63n,
  2n ** 64n - 1n,
]
const NASTY_TEXTS = [
  '9'.repeat(20),
  '-1',
  '1e300',
  'null',
  '[]',
  '{}',
  '"',
  '\\u0000',
  '[[[[[[[[',
  '0.5',
  ',',
]

type Mutation = (bytes: Uint8Array, random: SeededRandom) => Uint8Array

const MUTATE: Mutation[] = [
  (bytes, random) => {
    bytes[random.below(bytes.length)]! ^= 1 << random.below(8)
    return bytes
  },
  (bytes, random) => {
    bytes[random.below(bytes.length)] = random.pick(NASTY_BYTES)
    return bytes
  },
  (bytes, random) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (bytes.length >= 8) view.setBigUint64(random.below(bytes.length - 7), random.pick(NASTY_LONGS), true)
    return bytes
  },
  (bytes, random) => bytes.slice(0, random.below(bytes.length + 1)),
  (bytes, random) => {
    const [at, length] = [random.below(bytes.length), random.below(16)]
    return Uint8Array.of(...bytes.subarray(0, at), ...bytes.subarray(at + length))
  },
  (bytes, random) => {
    const at = random.below(bytes.length)
    const text = new TextEncoder().encode(random.pick(NASTY_TEXTS))
    return Uint8Array.of(...bytes.subarray(0, at), ...text, ...bytes.subarray(at))
  },
  (bytes, random) => {
    const at = random.below(bytes.length)
    const from = random.below(bytes.length)
    bytes.copyWithin(at, from, from + random.below(40))
    return bytes
  },
]

function mutate(valid: Uint8Array, headerByteLength: number, random: SeededRandom): Uint8Array {
  let head: Uint8Array = valid.slice(0, headerByteLength)
  for (let count = 1 + random.below(3); count > 0 && head.length > 0; count--) {
    head = random.pick(MUTATE)(head, random)
  }
  return Uint8Array.of(...head, ...valid.subarray(headerByteLength))
}

/** Loads every mutation; returns how many loaded and how often each error code came. */
async function fuzz(
  valid: Uint8Array,
  headerByteLength: number,
  seed: number,
  load: (bytes: Uint8Array) => Promise<ReadonlyMap<string, TensorInfo>>,
): Promise<Map<string, number>> {
  const random = new SeededRandom(seed)
  const outcomes = new Map<string, number>()
  for (let i = 0; i < MUTATIONS; i++) {
    const bytes = mutate(valid, headerByteLength, random)
    let outcome: string
    try {
      for (const tensor of (await load(bytes)).values()) {
        // Whatever loads must be readable: inside the file, with a length that fits its shape.
        expect(tensor.byteOffset + tensor.byteLength).toBeLessThanOrEqual(bytes.length)
        expect(tensor.shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)).toBe(true)
      }
      outcome = 'loaded'
    } catch (error) {
      if (!EngineError.isInstance(error)) throw error
      expect(error.message).toMatch(/^f\.bin: /)
      expect(error.message.length).toBeLessThan(800)
      outcome = error.code
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  return outcomes
}

describe('damaged headers end in a good parse or an EngineError', () => {
  it('GGUF', async () => {
    const { dataOffset } = await loadGguf(createMemorySource('f.bin', GGUF))
    const outcomes = await fuzz(GGUF, dataOffset, 1, async (bytes) => {
      return (await loadGguf(createMemorySource('f.bin', bytes))).tensors
    })
    // The mutations reach every stage of the parser, and some leave the file valid.
    for (const expected of ['loaded', 'format/wrong-kind', 'format/truncated', 'format/limit-exceeded']) {
      expect([...outcomes.keys()]).toContain(expected)
    }
    for (const expected of ['format/unknown-value-type', 'format/bad-utf8', 'format/tensor-out-of-bounds']) {
      expect([...outcomes.keys()]).toContain(expected)
    }
  })

  it('safetensors', async () => {
    const headerByteLength = SAFETENSORS.length - 40
    const outcomes = await fuzz(SAFETENSORS, headerByteLength, 2, (bytes) => {
      return loadSafetensors(createMemorySource('f.bin', bytes))
    })
    for (const expected of ['loaded', 'format/wrong-kind', 'format/truncated', 'format/bad-json']) {
      expect([...outcomes.keys()]).toContain(expected)
    }
    for (const expected of ['format/bad-header', 'format/size-mismatch', 'format/unsupported-tensor-type']) {
      expect([...outcomes.keys()]).toContain(expected)
    }
  })

  it('a few flipped bytes never make a small file cost much memory', async () => {
    const { dataOffset } = await loadGguf(createMemorySource('f.bin', GGUF))
    const before = process.memoryUsage().arrayBuffers
    for (let at = 0; at + 8 <= dataOffset; at++) {
      const bytes = GGUF.slice()
      new DataView(bytes.buffer).setBigUint64(at, 2n ** 60n, true)
      await loadGguf(createMemorySource('f.bin', bytes)).catch((error: unknown) => {
        if (!EngineError.isInstance(error)) throw error
      })
    }
    // Each attempt may hold a copy or two of the 1 kB file; one believed count would take far more.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20)
  })
})
