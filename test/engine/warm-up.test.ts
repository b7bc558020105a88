/** Warming up changes when things are computed, and nothing else. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AnswerFinished, type ChatOptions, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

const PICTURE = goldenPath('tiny-cases/pictures/000.png')
const QUESTION = { text: '图里有什么？', images: [PICTURE] }
const ANSWER = '我看到上方有一个停车标志。'
const SYSTEM = 'You answer questions about pictures in short and simple sentences.'

let model: Model
beforeEach(async () => {
  model = await loadModel(goldenPath('../../models/tiny'))
})
afterEach(() => model.dispose())

async function askFresh(
  message: Parameters<typeof ask>[1],
  options: ChatOptions = {},
): Promise<AnswerFinished> {
  const chat = model.chat(options)
  const answer = await ask(chat, message)
  chat.dispose()
  return answer
}

describe('after warming up', () => {
  it('conversations begin with what was computed for their system prompt', async () => {
    const cold = await askFresh(QUESTION, { system: SYSTEM })
    await model.warmUp({ system: SYSTEM })
    const warm = await askFresh(QUESTION, { system: SYSTEM })
    expect(warm.tokenIds).toEqual(cold.tokenIds)
    expect(cold.usage.cachedTokens).toBe(0)
    expect(warm.usage.cachedTokens).toBeGreaterThan(15)
    // Everything before the picture; its marker belongs to the question.
    expect(warm.usage.cachedTokens).toBeLessThan(warm.usage.promptTokens - warm.usage.imageTokens)
    const other = await askFresh('Hello!', { system: 'Be kind.' })
    expect(other.usage.cachedTokens).toBe(0)
  })

  it('the first question about a picture finds it encoded and read', async () => {
    const progress: string[] = []
    await model.warmUp({ images: [PICTURE], onProgress: ({ type }) => progress.push(type) })
    expect(progress).toEqual(['image-progressed', 'image-encoded', 'prompt-progressed'])
    const { text, images, usage } = await askFresh(QUESTION)
    expect(text).toBe(ANSWER)
    expect(images[0]?.cached).toBe(true)
    expect(usage.cachedTokens).toBeGreaterThan(64)
    expect(usage.cachedTokens).toBeGreaterThan(usage.promptTokens - 16)
  })

  it('without a template nothing is kept', async () => {
    await model.warmUp({ template: false })
    const before = model.info.allocatedBytes
    await askFresh('Once upon a time', { template: false })
    expect(model.info.allocatedBytes).toBe(before)
  })

  it('four beginnings are kept at most', async () => {
    const sizes: number[] = []
    for (let number = 0; number < 8; number++) {
      await model.warmUp({ system: `Number ${number}. ${SYSTEM}` })
      sizes.push(model.info.allocatedBytes)
    }
    expect(sizes[3]).toBeGreaterThan(sizes[0]!)
    expect(new Set(sizes.slice(3)).size).toBe(1)
    const usages = []
    for (const number of [7, 4, 3]) {
      const { usage } = await askFresh('Hello!', { system: `Number ${number}. ${SYSTEM}` })
      usages.push(usage.cachedTokens > 20)
    }
    expect(usages).toEqual([true, true, false])
  })
})

describe('the same beginning again', () => {
  it('takes no memory again', async () => {
    const options = { system: SYSTEM, images: [PICTURE] }
    await model.warmUp(options)
    const before = model.info.allocatedBytes
    await model.warmUp(options)
    expect(model.info.allocatedBytes).toBe(before)
    const { usage } = await askFresh(QUESTION, { system: SYSTEM })
    expect(usage.cachedTokens).toBeGreaterThan(80)
  })
})

describe('while it warms up', () => {
  it('questions are answered', async () => {
    const warming = model.warmUp({ images: [PICTURE] })
    expect((await askFresh(QUESTION)).text).toBe(ANSWER)
    await warming
    expect((await askFresh(QUESTION)).text).toBe(ANSWER)
  })

  it('it can be aborted at any moment, and leaves nothing', async () => {
    await model.warmUp()
    const before = model.info.allocatedBytes
    for (let delayMs = 0; delayMs < 40; delayMs += 5) {
      const fresh = await loadModel(goldenPath('../../models/tiny'), { imageCacheBytes: 0 })
      const empty = fresh.info.allocatedBytes
      const controller = new AbortController()
      const warming = fresh.warmUp({ system: SYSTEM, images: [PICTURE], signal: controller.signal })
      setTimeout(() => controller.abort(), delayMs)
      const outcome = await warming.then(
        () => 'done',
        (error: Error) => error.name,
      )
      if (outcome === 'AbortError') {
        const held = fresh.info.allocatedBytes - empty
        // A beginning that was completed stays; nothing else is left, but for tables that grow with the first pass.
        expect(held).toBeLessThan(4_000_000)
        await fresh.warmUp({ system: SYSTEM, images: [PICTURE] })
      }
      const chat = fresh.chat({ system: SYSTEM })
      expect((await ask(chat, QUESTION)).usage.cachedTokens).toBeGreaterThan(64)
      await fresh.dispose()
    }
    expect(model.info.allocatedBytes).toBe(before)
  })

  it('the model may be closed', async () => {
    const warming = model.warmUp({ images: [PICTURE] })
    await model.dispose()
    await expect(warming).rejects.toMatchObject({ code: 'backend/disposed' })
    await expect(model.warmUp()).rejects.toMatchObject({ code: 'backend/disposed' })
  })
})

describe('is refused', () => {
  it.each([
    [{ sytem: 'x' }, { code: 'option/unknown', message: 'There is no option "sytem" for warming up.' }],
    [{ images: PICTURE }, { code: 'option/invalid' }],
    [{ images: [new Uint8Array(3)] }, { code: 'image/unsupported-format' }],
    [{ system: 'cat '.repeat(3000) }, { code: 'generation/context-full' }],
    [{ signal: AbortSignal.abort() }, { name: 'AbortError' }],
  ])('%j', async (options, error) => {
    await expect(model.warmUp(options as object)).rejects.toMatchObject(error)
  })

  it('a picture for a text model', async () => {
    const textOnly = await loadModel(goldenPath('llama3'))
    await expect(textOnly.warmUp({ images: [PICTURE] })).rejects.toMatchObject({ code: 'model/no-images' })
    await textOnly.warmUp()
    await textOnly.dispose()
  })
})
