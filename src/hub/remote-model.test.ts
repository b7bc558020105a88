import { describe, expect, it } from 'vitest'
import { readBytes } from '../shared/byte-source.ts'
import { openTestHub } from './test-hub.case.ts'

const ID = 'someone/Thing'
const WEIGHTS = Uint8Array.from({ length: 3 * 2 ** 20 }, (_, index) => index % 251)
const FILES = {
  'config.json': '{"model_type": "llama"}',
  'tokenizer.json': '{}',
  'README.md': '---\nlicense: mit\n---\n',
  'model.safetensors': WEIGHTS,
  'pytorch_model.bin': 'never read',
  'onnx/model.onnx': 'never read',
}

describe('locateRemote', () => {
  it('lists what pull would fetch, and the card', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, { files: FILES })
    const located = await hub.locateRemote(ID)
    expect(located?.fileName).toBeUndefined()
    expect(located?.folder.name).toBe(ID)
    expect(await located?.folder.list()).toEqual([
      'config.json',
      'tokenizer.json',
      'model.safetensors',
      'README.md',
    ])
  })

  it('reads in ranges, a fraction of the file', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, { files: FILES })
    const folder = (await hub.locateRemote(ID))!.folder
    const source = await folder.open('model.safetensors')
    expect(source.name).toBe(`${ID}/model.safetensors`)
    expect(source.byteLength).toBe(WEIGHTS.length)
    expect([...(await readBytes(source, 2_500_000, 4))]).toEqual([...WEIGHTS.subarray(2_500_000, 2_500_004)])
    expect(fake.rangesOf('model.safetensors')).toEqual(['bytes=0-1048575', 'bytes=2500000-3145727'])
    expect(fake.sentBytesOf('model.safetensors')).toBe(2 ** 20 + 645_728)
    await source.close()
    await expect(readBytes(source, 0, 1)).rejects.toMatchObject({ code: 'file/closed' })
  })

  it('refuses a server that ignores ranges, before the file is fetched', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, { files: FILES })
    fake.addFaults('model.safetensors', { kind: 'ignore-range' })
    const folder = (await hub.locateRemote(ID))!.folder
    await expect(folder.open('model.safetensors')).rejects.toMatchObject({
      code: 'hub/no-ranges',
      message: `${ID}/model.safetensors: asked for a part, but the server sends the whole file; expected status 206, found 200.`,
    })
  })

  it('tries again what may pass', async () => {
    const { fake, hub, sleeps } = await openTestHub()
    fake.setRepository(ID, { files: FILES })
    fake.addFaults('config.json', { kind: 'status', status: 503 })
    const folder = (await hub.locateRemote(ID))!.folder
    const source = await folder.open('config.json')
    expect(new TextDecoder().decode(await readBytes(source, 0, source.byteLength))).toBe(FILES['config.json'])
    expect(sleeps).toEqual([1000])
  })

  it('shows everything of a repository that pull would refuse', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, { files: { 'config.json': '{}', 'pytorch_model.bin': 'pickle' } })
    expect(await (await hub.locateRemote(ID))?.folder.list()).toEqual(['config.json', 'pytorch_model.bin'])
  })

  it('an empty file is empty', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, { files: { ...FILES, 'tokenizer.json': '' } })
    const source = await (await hub.locateRemote(ID))!.folder.open('tokenizer.json')
    expect(source.byteLength).toBe(0)
  })

  it('knows no file that is not listed, and no path', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, { files: FILES })
    const folder = (await hub.locateRemote(ID))!.folder
    await expect(folder.open('onnx/model.onnx')).rejects.toMatchObject({ code: 'file/not-found' })
    expect(await hub.locateRemote('./some/folder/model')).toBeUndefined()
  })

  it('a repository that does not exist is an error', async () => {
    const { hub } = await openTestHub()
    await expect(hub.locateRemote('nobody/nothing')).rejects.toMatchObject({ code: 'hub/not-found' })
  })

  it('a file at an address', async () => {
    const { fake, hub } = await openTestHub()
    fake.setRepository(ID, { files: { 'model.gguf': 'GGUF and more' } })
    const located = await hub.locateRemote(`${fake.endpoint}/${ID}/resolve/main/model.gguf`)
    expect(await located?.folder.list()).toEqual(['model.gguf'])
  })
})
