import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeBlocks } from '../../quant/decode.ts'
import { readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import type { TensorInfo } from '../tensor-info.ts'
import { loadSafetensors } from './load-safetensors.ts'
import { type SafetensorsTensor, writeSafetensors } from './write-safetensors.ts'

function load(bytes: Uint8Array): Promise<Map<string, TensorInfo>> {
  return loadSafetensors(createMemorySource('m.safetensors', bytes))
}

/** A file with any header text, right or wrong. */
function fileOf(header: string, dataByteLength = 0): Uint8Array {
  const text = new TextEncoder().encode(header)
  const file = new Uint8Array(8 + text.length + dataByteLength)
  new DataView(file.buffer).setUint32(0, text.length, true)
  file.set(text, 8)
  return file
}

async function values(tensor: TensorInfo): Promise<number[]> {
  const out = new Float32Array(tensor.shape.reduce((a, b) => a * b, 1))
  decodeBlocks(tensor.type, await readBytes(tensor.source, tensor.byteOffset, tensor.byteLength), out)
  return [...out]
}

const TENSORS: SafetensorsTensor[] = [
  { name: 'b', type: 'F32', shape: [2, 1], data: Uint8Array.of(0, 0, 128, 63, 0, 0, 0, 64) },
  { name: '10', type: 'I8', shape: [3], data: Uint8Array.of(1, 2, 255) },
  { name: 'a "quoted" ü', type: 'F32', shape: [], data: Uint8Array.of(0, 0, 64, 64) },
]

describe('loadSafetensors', () => {
  it('reads a file that Python wrote', async () => {
    const bytes = readFileSync(new URL('../../../test/golden/formats/python.safetensors', import.meta.url))
    const tensors = await load(bytes)
    const summary = [...tensors.values()].map(({ name, type, shape, byteLength }) => {
      return { name, type, shape, byteLength }
    })
    expect(summary.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'a.weight', type: 'F32', shape: [2, 3], byteLength: 24 },
      { name: 'b.half', type: 'F16', shape: [3], byteLength: 6 },
      { name: 'c.long', type: 'I64', shape: [1], byteLength: 8 },
      { name: 'd.flag', type: 'BOOL', shape: [1, 2], byteLength: 2 },
      { name: 'e.scalar', type: 'F32', shape: [], byteLength: 4 },
      { name: 'f.empty', type: 'F32', shape: [0, 4], byteLength: 0 },
    ])
    expect(await values(tensors.get('a.weight')!)).toEqual([-1, -0.875, -0.75, -0.625, -0.5, -0.375])
    expect(await values(tensors.get('b.half')!)).toEqual([-1, -0.875, -0.75])
    expect(await values(tensors.get('d.flag')!)).toEqual([1, 0])
    expect(await values(tensors.get('e.scalar')!)).toEqual([7])
  })

  it('reads what writeSafetensors wrote, wide elements first', async () => {
    const tensors = await load(writeSafetensors(TENSORS, { format: 'pt' }))
    expect([...tensors.keys()]).toEqual(['a "quoted" ü', 'b', '10'])
    for (const { name, type, shape, data } of TENSORS) {
      const tensor = tensors.get(name)!
      expect({ type: tensor.type, shape: tensor.shape }).toEqual({ type, shape })
      expect(await readBytes(tensor.source, tensor.byteOffset, tensor.byteLength)).toEqual(data)
    }
  })

  it('reads a file without tensors', async () => {
    expect(await load(writeSafetensors([]))).toEqual(new Map())
  })

  it('refuses a file cut at any byte', async () => {
    const file = writeSafetensors(TENSORS)
    for (let length = 0; length < file.length; length++) {
      const error: unknown = await load(file.slice(0, length)).catch((thrown: unknown) => thrown)
      expect(EngineError.isInstance(error), `cut at ${length}`).toBe(true)
      expect((error as EngineError).message).toMatch(/^m\.safetensors: /)
    }
  })

  const entry = (fields: string): string => `{"w":{${fields}}}`
  it.each([
    [
      'unknown dtype',
      fileOf(entry('"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]'), 1),
      'format/unsupported-tensor-type',
      'm.safetensors: tensor "w" has dtype F8_E4M3; expected one of BOOL, U8, I8, I16, F16, BF16, I32, F32, F64, I64.',
    ],
    [
      'missing dtype',
      fileOf(entry('"shape":[1],"data_offsets":[0,4]'), 4),
      'format/bad-header',
      'm.safetensors: tensor "w": dtype is missing; expected a string.',
    ],
    [
      'negative dimension',
      fileOf(entry('"dtype":"F32","shape":[-1],"data_offsets":[0,4]'), 4),
      'format/bad-header',
      'm.safetensors: tensor "w": shape is [-1]; expected a list of at most 8 whole numbers.',
    ],
    [
      'nine dimensions',
      fileOf(entry('"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]'), 4),
      'format/bad-header',
      'm.safetensors: tensor "w": shape is [1,1,1,1,1,1,1,1,1]; expected a list of at most 8 whole numbers.',
    ],
    [
      'three offsets',
      fileOf(entry('"dtype":"F32","shape":[1],"data_offsets":[0,4,8]'), 4),
      'format/bad-header',
      'm.safetensors: tensor "w": data_offsets is [0,4,8]; expected two whole numbers.',
    ],
    [
      'a shape that does not fit its bytes',
      fileOf(entry('"dtype":"F32","shape":[2],"data_offsets":[0,4]'), 4),
      'format/size-mismatch',
      'm.safetensors: tensor "w": shape [2] of F32 takes 8 bytes, but data_offsets [0, 4] span 4.',
    ],
    [
      'offsets in reverse',
      fileOf(entry('"dtype":"F32","shape":[1],"data_offsets":[4,0]'), 4),
      'format/size-mismatch',
      'm.safetensors: tensor "w": shape [1] of F32 takes 4 bytes, but data_offsets [4, 0] span -4.',
    ],
    [
      'a shape that overflows',
      fileOf(entry('"dtype":"F32","shape":[4503599627370496,4503599627370496],"data_offsets":[0,4]'), 4),
      'format/bad-shape',
      'm.safetensors: tensor "w": expected at most 2^53-1 elements, found shape [4503599627370496, 4503599627370496].',
    ],
    [
      'a tensor beyond the end',
      fileOf(entry('"dtype":"F32","shape":[2],"data_offsets":[0,8]'), 4),
      'format/tensor-out-of-bounds',
      'm.safetensors: tensor "w" ends at byte 8 of the data, but the file has 4 bytes of data.',
    ],
    [
      'a gap',
      fileOf(entry('"dtype":"F32","shape":[1],"data_offsets":[4,8]'), 8),
      'format/gap-in-data',
      'm.safetensors: tensor "w" starts at byte 4 of the data; expected 0, the start of the data.',
    ],
    [
      'overlap',
      fileOf(
        '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}',
        6,
      ),
      'format/tensors-overlap',
      'm.safetensors: tensor "b" starts at byte 2 of the data; expected 4, the end of tensor "a".',
    ],
    [
      'trailing bytes',
      fileOf(entry('"dtype":"F32","shape":[1],"data_offsets":[0,4]'), 5),
      'format/trailing-bytes',
      'm.safetensors: the tensors take 4 bytes, but 5 bytes follow the header.',
    ],
    [
      'a tensor twice',
      fileOf(
        '{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}, "\\u0061" :{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}',
        2,
      ),
      'format/duplicate-name',
      'm.safetensors: "a" appears twice in the header; expected each name once.',
    ],
    [
      'a field twice',
      fileOf(entry('"dtype":"F16","shape":[1],"dtype":"BF16","data_offsets":[0,2]'), 2),
      'format/duplicate-name',
      'm.safetensors: "dtype" appears twice in the header; expected each name once.',
    ],
    [
      'an entry that is no object',
      fileOf('{"w":[1]}'),
      'format/bad-header',
      'm.safetensors: tensor "w": its entry is [1]; expected an object.',
    ],
    [
      'a header length of an exabyte',
      Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 16, 0x7b),
      'format/wrong-kind',
      'm.safetensors: expected a safetensors file, found bytes of no known format.',
    ],
    [
      'a header length above the limit',
      Uint8Array.of(0, 0, 0, 64, 0, 0, 0, 0, 0x7b),
      'format/limit-exceeded',
      'm.safetensors: the header length is 1073741824 bytes; expected at most 100000000.',
    ],
    [
      'a header longer than the file',
      Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0, 0x7b),
      'format/truncated',
      'm.safetensors: the header ends at byte 17, but the file ends at byte 9.',
    ],
    [
      'a PyTorch checkpoint',
      new TextEncoder().encode('PK\x03\x04 archive/data.pkl'),
      'format/wrong-kind',
      'm.safetensors: expected a safetensors file, found a ZIP archive, probably a PyTorch checkpoint.',
    ],
    [
      'a Git LFS pointer',
      new TextEncoder().encode('version https://git-lfs.github.com/spec/v1\n'),
      'format/wrong-kind',
      'm.safetensors: expected a safetensors file, found a Git LFS pointer, not the file itself.',
    ],
  ])('refuses %s', async (_, bytes, code, message) => {
    await expect(load(bytes)).rejects.toMatchObject({ code, message })
  })

  it('refuses a header that is not JSON, and one that is not UTF-8', async () => {
    await expect(load(fileOf('{"w":'))).rejects.toMatchObject({ code: 'format/bad-json' })
    const file = fileOf('{"w":"  "}')
    file[14] = 0xff
    await expect(load(file)).rejects.toMatchObject({ code: 'format/bad-json' })
  })

  it('survives deep nesting', async () => {
    const deep = `{"w":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`
    await expect(load(fileOf(deep))).rejects.toMatchObject({
      code: 'format/bad-header',
      message: 'm.safetensors: tensor "w": its entry is […]; expected an object.',
    })
  })

  it('takes names of object members for tensors', async () => {
    const header =
      '{"__proto__":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"constructor":{"dtype":"I8","shape":[1],"data_offsets":[1,2]}}'
    expect([...(await load(fileOf(header, 2))).keys()]).toEqual(['__proto__', 'constructor'])
  })
})

