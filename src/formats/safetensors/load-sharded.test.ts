import { describe, expect, it } from 'vitest'
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import { loadShardedSafetensors } from './load-sharded.ts'
import { writeSafetensors } from './write-safetensors.ts'

const INDEX = 'model.safetensors.index.json'

function shard(...names: string[]): Uint8Array {
  return writeSafetensors(names.map((name) => ({ name, type: 'I8', shape: [1], data: Uint8Array.of(1) })))
}

/** A folder in memory that remembers which files are open. */
class Folder {
  readonly openFiles = new Set<string>()
  #files: Record<string, Uint8Array>

  constructor(files: Record<string, Uint8Array>) {
    this.#files = files
  }

  open = async (fileName: string): Promise<ByteSource> => {
    const bytes = this.#files[fileName]
    if (bytes === undefined) {
      throw new EngineError('file/not-found', { message: `${fileName}: no such file.` })
    }
    this.openFiles.add(fileName)
    const source = createMemorySource(fileName, bytes)
    return {
      name: source.name,
      byteLength: source.byteLength,
      readInto: (target, byteOffset) => source.readInto(target, byteOffset),
      close: async () => {
        this.openFiles.delete(fileName)
        await source.close()
      },
    }
  }
}

describe('loadShardedSafetensors', () => {
  it('finds each tensor in its file, in the order of the index', async () => {
    const folder = new Folder({ '1.safetensors': shard('a', 'c', 'unlisted'), '2.safetensors': shard('b') })
    const weight_map = { b: '2.safetensors', a: '1.safetensors', c: '1.safetensors' }
    const tensors = await loadShardedSafetensors({ metadata: {}, weight_map }, INDEX, folder.open)
    expect([...tensors.values()].map((tensor) => [tensor.name, tensor.source.name])).toEqual([
      ['b', '2.safetensors'],
      ['a', '1.safetensors'],
      ['c', '1.safetensors'],
    ])
    expect([...folder.openFiles]).toEqual(['1.safetensors', '2.safetensors'])
  })

  it('names a missing file and closes the others', async () => {
    const folder = new Folder({ '1.safetensors': shard('a') })
    const weight_map = { a: '1.safetensors', b: '2.safetensors' }
    await expect(loadShardedSafetensors({ weight_map }, INDEX, folder.open)).rejects.toMatchObject({
      code: 'file/missing-shard',
      message:
        'model.safetensors.index.json: part "2.safetensors" could not be opened: 2.safetensors: no such file.',
    })
    expect(folder.openFiles.size).toBe(0)
  })

  it('names a tensor that is not where the index says, and closes all files', async () => {
    const folder = new Folder({ '1.safetensors': shard('a'), '2.safetensors': shard('b') })
    const weight_map = { a: '2.safetensors', b: '1.safetensors' }
    await expect(loadShardedSafetensors({ weight_map }, INDEX, folder.open)).rejects.toMatchObject({
      code: 'format/tensor-missing-in-shard',
      message:
        '2.safetensors: tensor "a" is not in this file, although model.safetensors.index.json says so.',
    })
    expect(folder.openFiles.size).toBe(0)
  })

  it.each([
    '../secret.safetensors',
    '/etc/x.safetensors',
    'a\\b.safetensors',
    'C:x.safetensors',
    'model.bin',
    '',
  ])('refuses the file name %j', async (fileName) => {
    const folder = new Folder({ [fileName]: shard('a') })
    await expect(
      loadShardedSafetensors({ weight_map: { a: fileName } }, INDEX, folder.open),
    ).rejects.toMatchObject({ code: 'format/unsafe-file-name' })
    expect(folder.openFiles.size).toBe(0)
  })

  it.each([
    [null, 'has no object "weight_map"'],
    [{}, 'has no object "weight_map"'],
    [{ weight_map: ['a'] }, 'has no object "weight_map"'],
    [{ weight_map: {} }, 'lists 0 tensors'],
    [{ weight_map: { a: 7 } }, 'has a value of type number for tensor "a"'],
  ])('refuses the index %j', async (index, found) => {
    await expect(loadShardedSafetensors(index, INDEX, new Folder({}).open)).rejects.toMatchObject({
      code: 'format/bad-index',
      message: expect.stringContaining(`${INDEX}: the index ${found}; expected `),
    })
  })
})
