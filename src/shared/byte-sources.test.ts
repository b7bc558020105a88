import { describe, expect, it } from 'vitest'
import { createBlobSource } from './blob-source.ts'
import { type ByteSource, readBytes } from './byte-source.ts'
import { createMemorySource } from './memory-source.ts'

const BYTES = Uint8Array.from({ length: 100 }, (_, i) => i)

const SOURCES: [string, () => ByteSource][] = [
  ['memory', () => createMemorySource('a.bin', BYTES)],
  [
    'memory over a part of a buffer',
    () => createMemorySource('a.bin', Uint8Array.of(9, ...BYTES).subarray(1)),
  ],
  ['blob', () => createBlobSource('a.bin', new Blob([BYTES]))],
  ['blob in pieces', () => createBlobSource('a.bin', new Blob([BYTES.slice(0, 33), BYTES.slice(33)]))],
]

describe.each(SOURCES)('a source over %s', (_, create) => {
  it('has the name and the length', () => {
    const { name, byteLength } = create()
    expect({ name, byteLength }).toEqual({ name: 'a.bin', byteLength: 100 })
  })

  it('reads anywhere, also nothing at the end', async () => {
    const source = create()
    expect([...(await readBytes(source, 0, 3))]).toEqual([0, 1, 2])
    expect([...(await readBytes(source, 97, 3))]).toEqual([97, 98, 99])
    expect([...(await readBytes(source, 100, 0))]).toEqual([])
  })

  it('fills exactly the target, which may be a view of shared memory', async () => {
    const memory = new SharedArrayBuffer(8)
    await create().readInto(new Uint8Array(memory, 2, 4), 50)
    expect([...new Uint8Array(memory)]).toEqual([0, 0, 50, 51, 52, 53, 0, 0])
  })

  it.each([
    [98, 3],
    [101, 0],
    [-1, 1],
    [0.5, 1],
    [Number.NaN, 1],
  ])('refuses %d + %d bytes', async (byteOffset, byteLength) => {
    await expect(readBytes(create(), byteOffset, byteLength)).rejects.toMatchObject({
      code: 'file/truncated',
      message: `a.bin: expected ${byteLength} bytes at byte ${byteOffset}, but the file has 100 bytes.`,
    })
  })

  it('closes twice and refuses to read afterwards', async () => {
    const source = create()
    await source.close()
    await source.close()
    await expect(readBytes(source, 0, 1)).rejects.toMatchObject({
      code: 'file/closed',
      message: 'a.bin: read after the source was closed.',
    })
  })
})

it('a blob that cannot be read any more is an EngineError', async () => {
  const blob = new Blob([BYTES])
  blob.slice = () => Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(new Error('gone')) })
  await expect(readBytes(createBlobSource('a.bin', blob), 3, 2)).rejects.toMatchObject({
    code: 'file/read-failed',
    message: 'a.bin: reading 2 bytes at byte 3 failed.',
  })
})