describe('writeSafetensors', () => {
  it('writes the bytes that Python writes', async () => {
    const python = readFileSync(new URL('../../../test/golden/formats/python.safetensors', import.meta.url))
    const tensors = await Promise.all(
      [...(await load(python)).values()].map(
        async ({ name, type, shape, byteOffset, byteLength, source }) => {
          return { name, type, shape, data: await readBytes(source, byteOffset, byteLength) }
        },
      ),
    )
    expect(Buffer.from(writeSafetensors(tensors, { format: 'pt' }))).toEqual(python)
  })

  it.each([
    [
      'a quantised type',
      { type: 'Q8_0', shape: [32], data: new Uint8Array(34) },
      'format/unsupported-tensor-type',
    ],
    ['a wrong length', { type: 'F32', shape: [2], data: new Uint8Array(7) }, 'format/size-mismatch'],
    [
      'the reserved name',
      { name: '__metadata__', type: 'I8', shape: [0], data: new Uint8Array(0) },
      'format/bad-name',
    ],
  ] as const)('refuses %s', (_, tensor, code) => {
    expect(() => writeSafetensors([{ name: 'w', ...tensor }])).toThrow(expect.objectContaining({ code }))
  })

  it('refuses a name twice', () => {
    expect(() => writeSafetensors([TENSORS[0]!, TENSORS[0]!])).toThrow(
      expect.objectContaining({ code: 'format/duplicate-name', message: 'Tensor "b" is given twice.' }),
    )
  })
})
