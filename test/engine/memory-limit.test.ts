/** What a limit of memory does to a model, its conversations and its pictures. */
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { EngineError, type LoadModelOptions, loadModel, type MemoryPlan } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'
import { openHandles } from '../support/process-resources.ts'
import { useTemporaryFolders } from '../support/temporary-folders.ts'

const TINY = goldenPath('../../models/tiny')
const MB = 1e6
const folders = useTemporaryFolders()

async function refusal(work: Promise<unknown>): Promise<EngineError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (EngineError.isInstance(error)) return error
  throw error ?? new Error('Nothing was refused.')
}

/** This process has test tools in it: limits count from what it has. */
async function programBytes(): Promise<number> {
  let plan: MemoryPlan | undefined
  const model = await loadModel(TINY, { memoryLimit: 1e12, onMemoryPlan: (made) => (plan = made) })
  await model.dispose()
  return plan!.parts[0]!.bytes
}

async function loadWithin(limit: number, options: LoadModelOptions = {}, path = TINY) {
  let plan: MemoryPlan | undefined
  const model = await loadModel(path, {
    ...options,
    memoryLimit: limit,
    onMemoryPlan: (made) => (plan = made),
  })
  return { model, plan: plan as MemoryPlan }
}

it('refuses a model that does not fit before anything is loaded, with the way out', async () => {
  const before = openHandles()
  let loadedBytes = 0
  const error = await refusal(
    loadModel(TINY, {
      memoryLimit: 40 * MB,
      precision: 'f32',
      onProgress: (progress) => (loadedBytes = progress.loadedBytes),
    }),
  )
  expect(error.code).toBe('backend/memory-limit')
  expect(error.message).toMatch(
    /needs at least \d+ MB \(.*19 MB for weights, .*\); the memory limit is 40 MB\.$/,
  )
  expect(error.hint).toMatch(
    /^Of the same model, --precision q8 needs \d+ MB, --precision q4 needs \d+ MB\. Or raise the limit\.$/,
  )
  expect([loadedBytes, openHandles()]).toEqual([0, before])
})

it('tells the plan before it loads, and keeps to it', async () => {
  const events: string[] = []
  let plan: MemoryPlan | undefined
  const model = await loadModel(TINY, {
    memoryLimit: 2e9,
    onMemoryPlan(made) {
      events.push('plan')
      plan = made
    },
    onProgress: () => events.push('progress'),
  })
  expect([events[0], events.filter((event) => event === 'plan').length]).toEqual(['plan', 1])
  expect(model.info).toMatchObject({ contextLength: 2048, kv: 'f16' })
  expect(plan).toMatchObject({ limitBytes: 2e9, contextLength: 2048, kv: 'f16', imageTokens: 64 })
  await model.dispose()
})

/**
 * A limit that leaves less than the whole context: a few megabytes above the least, which changes with this process. Keys
 * and values of the tiny model are small; in 16 bits all of them lie in the place of staging memory.
 */
async function loadTightly() {
  const error = await refusal(loadModel(TINY, { memoryLimit: 1, kv: 'f32' }))
  const least = Number(/needs at least (\d+) MB/.exec(error.message)?.[1])
  for (let more = 1; more < 30; more++) {
    const found = await loadWithin((least + more) * MB, { kv: 'f32' }).catch((reason: EngineError) => reason)
    if (EngineError.isInstance(found)) continue
    if (found.plan.contextLength < 2048) return found
    await found.model.dispose()
  }
  throw new Error('Every limit left all or nothing.')
}

it('gives a short context where there is little, and a long conversation still goes on', async () => {
  const { model, plan } = await loadTightly()
  expect(plan.totalBytes).toBeLessThanOrEqual(plan.limitBytes)
  expect(plan.contextLength).toBeGreaterThanOrEqual(512)
  expect([model.info.contextLength, model.info.kv, plan.kv]).toEqual([plan.contextLength, 'f32', 'f32'])
  const chat = model.chat()
  const image = goldenPath('tiny-cases/pictures/000.png')
  let trimmed = 0
  for (let turn = 0; turn < 12; turn++) {
    const text = `Question ${turn}: ${'look again, '.repeat(40)}`
    const { finishReason } = await ask(
      chat,
      { text, images: [image] },
      { maxTokens: 8, ignoreEos: true },
      (event) => {
        if (event.type === 'context-trimmed') trimmed++
      },
    )
    expect(finishReason).toBe('length')
  }
  expect(trimmed).toBeGreaterThan(0)
  await model.dispose()
})

