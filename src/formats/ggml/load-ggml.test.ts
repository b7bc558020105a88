import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { goldenPath } from '../../../test/support/golden-model.ts'
import { SeededRandom } from '../../../test/support/seeded-random.ts'
import { EngineError } from '../../shared/errors.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { loadGgml } from './load-ggml.ts'

/** The sizes that Whisper's files begin with, then filters, vocabulary, tensors. */
interface Parts {
  readonly magic?: number
  readonly sizes?: readonly number[]
  readonly filters?: readonly [number, number]
  readonly tokens?: readonly string[]
  readonly tokenCount?: number
  readonly tensors?: readonly Tensor[]
}

interface Tensor {
  readonly name: string
  readonly type: number
  /** Fastest first. */
  readonly dims: readonly number[]
  readonly bytes: number
  readonly nameBytes?: number
}

const SIZES = [12, 100, 32, 2, 1, 64, 32, 2, 1, 80, 1]
const TENSORS: Tensor[] = [
  { name: 'encoder.conv1.bias', type: 0, dims: [1, 32], bytes: 128 },
  { name: 'encoder.blocks.0.mlp.0.weight', type: 8, dims: [32, 4], bytes: 4 * 34 },
  { name: 'encoder.conv1.weight', type: 1, dims: [3, 5, 7], bytes: 210 },
]

function build({
  magic = 0x67676d6c,
  sizes = SIZES,
  filters = [2, 3],
  tokens = ['a', 'ü', ''],
  tokenCount = tokens.length,
  tensors = TENSORS,
}: Parts = {}): Uint8Array {
  const i32 = (...values: number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer)
  const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
  return Buffer.concat([
    i32(magic, ...sizes),
    i32(...filters),
    new Uint8Array(Math.min(Math.max(0, filters[0] * filters[1] * 4), 4096)),
    i32(tokenCount),
    ...tokens.flatMap((token) => [i32(utf8(token).length), utf8(token)]),
    ...tensors.flatMap(({ name, type, dims, bytes, nameBytes }) => [
      i32(dims.length, nameBytes ?? utf8(name).length, type, ...dims),
      utf8(name),
      new Uint8Array(bytes),
    ]),
  ])
}

const load = (bytes: Uint8Array) => loadGgml(createMemorySource('m.bin', bytes))

