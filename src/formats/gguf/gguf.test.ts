import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeBlocks } from '../../quant/decode.ts'
import { type ByteSource, readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { ByteWriter } from './byte-writer.ts'
import { encodeGguf, type GgufEntry, type GgufTensorData, metadataEntries } from './encode-gguf.ts'
import { type GgufFile, loadGguf } from './load-gguf.ts'
import type { GgufValue } from './value-types.ts'

function load(bytes: Uint8Array): Promise<GgufFile> {
  return loadGguf(createMemorySource('m.gguf', bytes))
}

/** Magic, version, tensor count, key count, then whatever `rest` writes. */
function header(
  tensorCount: number | bigint,
  keyCount: number | bigint,
  rest?: (writer: ByteWriter) => void,
) {
  const writer = new ByteWriter()
  writer.bytes(new TextEncoder().encode('GGUF'))
  writer.u32(3)
  writer.u64(tensorCount)
  writer.u64(keyCount)
  rest?.(writer)
  return writer.finish()
}

interface RawTensor {
  name?: string
  dims?: (number | bigint)[]
  type?: number
  offset?: number | bigint
}

/** A file of F32 tensors written field by field, so that each field can be wrong. */
function rawFile(
  tensors: RawTensor[],
  dataByteLength: number,
  alignment?: (writer: ByteWriter) => void,
): Uint8Array {
  const bytes = header(tensors.length, alignment ? 1 : 0, (writer) => {
    if (alignment !== undefined) {
      writer.string('general.alignment')
      alignment(writer)
    }
    for (const { name = 'w', dims = [1], type = 0, offset = 0 } of tensors) {
      writer.string(name)
      writer.u32(dims.length)
      for (const dim of dims) writer.u64(dim)
      writer.u32(type)
      writer.u64(offset)
    }
    writer.padTo(32)
    writer.bytes(new Uint8Array(dataByteLength))
  })
  return bytes
}

const PYTHON_METADATA: [string, string, GgufValue][] = [
  ['general.architecture', 'string', 'llama'],
  ['test.u8', 'u8', 200],
  ['test.i8', 'i8', -100],
  ['test.u16', 'u16', 60000],
  ['test.i16', 'i16', -30000],
  ['test.u32', 'u32', 4000000000],
  ['test.i32', 'i32', -2000000000],
  ['test.u64', 'u64', 2 ** 53 - 1],
  ['test.u64.large', 'u64', 2n ** 64n - 1n],
  ['test.i64', 'i64', -(2n ** 62n)],
  ['test.f32', 'f32', Math.fround(0.1)],
  ['test.f64', 'f64', 0.1],
  ['test.bool', 'bool', true],
  ['test.string', 'string', 'a bird: \u{1F426}, a mark: \ufeff'],
  ['test.array.string', 'string[]', ['', '\ufeff', 'é', '<s>']],
  ['test.array.f32', 'f32[]', Float32Array.of(0.5, -1)],
  ['test.array.i32', 'i32[]', Int32Array.of(1, -1, 3)],
  ['test.array.bool', 'bool[]', [true, false]],
  ['test.array.u64', 'u64[]', BigUint64Array.of(0n, 2n ** 64n - 1n)],
]

function golden(name: string): Buffer {
  return readFileSync(new URL(`../../../test/golden/formats/${name}`, import.meta.url))
}

describe('loadGguf of files that Python wrote', () => {
  it('reads every value type', async () => {
    const gguf = await load(golden('python.gguf'))
    expect({ version: gguf.version, alignment: gguf.alignment }).toEqual({ version: 3, alignment: 32 })
    const found = [...gguf.metadata].map(([key, value]) => [key, gguf.valueTypes.get(key), value])
    expect(found).toEqual([...PYTHON_METADATA, ['general.quantization_version', 'u32', 2]])
  })

  it('places the tensors', async () => {
    const gguf = await load(golden('python.gguf'))
    const found = [...gguf.tensors.values()].map(({ name, type, shape, byteOffset, byteLength }) => {
      return { name, type, shape, at: byteOffset - gguf.dataOffset, byteLength }
    })
    expect(found).toEqual([
      { name: 'blk.0.attn_q.weight', type: 'Q8_0', shape: [3, 64], at: 0, byteLength: 204 },
      { name: 'output_norm.weight', type: 'F32', shape: [5], at: 224, byteLength: 20 },
      { name: 'token_embd.weight', type: 'F16', shape: [2, 3, 4], at: 256, byteLength: 48 },
    ])
    const { byteOffset, byteLength, source } = gguf.tensors.get('token_embd.weight')!
    const values = new Float32Array(24)
    decodeBlocks('F16', await readBytes(source, byteOffset, byteLength), values)
    expect(values).toEqual(Float32Array.from({ length: 24 }, (_, i) => i / 8 - 1))
  })

  it('follows another alignment', async () => {
    const gguf = await load(golden('python-align64.gguf'))
    expect(gguf.alignment).toBe(64)
    expect(gguf.dataOffset % 64).toBe(0)
    expect([...gguf.tensors.values()].map((tensor) => tensor.byteOffset - gguf.dataOffset)).toEqual([0, 64])
  })

  it.each(['python.gguf', 'python-align64.gguf'])('%s is written again with the same bytes', async (name) => {
    const file = golden(name)
    const gguf = await load(file)
    const tensors = await Promise.all(
      [...gguf.tensors.values()].map(async ({ name, type, shape, byteOffset, byteLength, source }) => {
        return { name, type, shape, data: await readBytes(source, byteOffset, byteLength) }
      }),
    )
    expect(Buffer.from(encodeGguf({ metadata: metadataEntries(gguf), tensors }))).toEqual(file)
  })
})

const NESTED: GgufEntry = { type: 'array[]', value: [Uint8Array.of(1, 2), ['a'], [[true], []]] }
const TENSORS: GgufTensorData[] = [
  { name: 'a', type: 'F32', shape: [2, 1], data: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
  { name: 'b.weight', type: 'Q4_0', shape: [32], data: new Uint8Array(18).fill(9) },
  { name: 'empty', type: 'F32', shape: [0, 7], data: new Uint8Array(0) },
  { name: 'scalar', type: 'I8', shape: [], data: Uint8Array.of(3) },
]

describe('encodeGguf', () => {
  it.each([1, 32, 256])('is read again identically, alignment %d', async (alignment) => {
    const metadata = new Map<string, GgufEntry>([
      ['general.architecture', { type: 'string', value: 'clip' }],
      ['nested', NESTED],
      ['empty', { type: 'f64[]', value: new Float64Array(0) }],
      ['max', { type: 'i64', value: -(2n ** 63n) }],
    ])
    const gguf = await load(encodeGguf({ metadata, tensors: TENSORS, alignment }))
    const expected = new Map(metadata)
    if (alignment !== 32) expected.set('general.alignment', { type: 'u32', value: alignment })
    expected.set('general.quantization_version', { type: 'u32', value: 2 })
    expect(metadataEntries(gguf)).toEqual(expected)
    expect([...gguf.tensors.keys()]).toEqual(TENSORS.map(({ name }) => name))
    for (const { name, type, shape, data } of TENSORS) {
      const tensor = gguf.tensors.get(name)!
      expect({ type: tensor.type, shape: tensor.shape }).toEqual({ type, shape })
      expect(tensor.byteOffset % alignment).toBe(0)
      expect(await readBytes(tensor.source, tensor.byteOffset, tensor.byteLength)).toEqual(data)
    }
  })

  it.each<[string, GgufEntry]>([
    ['a number too large', { type: 'u8', value: 256 }],
    ['a fraction', { type: 'i32', value: 0.5 }],
    ['a negative u64', { type: 'u64', value: -1 }],
    ['an unsafe number', { type: 'u64', value: 2 ** 60 }],
    ['a bigint too large', { type: 'i64', value: 2n ** 63n }],
    ['text for a number', { type: 'f32', value: '1' }],
    ['a number for a bool', { type: 'bool', value: 1 }],
    ['half a character', { type: 'string', value: '\ud83d' }],
    ['another typed array', { type: 'u32[]', value: Int32Array.of(1) }],
    ['a typed array for text', { type: 'string[]', value: Uint8Array.of(1) }],
    ['mixed elements', { type: 'string[]', value: ['a', true] as unknown as string[] }],
  ])('refuses %s', (_, entry) => {
    expect(() => encodeGguf({ metadata: new Map([['k', entry]]), tensors: [] })).toThrow(
      expect.objectContaining({
        code: 'format/bad-metadata-value',
        message: expect.stringMatching(/^Metadata key "k" of type /),
      }),
    )
  })

  const data = new Uint8Array(4)
  it.each<[string, GgufTensorData[], string]>([
    ['a name twice', [TENSORS[0]!, TENSORS[0]!], 'format/duplicate-name'],
    ['a long name', [{ name: 'x'.repeat(64), type: 'F32', shape: [1], data }], 'format/bad-name'],
    ['five dimensions', [{ name: 'w', type: 'F32', shape: [1, 1, 1, 1, 1], data }], 'format/bad-shape'],
    ['data of a wrong length', [{ name: 'w', type: 'F32', shape: [2], data }], 'format/size-mismatch'],
    ['a part of a block', [{ name: 'w', type: 'Q8_0', shape: [4], data }], 'format/row-not-whole-blocks'],
    ['a safetensors type', [{ name: 'w', type: 'U8', shape: [4], data }], 'format/unsupported-tensor-type'],
  ])('refuses %s', (_, tensors, code) => {
    expect(() => encodeGguf({ metadata: new Map(), tensors })).toThrow(expect.objectContaining({ code }))
  })

  it.each([0, 3, 2 ** 17, Number.NaN])('refuses alignment %d', (alignment) => {
    expect(() => encodeGguf({ metadata: new Map(), tensors: [], alignment })).toThrow(
      expect.objectContaining({ code: 'format/bad-alignment' }),
    )
  })

  it('refuses two alignments', () => {
    const metadata = new Map<string, GgufEntry>([['general.alignment', { type: 'u32', value: 64 }]])
    expect(() => encodeGguf({ metadata, tensors: [], alignment: 32 })).toThrow(
      expect.objectContaining({ message: 'The alignment is 32, but the metadata says 64.' }),
    )
  })
})

describe('loadGguf refuses', () => {
  it('a file cut at any byte', async () => {
    const metadata = new Map<string, GgufEntry>([
      ['text', { type: 'string', value: 'längere Werte' }],
      ['nested', NESTED],
    ])
    // Without the padding behind the last tensor, which may be missing.
    const file = encodeGguf({ metadata, tensors: TENSORS.slice(0, 2) }).slice(0, -14)
    for (let length = 0; length < file.length; length++) {
      const error: unknown = await load(file.slice(0, length)).catch((thrown: unknown) => thrown)
      expect(EngineError.isInstance(error), `cut at ${length}`).toBe(true)
      expect((error as EngineError).message).toMatch(/^m\.gguf: /)
      expect((error as EngineError).hint, `cut at ${length}`).toMatch(/fetch|folder/)
    }
    expect((await load(file)).tensors.size).toBe(2)
  })

  it.each<[string, Uint8Array, string, string]>([
    [
      'version 1',
      Uint8Array.of(...new TextEncoder().encode('GGUF'), 1, 0, 0, 0),
      'format/unsupported-version',
      'm.gguf: GGUF version 1; expected 2 or 3.',
    ],
    [
      'big-endian files',
      Uint8Array.of(...new TextEncoder().encode('GGUF'), 0, 0, 0, 3),
      'format/unsupported-version',
      'm.gguf: the file is big-endian GGUF; expected little-endian.',
    ],
    [
      'a text file',
      new TextEncoder().encode('not a model'),
      'format/wrong-kind',
      'm.gguf: expected a GGUF file, found a text file.',
    ],
    [
      '2^60 tensors',
      header(2n ** 60n, 0),
      'format/limit-exceeded',
      'm.gguf: tensor count is 1152921504606846976, expected at most 262144.',
    ],
    [
      '2^64-1 keys',
      header(0, 2n ** 64n - 1n),
      'format/limit-exceeded',
      'm.gguf: key count is 18446744073709551615, expected at most 65536.',
    ],
    [
      'more keys than bytes',
      header(0, 1000),
      'format/truncated',
      'm.gguf: the header announces 1000 keys, at least 13000 bytes, but only 0 bytes follow in the file.',
    ],
    [
      'a string of 2^60 bytes',
      header(0, 1, (writer) => {
        writer.string('k')
        writer.u32(8)
        writer.u64(2n ** 60n)
      }),
      'format/limit-exceeded',
      'm.gguf: length of key "k" is 1152921504606846976, expected at most 16777216.',
    ],
    [
      'an array of 2^60 elements',
      header(0, 1, (writer) => {
        writer.string('k')
        writer.u32(9)
        writer.u32(0)
        writer.u64(2n ** 60n)
      }),
      'format/limit-exceeded',
      'm.gguf: array length of key "k" is 1152921504606846976, expected at most 16777216.',
    ],
    [
      'an array longer than the file',
      header(0, 1, (writer) => {
        writer.string('k')
        writer.u32(9)
        writer.u32(8)
        writer.u64(10_000_000)
      }),
      'format/truncated',
      'm.gguf: key "k" has 10000000 elements, at least 80000000 bytes, but only 0 bytes follow in the file.',
    ],
    [
      'arrays in arrays in arrays in arrays in arrays',
      header(0, 1, (writer) => {
        writer.string('k')
        writer.u32(9)
        for (let depth = 0; depth < 6; depth++) {
          writer.u32(9)
          writer.u64(1)
        }
      }),
      'format/limit-exceeded',
      'm.gguf: element 0 of element 0 of element 0 of element 0 of key "k" nests arrays deeper than 4.',
    ],
    [
      'an unknown value type',
      header(0, 1, (writer) => {
        writer.string('k')
        writer.u32(13)
        writer.u8(0)
      }),
      'format/unknown-value-type',
      'm.gguf: key "k" has value type 13, expected 0 to 12.',
    ],
    [
      'a bool of 2',
      header(0, 1, (writer) => {
        writer.string('k')
        writer.u32(7)
        writer.u8(2)
      }),
      'format/bad-bool',
      'm.gguf: key "k" is a bool with the value 2, expected 0 or 1.',
    ],
    [
      'text that is not UTF-8',
      header(0, 1, (writer) => {
        writer.string('k')
        writer.u32(8)
        writer.u64(2)
        writer.bytes(Uint8Array.of(0xc3, 0x28))
      }),
      'format/bad-utf8',
      'm.gguf: key "k" at byte 45 is not valid UTF-8 text (2 bytes).',
    ],
    [
      'a key twice',
      header(0, 2, (writer) => {
        for (let i = 0; i < 2; i++) {
          writer.string('k')
          writer.u32(0)
          writer.u8(1)
        }
      }),
      'format/duplicate-name',
      'm.gguf: key "k" appears twice; expected each once.',
    ],
    [
      'a tensor twice',
      rawFile([{}, { offset: 32 }], 64),
      'format/duplicate-name',
      'm.gguf: tensor "w" appears twice; expected each once.',
    ],
    [
      'five dimensions',
      rawFile([{ dims: [1, 1, 1, 1, 1] }], 4),
      'format/limit-exceeded',
      'm.gguf: tensor "w" has 5 dimensions; expected at most 4.',
    ],
    [
      'a product of dimensions that overflows',
      rawFile([{ dims: [2 ** 32, 2 ** 32] }], 4),
      'format/bad-shape',
      'm.gguf: tensor "w": expected at most 2^53-1 elements, found shape [4294967296, 4294967296].',
    ],
    [
      'a dimension of 2^63',
      rawFile([{ dims: [2n ** 63n] }], 4),
      'format/limit-exceeded',
      'm.gguf: dimension 0 of tensor "w" is 9223372036854775808, expected at most 9007199254740991.',
    ],
    [
      'an unknown tensor type',
      rawFile([{ type: 99 }], 4),
      'format/unsupported-tensor-type',
      'm.gguf: tensor "w" has the unknown type id 99.',
    ],
    [
      'a withdrawn tensor type',
      rawFile([{ type: 31 }], 4),
      'format/unsupported-tensor-type',
      'm.gguf: tensor "w" has type Q4_0_4_4, which ggml has withdrawn.',
    ],
    [
      'a row that is not whole blocks',
      rawFile([{ type: 8, dims: [33, 2] }], 68),
      'format/row-not-whole-blocks',
      'm.gguf: tensor "w": type Q8_0 needs rows of a multiple of 32 elements, found 33 (shape [2, 33]).',
    ],
    [
      'a misaligned offset',
      rawFile([{ offset: 4 }], 8),
      'format/misaligned-tensor',
      'm.gguf: tensor "w" starts at byte 4 of the data; expected a multiple of the alignment 32.',
    ],
    [
      'a tensor beyond the end',
      rawFile([{ dims: [2], offset: 32 }], 36),
      'format/tensor-out-of-bounds',
      'm.gguf: tensor "w" ends at byte 104, but the file has 100 bytes.',
    ],
    [
      'overlapping tensors',
      rawFile(
        [
          { name: 'a', dims: [16] },
          { name: 'b', offset: 32 },
        ],
        64,
      ),
      'format/tensors-overlap',
      'm.gguf: tensor "b" starts at byte 128, inside tensor "a" (bytes 96 to 160).',
    ],
    ...([0, 3, 2 ** 31] as const).map((alignment): [string, Uint8Array, string, string] => [
      `alignment ${alignment}`,
      rawFile([{}], 4, (writer) => {
        writer.u32(4)
        writer.u32(alignment)
      }),
      'format/bad-alignment',
      `m.gguf: general.alignment is ${alignment}; expected a power of two from 1 to 65536.`,
    ]),
    [
      'an alignment that is text',
      rawFile([{}], 4, (writer) => {
        writer.u32(8)
        writer.string('32')
      }),
      'format/bad-alignment',
      'm.gguf: general.alignment is 32; expected a power of two from 1 to 65536.',
    ],
  ])('%s', async (_, bytes, code, message) => {
    await expect(load(bytes)).rejects.toMatchObject({ code, message })
  })
})

describe('loadGguf reading', () => {
  /** Remembers how far into the file was read. */
  function watched(bytes: Uint8Array): { source: ByteSource; reads: [number, number][] } {
    const inner = createMemorySource('m.gguf', bytes)
    const reads: [number, number][] = []
    const source: ByteSource = {
      name: inner.name,
      byteLength: inner.byteLength,
      close: () => inner.close(),
      readInto: (target, byteOffset) => {
        reads.push([byteOffset, target.byteLength])
        return inner.readInto(target, byteOffset)
      },
    }
    return { source, reads }
  }

  // Short and long, with characters of one to four bytes in UTF-8.
  const TOKEN_FORMS = [
    '',
    'Ġthe',
    'ü',
    'x\u0080',
    '▁a',
    '\u{1F426}',
    'a token of more than thirty-two bytes é',
  ]

  it('grows in steps and reads no byte twice', async () => {
    const tokens = Array.from({ length: 400_000 }, (_, i) => TOKEN_FORMS[i % TOKEN_FORMS.length] + String(i))
    const metadata = new Map<string, GgufEntry>([['tokens', { type: 'string[]', value: tokens }]])
    const { source, reads } = watched(encodeGguf({ metadata, tensors: TENSORS }))
    const gguf = await loadGguf(source)
    expect(gguf.metadata.get('tokens')).toEqual(tokens)
    expect(reads).toEqual([
      [0, 2 ** 20],
      [2 ** 20, 7 * 2 ** 20],
      [8 * 2 ** 20, source.byteLength - 8 * 2 ** 20],
    ])
  })

  it('reads the data section of a small header only as far as the first piece', async () => {
    const data = new Uint8Array(2 ** 22)
    const { source, reads } = watched(
      encodeGguf({ metadata: new Map(), tensors: [{ name: 'w', type: 'I8', shape: [2 ** 22], data }] }),
    )
    await loadGguf(source)
    expect(reads).toEqual([[0, 2 ** 20]])
  })
})
