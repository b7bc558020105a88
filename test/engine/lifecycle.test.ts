/** Everything that a model takes is given back: memory, workers, file handles; whenever it is closed. */
import { afterEach, describe, expect, it } from 'vitest'
import { loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'
import { openHandles, threadCount } from '../support/process-resources.ts'

const TINY = goldenPath('../../models/tiny')
const PICTURE = goldenPath('tiny-cases/pictures/000.png')

const models: Model[] = []
afterEach(() => Promise.all(models.splice(0).map((model) => model.dispose())))

async function load(path: string, options: Parameters<typeof loadModel>[1] = {}): Promise<Model> {
  const model = await loadModel(path, options)
  models.push(model)
  return model
}

describe('closing a model', () => {
  it('fifty times gives back memory, workers and handles', async () => {
    const answers = new Set<string>()
    const cycle = async (): Promise<void> => {
      const model = await loadModel(goldenPath('smolvlm-one-tile'), { threads: 2 })
      const { text } = await ask(model.chat(), { text: 'What?', images: [PICTURE] }, { maxTokens: 3 })
      answers.add(text)
      await model.dispose()
      expect(model.info.allocatedBytes).toBe(0)
    }
    // The first ones fill the caches of the system, the compiler and the picture library.
    for (let count = 0; count < 10; count++) await cycle()
    const handles = openHandles()
    const threads = threadCount()
    const residentBytes = process.memoryUsage.rss()
    for (let count = 0; count < 40; count++) await cycle()
    const grownMegabytes = (process.memoryUsage.rss() - residentBytes) / 1e6
    expect(openHandles()).toEqual(handles)
    expect(threadCount()).toBeLessThanOrEqual(threads)
    expect(answers.size).toBe(1)
    // One model takes about 15 MB, so a few that stayed behind would show.
    expect(grownMegabytes).toBeLessThan(60)
  })

  it('while it answers ends the answer with an error, and all later calls', async () => {
    const model = await load(TINY)
    const chat = model.chat()
    const other = model.chat()
    const answer = ask(
      chat,
      { text: 'Hello!', images: [PICTURE] },
      { ignoreEos: true, maxTokens: 1500 },
      (event) => {
        if (event.type === 'text-delta') void model.dispose()
      },
    )
    await expect(answer).rejects.toMatchObject({ code: 'backend/disposed' })
    await model.dispose()
    expect(model.info.allocatedBytes).toBe(0)
    expect(() => model.chat()).toThrow(expect.objectContaining({ code: 'backend/disposed' }))
    expect(() => model.trace({ ask: 'a' })).toThrow(expect.objectContaining({ code: 'backend/disposed' }))
    for (const one of [chat, other])
      await expect(ask(one, 'Hello')).rejects.toMatchObject({ code: 'generation/disposed' })
  })

  it('while it reads a picture', async () => {
    const model = await load(goldenPath('smolvlm'))
    const answer = ask(model.chat(), { text: 'a', images: [PICTURE] }, { detail: 'high' }, (event) => {
      if (event.type === 'image-progressed') void model.dispose()
    })
    await expect(answer).rejects.toMatchObject({ code: 'backend/disposed' })
  })

  it('twice at once', async () => {
    const model = await load(goldenPath('qwen2'))
    await Promise.all([model.dispose(), model.dispose()])
    await model.dispose()
  })
})

describe('closing a conversation', () => {
  it('gives back its keys, values and pictures', async () => {
    const model = await load(TINY)
    const use = async (): Promise<void> => {
      const chat = model.chat()
      await ask(chat, { text: 'What objects are there?', images: [PICTURE, PICTURE] }, { maxTokens: 3 })
      await ask(chat, { text: 'And here?', images: [PICTURE] }, { maxTokens: 3 })
      chat.dispose()
      chat.dispose()
    }
    await use()
    const before = model.info.allocatedBytes
    await use()
    expect(model.info.allocatedBytes).toBe(before)
  })

  it('while it answers waits for the answer’s end', async () => {
    const model = await load(TINY)
    await ask(model.chat(), 'Hello!')
    const chat = model.chat()
    const before = model.info.allocatedBytes
    const { finishReason } = await ask(chat, 'Hello!', {}, (event) => {
      if (event.type === 'text-delta') chat.dispose()
    })
    expect(finishReason).toBe('stop')
    expect(model.info.allocatedBytes).toBe(before)
    await expect(ask(chat, 'Hello')).rejects.toMatchObject({ code: 'generation/disposed' })
  })

  it('after a picture was given up', async () => {
    const model = await load(goldenPath('smolvlm'))
    const other = goldenPath('tiny-cases/pictures/001.png')
    await ask(model.chat(), { text: 'a', images: [other] }, { maxTokens: 1, detail: 'high' })
    const before = model.info.allocatedBytes
    const chat = model.chat()
    for await (const event of chat.send({ text: 'a', images: [PICTURE] }, { detail: 'high' }))
      if (event.type === 'image-progressed') break
    expect(model.info.allocatedBytes).toBe(before)
  })
})

describe('giving up while loading', () => {
  it('ends at once with an AbortError and leaves nothing open', async () => {
    const model = await load(TINY) // modules and caches
    await model.dispose()
    const handles = openHandles()
    const threads = threadCount()
    await expect(loadModel(TINY, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
    const controller = new AbortController()
    const loading = loadModel(TINY, {
      signal: controller.signal,
      onProgress: ({ loadedBytes, totalBytes }) => {
        if (loadedBytes > totalBytes / 4) controller.abort()
      },
    })
    await expect(loading).rejects.toMatchObject({ name: 'AbortError' })
    expect(openHandles()).toEqual(handles)
    expect(threadCount()).toBeLessThanOrEqual(threads)
  })

  it('tells how far it has come', async () => {
    const seen: number[] = []
    const model = await load(goldenPath('qwen3'), { onProgress: ({ loadedBytes }) => seen.push(loadedBytes) })
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect(seen.at(-1)).toBeLessThanOrEqual(model.info.fileBytes)
    expect(seen.at(-1)).toBeGreaterThan(model.info.fileBytes * 0.9)
  })
})