it('takes what the caller asked for as upper bounds', async () => {
  const options = { contextLength: 700, kv: 'f32', imageTokens: 20, imageCacheBytes: 0 } as const
  const { model, plan } = await loadWithin(3e9, options)
  expect(plan).toMatchObject({ contextLength: 700, kv: 'f32', imageTokens: 16 })
  const chat = model.chat()
  const { images } = await ask(chat, { text: 'Hi', images: [goldenPath('tiny-cases/pictures/000.png')] })
  expect(images).toMatchObject([{ tokens: 16 }])
  await model.dispose()
})

it('ends what goes beyond it with a typed error; the rest goes on', async () => {
  const { model } = await loadWithin((await programBytes()) + 90 * MB, { contextLength: 2048 })
  const chats = []
  let error: unknown
  // Far more conversations than the plan has room for.
  for (let count = 0; count < 200 && error === undefined; count++) {
    const chat = model.chat()
    chats.push(chat)
    error = await ask(chat, `Number ${count}. ${'word '.repeat(600)}`, { maxTokens: 1 }).then(
      () => undefined,
      (reason: unknown) => reason,
    )
  }
  expect(error).toMatchObject({ code: 'backend/out-of-memory' })
  expect((error as Error).message).toMatch(/the memory limit leaves \d+ MB\.$/)
  chats.at(-1)!.dispose()
  chats[0]!.dispose()
  const next = model.chat()
  await ask(next, `Again. ${'word '.repeat(600)}`, { maxTokens: 1 })
  await ask(chats[1]!, 'And you?', { maxTokens: 1 })
  await model.dispose()
})

it('makes large pictures smaller while they are decoded, and refuses files that are too large', async () => {
  const { model, plan } = await loadWithin((await programBytes()) + 74 * MB)
  expect(plan.parts.at(-1)!.use).toBe('reading-pictures')
  const folder = folders.create({})
  const flat = sharp({ create: { width: 4000, height: 3000, channels: 3, background: '#0a0' } })
  const path = join(folder, 'large.jpg')
  await flat.clone().withMetadata({ orientation: 6 }).jpeg().toFile(path)
  const chat = model.chat()
  const { images } = await ask(chat, { text: 'What colour is it?', images: [path] }, { maxTokens: 2 })
  expect(images).toMatchObject([{ width: 3000, height: 4000, orientation: 6, tokens: 64 }])
  const noise = new Uint8Array(4000 * 3000 * 3).map((_, index) => (index * 2654435761) >>> 24)
  const heavy = await sharp(noise, { raw: { width: 4000, height: 3000, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toFile(join(folder, 'heavy.png'))
  expect(heavy.size).toBeGreaterThan(30 * MB)
  expect(await refusal(ask(chat, { text: 'And this?', images: [join(folder, 'heavy.png')] }))).toMatchObject({
    code: 'image/too-large',
  })
  await model.dispose()
})

it('changes no answer where it is generous', async () => {
  const { model } = await loadWithin(3e9)
  const free = await loadModel(TINY)
  const message = { text: 'What is it?', images: [goldenPath('tiny-cases/pictures/000.png')] }
  const [one, other] = [await ask(model.chat(), message), await ask(free.chat(), message)]
  expect([one.tokenIds, one.usage, one.images]).toEqual([other.tokenIds, other.usage, other.images])
  await Promise.all([model.dispose(), free.dispose()])
})

it.each([0, -1, 1.5, Number.NaN, '400MB'])('must be a number of bytes: %s is none', async (memoryLimit) => {
  expect((await refusal(loadModel(TINY, { memoryLimit: memoryLimit as number }))).code).toBe('option/invalid')
})

it('chooses tiles, then pooling, for models that tile', async () => {
  const large = await loadWithin(3e9, {}, goldenPath('smolvlm'))
  expect(large.plan.imageTokens).toBe(17 * 4)
  await large.model.dispose()
})
