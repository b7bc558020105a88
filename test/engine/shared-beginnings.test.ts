/** Conversations that begin alike: what one has computed is copied to the others. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chat, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask, finish } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

const PICTURE = goldenPath('tiny-cases/pictures/000.png')
const SYSTEM = 'You answer questions about pictures in short and simple sentences, never more than one.'
const QUESTION = { text: '图里有什么？', images: [PICTURE] }
const ANSWER = '我看到上方有一个停车标志。'

let model: Model
beforeAll(async () => {
  model = await loadModel(goldenPath('../../models/tiny'))
})
afterAll(() => model.dispose())

const opened: Chat[] = []
function open(options: Parameters<Model['chat']>[0] = {}): Chat {
  const chat = model.chat(options)
  opened.push(chat)
  return chat
}
function closeAll(): void {
  for (const chat of opened.splice(0)) chat.dispose()
}

describe('a second conversation', () => {
  it('about the same picture computes its question only', async () => {
    const first = await ask(open({ system: SYSTEM }), QUESTION)
    const second = await ask(open({ system: SYSTEM }), { ...QUESTION, text: 'What objects are there?' })
    closeAll()
    const alone = await ask(open({ system: SYSTEM }), { ...QUESTION, text: 'What objects are there?' })
    closeAll()
    expect(first.usage.cachedTokens).toBe(0)
    expect(second.usage.cachedTokens).toBeGreaterThan(80)
    expect(second.tokenIds).toEqual(alone.tokenIds)
    expect(alone.usage.cachedTokens).toBe(0)
  })

  it('with the same words computes one token', async () => {
    const first = await ask(open(), QUESTION)
    const second = await ask(open(), QUESTION)
    closeAll()
    expect(second.usage.cachedTokens).toBe(second.usage.promptTokens - 1)
    expect(second.tokenIds).toEqual(first.tokenIds)
  })

  it('with another picture shares what comes before it', async () => {
    await ask(open({ system: SYSTEM }), QUESTION)
    const other = { ...QUESTION, images: [goldenPath('tiny-cases/pictures/001.png')] }
    const second = await ask(open({ system: SYSTEM }), other)
    closeAll()
    const alone = await ask(open({ system: SYSTEM }), other)
    closeAll()
    expect(second.usage.cachedTokens).toBeGreaterThan(15)
    expect(second.usage.cachedTokens).toBeLessThan(64)
    expect(second.tokenIds).toEqual(alone.tokenIds)
  })

  it('goes on from the longer of several', async () => {
    const long = open()
    await ask(long, QUESTION)
    await ask(long, '停车标志在哪里？')
    await ask(open(), QUESTION)
    const fork = open({
      messages: [
        { role: 'user', ...QUESTION },
        { role: 'assistant', text: ANSWER },
      ],
    })
    const { usage, text } = await ask(fork, '停车标志在哪里？')
    closeAll()
    expect(text).toBe('停车标志在上方。')
    expect(usage.cachedTokens).toBe(usage.promptTokens - 1)
  })

  it('leaves the first as it was', async () => {
    const first = open()
    await ask(first, QUESTION)
    const second = open()
    await ask(second, QUESTION)
    await finish(second.edit(0, { text: 'Hello there, what is this about?', images: [] }))
    expect((await ask(first, '停车标志在哪里？')).text).toBe('停车标志在上方。')
    expect((await ask(first, '右下角有什么？')).text).toBe('右下角什么都没有。')
    closeAll()
  })
})

describe('closing', () => {
  it('the first while the second copies from it is no harm', async () => {
    await ask(open(), QUESTION)
    const before = model.info.allocatedBytes
    closeAll()
    for (let round = 0; round < 5; round++) {
      const first = open()
      await ask(first, QUESTION)
      const second = ask(open(), QUESTION)
      // At other moments of the second's beginning.
      for (let turn = 0; turn < round; turn++) await Promise.resolve()
      first.dispose()
      expect((await second).text).toBe(ANSWER)
      expect(model.info.allocatedBytes).toBe(before)
      closeAll()
    }
  })
})

describe('several at once', () => {
  it('answer as each alone, and end when they are cancelled', async () => {
    const texts = ['What objects are there?', '图里有什么？', 'Describe the picture.']
    const alone = []
    for (const text of texts) {
      alone.push((await ask(open(), { ...QUESTION, text })).text)
      closeAll()
    }
    const controller = new AbortController()
    const cancelled = ask(
      open(),
      { ...QUESTION, text: 'Hello!' },
      { signal: controller.signal, ignoreEos: true, maxTokens: 1500 },
      ({ type }) => {
        if (type === 'text-delta') controller.abort()
      },
    )
    const together = await Promise.all(texts.map((text) => ask(open(), { ...QUESTION, text })))
    expect(together.map(({ text }) => text)).toEqual(alone)
    expect((await cancelled).finishReason).toBe('aborted')
    closeAll()
  })
})
