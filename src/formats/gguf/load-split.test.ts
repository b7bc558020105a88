import { describe, expect, it } from 'vitest'
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { encodeGguf, type GgufEntry } from './encode-gguf.ts'
import { type GgufFile, loadGguf } from './load-gguf.ts'
import { loadSplitGguf, splitCountOf } from './load-split.ts'

function part(number: number, count: number, names: string[], extra: [string, GgufEntry][] = []): Uint8Array {
  const metadata = new Map<string, GgufEntry>([
    ...extra,
    ['split.no', { type: 'u16', value: number }],
    ['split.count', { type: 'u16', value: count }],
    ['split.tensors.count', { type: 'i32', value: 3 }],
  ])
  const tensors = names.map((name) => {
    return { name, type: 'I8', shape: [1], data: Uint8Array.of(number) } as const
  })
  return encodeGguf({ metadata, tensors })
}

const FIRST = 'm-00001-of-00003.gguf'
const ARCHITECTURE: [string, GgufEntry] = ['general.architecture', { type: 'string', value: 'llama' }]

function threeParts(): Record<string, Uint8Array> {
  return {
    [FIRST]: part(0, 3, [], [ARCHITECTURE]),
    'm-00002-of-00003.gguf': part(1, 3, ['a', 'b']),
    'm-00003-of-00003.gguf': part(2, 3, ['c']),
  }
}

async function loadFirst(files: Record<string, Uint8Array>): Promise<GgufFile> {
  return loadGguf(createMemorySource(FIRST, files[FIRST]!))
}

function opener(files: Record<string, Uint8Array>): {
  open: (fileName: string) => Promise<ByteSource>
  closed: string[]
} {
  const closed: string[] = []
  const open = async (fileName: string): Promise<ByteSource> => {
    const bytes = files[fileName]
    if (bytes === undefined) {
      throw new EngineError('file/not-found', { message: `${fileName}: no such file.` })
    }
    const inner = createMemorySource(fileName, bytes)
    return {
      name: fileName,
      byteLength: inner.byteLength,
      readInto: (target, byteOffset) => inner.readInto(target, byteOffset),
      close: async () => {
        closed.push(fileName)
      },
    }
  }
  return { open, closed }
}

describe('loadSplitGguf', () => {
  it('puts the parts together', async () => {
    const files = threeParts()
    const first = await loadFirst(files)
    expect(splitCountOf(first)).toBe(3)
    const { open, closed } = opener(files)
    const gguf = await loadSplitGguf(first, FIRST, open)
    expect(gguf.metadata.get('general.architecture')).toBe('llama')
    expect([...gguf.tensors.values()].map((tensor) => [tensor.name, tensor.source.name])).toEqual([
      ['a', 'm-00002-of-00003.gguf'],
      ['b', 'm-00002-of-00003.gguf'],
      ['c', 'm-00003-of-00003.gguf'],
    ])
    expect(gguf.sources.map((source) => source.name)).toEqual(Object.keys(files))
    expect(closed).toEqual([])
  })

  it.each<[string, Record<string, Uint8Array>, string, string]>([
    [
      'a tensor in two parts',
      { 'm-00003-of-00003.gguf': part(2, 3, ['a']) },
      'format/bad-split',
      'm-00003-of-00003.gguf: tensor "a" is also in an earlier part; expected each tensor once.',
    ],
    [
      'a part of another number',
      { 'm-00003-of-00003.gguf': part(1, 3, ['c']) },
      'format/bad-split',
      'm-00003-of-00003.gguf: split.no is 1; expected 2.',
    ],
    [
      'a part of another split',
      { 'm-00003-of-00003.gguf': part(2, 4, ['c']) },
      'format/bad-split',
      'm-00003-of-00003.gguf: split.count is 4; expected 3.',
    ],
    [
      'a wrong total',
      { 'm-00003-of-00003.gguf': part(2, 3, ['c', 'd']) },
      'format/bad-split',
      'm-00001-of-00003.gguf: all parts together have 4 tensors; expected 3 (split.tensors.count).',
    ],
    [
      'a damaged part',
      { 'm-00003-of-00003.gguf': part(2, 3, ['c']).slice(0, 40) },
      'format/truncated',
      'm-00003-of-00003.gguf: the header announces 3 keys, at least 39 bytes, but only 16 bytes follow in the file.',
    ],
  ])('refuses %s and closes what it opened', async (_, changed, code, message) => {
    const files = { ...threeParts(), ...changed }
    const { open, closed } = opener(files)
    await expect(loadSplitGguf(await loadFirst(files), FIRST, open)).rejects.toMatchObject({ code, message })
    expect(closed).toEqual(['m-00002-of-00003.gguf', 'm-00003-of-00003.gguf'])
  })

  it('names a missing part', async () => {
    const files = threeParts()
    delete files['m-00003-of-00003.gguf']
    const { open, closed } = opener(files)
    await expect(loadSplitGguf(await loadFirst(files), FIRST, open)).rejects.toMatchObject({
      code: 'file/missing-shard',
      message:
        'm-00001-of-00003.gguf: part "m-00003-of-00003.gguf" could not be opened: m-00003-of-00003.gguf: no such file.',
    })
    expect(closed).toEqual(['m-00002-of-00003.gguf'])
  })

  it('asks for the first part when given another or a renamed file', async () => {
    const files = threeParts()
    const first = await loadFirst(files)
    await expect(loadSplitGguf(first, 'renamed.gguf', opener(files).open)).rejects.toMatchObject({
      code: 'format/not-first-part',
      message:
        'm-00001-of-00003.gguf: one of 3 parts of a model; expected the first, whose name ends in "-00001-of-00003.gguf".',
    })
  })

  it('an ordinary file counts as one part', async () => {
    const file = encodeGguf({ metadata: new Map(), tensors: [] })
    expect(splitCountOf(await loadGguf(createMemorySource('m.gguf', file)))).toBe(1)
  })
})
