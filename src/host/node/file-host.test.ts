import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTemporaryFolders } from '../../../test/support/temporary-folders.ts'
import { readBytes } from '../../shared/byte-source.ts'
import { createNodeFileHost } from './file-host.ts'

const folders = useTemporaryFolders()

describe('locateModel', () => {
  it('finds folders and files by path, without asking the store', async () => {
    const folder = folders.create({ 'config.json': '{}' })
    const { locateModel } = createNodeFileHost(() => Promise.reject(new Error('asked')))
    expect((await locateModel(folder)).fileName).toBeUndefined()
    const found = await locateModel(join(folder, 'config.json'))
    expect([found.fileName, found.folder.name, await found.folder.list()]).toEqual([
      'config.json',
      folder,
      ['config.json'],
    ])
  })

  it('finds stored models by what they are called', async () => {
    const location = folders.create({ 'a.gguf': 'hi' })
    const asked: string[] = []
    const { locateModel } = createNodeFileHost(async (reference) => {
      asked.push(reference)
      return { location, fileName: 'a.gguf' }
    })
    const { folder, fileName } = await locateModel('owner/name')
    expect([folder.name, fileName, asked]).toEqual(['owner/name', 'a.gguf', ['owner/name']])
    const source = await folder.open('a.gguf')
    expect(String.fromCharCode(...(await readBytes(source, 0, 2)))).toBe('hi')
    await source.close()
  })

  it('says how to get a model that could be pulled', async () => {
    const { locateModel } = createNodeFileHost(async () => 'not-stored')
    await expect(locateModel('smolvlm-500m')).rejects.toMatchObject({
      code: 'file/model-not-found',
      message: 'There is no model at smolvlm-500m, and none of that name is stored.',
      hint: 'Fetch it once with: onsight pull smolvlm-500m',
    })
  })

  it('says what a model is for what is no name of one', async () => {
    await expect(createNodeFileHost().locateModel('./nope')).rejects.toMatchObject({
      code: 'file/model-not-found',
      message: 'There is no model at ./nope.',
      hint: 'Give a model folder (config.json, tokenizer.json, *.safetensors) or a .gguf file.',
    })
  })
})
