import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ggufBytes, openTestHub, type TestHub } from './test-hub.case.ts'

const ID = 'someone/Thing-GGUF'
const WEIGHTS = 'Thing-Q8_0.gguf'

async function openWithModel(): Promise<TestHub> {
  const test = await openTestHub()
  test.fake.setRepository(ID, {
    files: { [WEIGHTS]: ggufBytes(3_000_000), 'mmproj-Thing-f16.gguf': ggufBytes(1000, 2) },
  })
  await test.hub.pull(ID)
  return test
}

describe('verify', () => {
  it('reads everything again', async () => {
    const { fake, hub } = await openWithModel()
    const progress: number[] = []
    const report = await hub.verify(ID, { onProgress: ({ readBytes }) => progress.push(readBytes) })
    expect(report).toEqual({
      id: ID,
      revision: fake.commitOf(ID),
      isIntact: true,
      files: [WEIGHTS, 'mmproj-Thing-f16.gguf'].map((name) => ({ name, state: 'intact', detail: '' })),
    })
    expect(progress).toEqual([1_048_576, 2_097_152, 3_000_000, 3_001_000])
  })

  it('tells changed, cut and missing files apart', async () => {
    const { hub } = await openWithModel()
    const [model] = await hub.list()
    const path = join(model!.location, WEIGHTS)
    const bytes = await readFile(path)
    bytes[2_000_000]! ^= 1
    await writeFile(path, bytes)
    const stateOf = async () => {
      const { isIntact, files } = await hub.verify(`${ID}/${WEIGHTS}`)
      return [isIntact, files[0]?.state, files[0]?.detail.replace(/[0-9a-f]{64}/g, 'HASH')]
    }
    expect(await stateOf()).toEqual([false, 'wrong-hash', 'expected SHA-256 HASH, found HASH.'])
    await writeFile(path, bytes.subarray(0, 5))
    expect(await stateOf()).toEqual([false, 'wrong-size', 'expected 3000000 bytes, found 5'])
    await rm(path)
    expect(await stateOf()).toEqual([false, 'missing', `${path}: no such file.`])
    await mkdir(path)
    expect(await stateOf()).toEqual([false, 'unreadable', `${path}: expected a file, found a directory.`])
  })

  it('can be stopped', async () => {
    const { hub } = await openWithModel()
    await expect(hub.verify(ID, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  it('knows only what is stored', async () => {
    const { hub } = await openTestHub()
    await expect(hub.verify('smolvlm-256m')).rejects.toMatchObject({
      code: 'hub/not-stored',
      message: 'smolvlm-256m is not among the stored models.',
      hint: 'onsight list shows what is stored; onsight pull smolvlm-256m fetches it.',
    })
  })
})

describe('remove', () => {
  it('frees a model, and its folders', async () => {
    const { fake, hub, home } = await openWithModel()
    expect(await hub.remove(ID)).toEqual([{ id: ID, revision: fake.commitOf(ID), freedBytes: 3_001_000 }])
    expect(await hub.list()).toEqual([])
    expect(await readdir(join(home, 'models'))).toEqual([])
    expect((await readdir(home)).sort()).toEqual(['downloads', 'models'])
    await expect(hub.remove(ID)).rejects.toMatchObject({ code: 'hub/not-stored' })
  })

  it('frees what was never finished', async () => {
    const { fake, hub, home } = await openTestHub()
    fake.setRepository(ID, { files: { [WEIGHTS]: ggufBytes(3000) } })
    fake.addFaults(
      WEIGHTS,
      { kind: 'cut', afterBytes: 700 },
      ...Array(4).fill({ kind: 'status', status: 500 }),
    )
    await expect(hub.pull(ID)).rejects.toMatchObject({ code: 'hub/server-error' })
    expect(await hub.remove(ID)).toEqual([{ id: ID, revision: undefined, freedBytes: 700 }])
    expect(await hub.listUnfinished()).toEqual([])
    expect(await readdir(join(home, 'downloads'))).toEqual([])
  })

  it('of one revision leaves the others', async () => {
    const { fake, hub } = await openWithModel()
    fake.setRepository(ID, { files: { [WEIGHTS]: ggufBytes(10) } })
    const { model } = await hub.pull(ID)
    const [removed] = await hub.remove(`${ID}@${model.revision.slice(0, 12)}`)
    expect(removed?.freedBytes).toBe(10)
    expect((await hub.list()).map(({ byteLength }) => byteLength)).toEqual([3_001_000])
  })
})

describe('folders that are no whole models', () => {
  it('are listed as unfinished and can be removed', async () => {
    const { hub } = await openWithModel()
    const [model] = await hub.list()
    await writeFile(join(model!.location, 'onsight-model.json'), '{"version":1')
    expect(await hub.list()).toEqual([])
    expect(await hub.find(ID)).toBeUndefined()
    expect(await hub.listUnfinished()).toEqual([{ id: ID, location: model!.location, byteLength: 3_001_000 }])
    expect(await hub.remove(ID)).toEqual([{ id: ID, revision: undefined, freedBytes: 3_001_000 }])
  })

  it('are replaced by the next pull', async () => {
    const { hub } = await openWithModel()
    const [model] = await hub.list()
    await rm(join(model!.location, 'onsight-model.json'))
    expect((await hub.pull(ID)).wasStored).toBe(false)
    expect(await hub.list()).toEqual([model])
  })

  it('do not pass for other models', async () => {
    const { hub, home } = await openWithModel()
    const [model] = await hub.list()
    const copy = join(home, 'models', 'other', 'name', 'x')
    await mkdir(copy, { recursive: true })
    await writeFile(
      join(copy, 'onsight-model.json'),
      await readFile(join(model!.location, 'onsight-model.json')),
    )
    expect(await hub.list()).toEqual([model])
    expect((await hub.listUnfinished()).map(({ id }) => id)).toEqual(['other/name'])
  })
})

it.each(['{"version":1,"files":', '{"version":2}', '{"version":1,"files":{"a":null}}', 'null'])(
  'a damaged journal begins anew: %s',
  async (journal) => {
    const { fake, hub, home } = await openTestHub()
    fake.setRepository(ID, { files: { [WEIGHTS]: ggufBytes(3000) } })
    const folder = join(home, 'downloads', ID, 'Thing-Q8_0')
    await mkdir(join(folder, 'files'), { recursive: true })
    await writeFile(join(folder, 'files', WEIGHTS), 'old')
    await writeFile(join(folder, 'files', 'stranger.gguf'), 'old')
    await writeFile(join(folder, 'journal.json'), journal)
    expect((await hub.listUnfinished())[0]).toMatchObject({ id: ID, byteLength: 6 })
    const { model } = await hub.pull(ID)
    expect((await readdir(model.location)).sort()).toEqual([WEIGHTS, 'onsight-model.json'])
    expect((await hub.verify(ID)).isIntact).toBe(true)
  },
)