describe('loadGgml', () => {
  it('reads sizes, vocabulary and the places of tensors', async () => {
    const bytes = build()
    const { sizes, vocabulary, tensors } = await load(bytes)
    expect(sizes).toEqual({
      vocabSize: 12,
      audioPositions: 100,
      audioDim: 32,
      audioHeads: 2,
      audioLayers: 1,
      textPositions: 64,
      textDim: 32,
      textHeads: 2,
      textLayers: 1,
      melBands: 80,
    })
    expect(vocabulary.map((token) => new TextDecoder().decode(token))).toEqual(['a', 'ü', ''])
    expect(
      [...tensors.values()].map(({ name, type, shape, byteLength }) => [name, type, shape, byteLength]),
    ).toEqual([
      ['encoder.conv1.bias', 'F32', [32, 1], 128],
      ['encoder.blocks.0.mlp.0.weight', 'Q8_0', [4, 32], 136],
      ['encoder.conv1.weight', 'F16', [7, 5, 3], 210],
    ])
    const last = tensors.get('encoder.conv1.weight')
    expect((last?.byteOffset ?? 0) + 210).toBe(bytes.length)
  })

  it('reads a file without tensors, as whisper.cpp has for its tests', async () => {
    expect((await load(build({ tensors: [] }))).tensors.size).toBe(0)
  })

  it.each<[string, Parts, string, string]>([
    [
      'another magic number',
      { magic: 0x46554747 },
      'format/wrong-kind',
      'expected a whisper.cpp file, found a GGUF file',
    ],
    [
      'a negative size',
      { sizes: SIZES.with(2, -1) },
      'format/limit-exceeded',
      'audioDim: expected 1 to 1048576, found -1',
    ],
    [
      'a wild size',
      { sizes: SIZES.with(0, 2 ** 30) },
      'format/limit-exceeded',
      'vocabSize: expected 1 to 1048576',
    ],
    ['wild filters', { filters: [2 ** 20, 2 ** 20] }, 'format/truncated', 'the mel filters at byte'],
    [
      'more tokens than the model has',
      { tokenCount: 13 },
      'format/limit-exceeded',
      'the number of tokens: expected 1 to 12, found 13',
    ],
    [
      'a vocabulary that ends early',
      { tokenCount: 12, tensors: [] },
      'format/truncated',
      'the length of token 3',
    ],
    [
      'no dimensions',
      { tensors: [{ ...TENSORS[0]!, dims: [] }] },
      'format/limit-exceeded',
      'the number of dimensions in the header of tensor 0: expected 1 to 4, found 0',
    ],
    [
      'a negative dimension',
      { tensors: [{ ...TENSORS[0]!, dims: [-4] }] },
      'format/bad-shape',
      'tensor "encoder.conv1.bias"',
    ],
    [
      'dimensions beyond all numbers',
      { tensors: [{ ...TENSORS[0]!, dims: [2 ** 30, 2 ** 30, 2 ** 30] }] },
      'format/bad-shape',
      'tensor "encoder.conv1.bias"',
    ],
    [
      'an unknown type',
      { tensors: [{ ...TENSORS[0]!, type: 99 }] },
      'format/unsupported-tensor-type',
      'has the unknown type id 99',
    ],
    [
      'half a block',
      { tensors: [{ ...TENSORS[1]!, dims: [31, 4] }] },
      'format/row-not-whole-blocks',
      'found 31',
    ],
    [
      'a name of no length',
      { tensors: [{ ...TENSORS[0]!, nameBytes: 0 }] },
      'format/limit-exceeded',
      'the length of the name',
    ],
    [
      'an endless name',
      { tensors: [{ ...TENSORS[0]!, nameBytes: 2 ** 30 }] },
      'format/limit-exceeded',
      'the length of the name',
    ],
    [
      'a tensor that ends behind the file',
      { tensors: [{ ...TENSORS[0]!, bytes: 100 }] },
      'format/truncated',
      'the data of tensor "encoder.conv1.bias"',
    ],
    ['a tensor twice', { tensors: [TENSORS[0]!, TENSORS[0]!] }, 'format/duplicate-name', 'appears twice'],
  ])('refuses %s', async (_, parts, code, message) => {
    const error = await load(build(parts)).catch((caught: unknown) => caught)
    expect(EngineError.isInstance(error)).toBe(true)
    expect((error as EngineError).code).toBe(code)
    expect((error as EngineError).message).toContain(message)
  })

  it('ends in a message wherever the file is cut, save between tensors', async () => {
    const bytes = build()
    const ends = new Set([build({ tensors: [] }).length, build({ tensors: TENSORS.slice(0, 1) }).length])
    ends.add(build({ tensors: TENSORS.slice(0, 2) }).length)
    for (let length = 0; length < bytes.length; length++) {
      const error = await load(bytes.subarray(0, length)).then(
        () => undefined,
        (caught: unknown) => caught,
      )
      if (ends.has(length)) expect(error).toBeUndefined()
      else expect(EngineError.isInstance(error), `${length} bytes: ${error}`).toBe(true)
    }
  })

  it('loads damaged files or refuses them', async () => {
    const whole = readFileSync(goldenPath('whisper/multilingual/ggml-q5_0.bin'))
    const random = new SeededRandom(7)
    for (let round = 0; round < 300; round++) {
      const bytes = new Uint8Array(whole)
      for (let count = 0; count < 4; count++) {
        // The header of sizes, or anywhere.
        const limit = count % 2 === 0 ? 64 : bytes.length
        bytes[random.below(limit)] = random.below(256)
      }
      const error = await load(bytes).then(
        () => undefined,
        (caught: unknown) => caught,
      )
      if (error !== undefined) expect(EngineError.isInstance(error), String(error)).toBe(true)
    }
  })
})
