import { chmod, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTemporaryFolders } from '../../../test/support/temporary-folders.ts'
import { createNodeModelStorage } from './model-storage.ts'

const folders = useTemporaryFolders()
const MODEL = ['owner', 'name', 'abc+q8']
const DRAFT = ['owner', 'name', 'q8']

describe('a draft', () => {
  it('keeps parts and journal until it is committed', async () => {
    const home = folders.create({})
    const storage = createNodeModelStorage(home)
    const first = await storage.openDraft(DRAFT)
    const part = await first.openPart('a.gguf')
    await part.write(Buffer.from('hello'), 0)
    await part.write(Buffer.from('world'), 5)
    await part.truncate(7)
    await part.write(Buffer.from('!'), 7)
    const back = Buffer.alloc(4)
    await part.readInto(back, 4)
    expect([String(back), part.byteLength]).toEqual(['owo!', 8])
    await expect(part.readInto(Buffer.alloc(2), 7)).rejects.toMatchObject({ code: 'file/truncated' })
    await part.flush()
    await part.close()
    await first.writeJournal('journal 1')
    await first.writeJournal('journal 2')
    await first.release()
    await first.release()

    const second = await storage.openDraft(DRAFT)
    expect(await second.readJournal()).toBe('journal 2')
    expect(await second.listParts()).toEqual(new Map([['a.gguf', 8]]))
    expect(await storage.listDrafts()).toEqual([
      {
        path: DRAFT,
        location: join(home, 'downloads', ...DRAFT),
        description: 'journal 2',
        files: new Map([['a.gguf', 8]]),
      },
    ])
    await second.commit(MODEL, 'manifest')
    await second.release()
    expect(await storage.listDrafts()).toEqual([])
    const location = join(home, 'models', ...MODEL)
    expect(await storage.listModels()).toEqual([
      { path: MODEL, location, description: 'manifest', files: new Map([['a.gguf', 8]]) },
    ])
    expect(await readFile(join(location, 'a.gguf'), 'utf8')).toBe('hellowo!')
    expect((await readdir(home, { recursive: true })).sort()).toEqual(
      ['downloads', 'models', 'models/owner', 'models/owner/name', 'models/owner/name/abc+q8']
        .concat(['a.gguf', 'onsight-model.json'].map((name) => `models/owner/name/abc+q8/${name}`))
        .sort(),
    )
  })

  it('is held by one at a time', async () => {
    const storage = createNodeModelStorage(folders.create({}))
    const draft = await storage.openDraft(DRAFT)
    await expect(storage.openDraft(DRAFT)).rejects.toMatchObject({ code: 'hub/locked' })
    await expect(storage.removeDraft(DRAFT)).rejects.toMatchObject({ code: 'hub/locked' })
    await (await storage.openDraft(['owner', 'name', 'q4'])).release()
    await draft.release()
    await storage.removeDraft(DRAFT)
    expect(await storage.listDrafts()).toEqual([
      expect.objectContaining({ path: ['owner', 'name', 'q4'], files: new Map(), description: undefined }),
    ])
  })

  it('takes the place of a model that was there', async () => {
    const home = folders.create({ 'models/owner/name/abc+q8/old.gguf': 'old' })
    const storage = createNodeModelStorage(home)
    const draft = await storage.openDraft(DRAFT)
    await (await draft.openPart('new.gguf')).close()
    await draft.commit(MODEL, 'manifest')
    expect((await readdir(join(home, 'models', ...MODEL))).sort()).toEqual(['new.gguf', 'onsight-model.json'])
  })
})

it('what an interrupted deletion has left goes with the next', async () => {
  const home = folders.create({ 'trash/x/model.gguf': 'x', 'models/owner/name/abc+q8/a.gguf': 'x' })
  const storage = createNodeModelStorage(home)
  await storage.removeModel(MODEL)
  expect(await readdir(home)).toEqual(['models'])
})

it('knows how much is free, also before anything is there', async () => {
  const storage = createNodeModelStorage(join(folders.create({}), 'not', 'yet'))
  expect(await storage.freeBytes()).toBeGreaterThan(0)
  expect(await storage.listModels()).toEqual([])
  expect(await storage.listDrafts()).toEqual([])
})

describe('failures of the system', () => {
  it('a file in the way', async () => {
    const home = folders.create({ downloads: 'a file' })
    await expect(createNodeModelStorage(home).openDraft(DRAFT)).rejects.toMatchObject({
      code: 'hub/write-failed',
      message: `${join(home, 'downloads', ...DRAFT)}: writing failed (ENOTDIR).`,
    })
  })

  it.skipIf(process.getuid?.() === 0)('no permission', async () => {
    const home = folders.create({})
    await chmod(home, 0o500)
    await expect(createNodeModelStorage(home).openDraft(DRAFT)).rejects.toMatchObject({
      code: 'hub/write-failed',
      message: `${join(home, 'downloads', ...DRAFT)}: no permission to write here (EACCES).`,
    })
  })

  it('a manifest that is a folder, or too long', async () => {
    const home = folders.create({ 'models/a/b/c/onsight-model.json': ' '.repeat(2 ** 22 + 1) })
    await mkdir(join(home, 'models', 'a', 'b', 'd', 'onsight-model.json'), { recursive: true })
    const models = await createNodeModelStorage(home).listModels()
    expect(models.map(({ path, description }) => [path.at(-1), description])).toEqual([
      ['c', undefined],
      ['d', undefined],
    ])
  })
})
