/** Going back in a conversation: other answers, other questions, and what is not computed again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chat, type ChatEvent, loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask, finish } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

const PICTURE = goldenPath('tiny-cases/pictures/000.png')
const QUESTION = '图里有什么？'
const ANSWER = '我看到上方有一个停车标志。'

let tiny: Model
beforeAll(async () => {
  tiny = await loadModel(goldenPath('../../models/tiny'))
})
afterAll(() => tiny.dispose())

/** A conversation of two questions about one picture. */
async function converse(): Promise<Chat> {
  const chat = tiny.chat({ system: 'Be brief.' })
  await ask(chat, { text: QUESTION, images: [PICTURE] })
  await ask(chat, '停车标志在哪里？')
  return chat
}

describe('turns', () => {
  it('are what the model sees', async () => {
    const chat = await converse()
    expect(chat.turns).toEqual([
      { role: 'system', text: 'Be brief.', imageCount: 0 },
      { role: 'user', text: QUESTION, imageCount: 1 },
      { role: 'assistant', text: ANSWER, imageCount: 0 },
      { role: 'user', text: '停车标志在哪里？', imageCount: 0 },
      { role: 'assistant', text: '停车标志在上方。', imageCount: 0 },
    ])
    chat.dispose()
    expect(chat.turns).toEqual([])
  })

  it('list those that were held before', () => {
    const messages = [
      { role: 'user', text: 'a', images: [PICTURE] },
      { role: 'assistant', text: 'b' },
    ] as const
    expect(tiny.chat({ messages }).turns).toEqual([
      { role: 'user', text: 'a', imageCount: 1 },
      { role: 'assistant', text: 'b', imageCount: 0 },
    ])
  })
})

describe('regenerating', () => {
  it('answers the last message again and computes one token of the prompt', async () => {
    const chat = await converse()
    const before = chat.turns
    const { text, usage, images } = await finish(chat.regenerate())
    expect(text).toBe('停车标志在上方。')
    expect(chat.turns).toEqual(before)
    expect(images).toEqual([])
    // The last token of a prompt is computed again, since its logits begin the answer.
    expect(usage.cachedTokens).toBe(usage.promptTokens - 1)
    chat.dispose()
  })

  it('leaves the old answer when the new one does not begin', async () => {
    const chat = await converse()
    const before = chat.turns
    const { finishReason } = await finish(chat.regenerate({ signal: AbortSignal.abort() }))
    expect(finishReason).toBe('aborted')
    expect(chat.turns).toEqual(before)
    expect((await ask(chat, '右下角有什么？')).text).toBe('右下角什么都没有。')
    chat.dispose()
  })

  it('draws another answer with another seed', async () => {
    const chat = await converse()
    const texts = new Set<string>()
    for (let seed = 0; seed < 8; seed++)
      texts.add((await finish(chat.regenerate({ temperature: 3, seed, maxTokens: 8 }))).text)
    expect(texts.size).toBeGreaterThan(1)
    expect(chat.turns).toHaveLength(5)
    chat.dispose()
  })

  it('answers a message of an earlier conversation that had no answer', async () => {
    const chat = tiny.chat({ messages: [{ role: 'user', text: QUESTION, images: [PICTURE] }] })
    expect((await finish(chat.regenerate())).text).toBe(ANSWER)
    chat.dispose()
  })

  it('needs a message', async () => {
    await expect(finish(tiny.chat({ system: 'x' }).regenerate())).rejects.toMatchObject({
      code: 'option/invalid',
      message: 'There is no message to answer again: the conversation has none yet.',
    })
  })
})

describe('editing', () => {
  it('goes on from there as if nothing else had been said, with the picture and its place in the cache', async () => {
    const chat = await converse()
    const events: ChatEvent['type'][] = []
    const edited = await finish(chat.edit(1, { text: 'What objects are there?' }), ({ type }) =>
      events.push(type),
    )
    const fresh = tiny.chat({ system: 'Be brief.' })
    const expected = await ask(fresh, { text: 'What objects are there?', images: [PICTURE] })
    expect(edited.tokenIds).toEqual(expected.tokenIds)
    expect(edited.usage.promptTokens).toBe(expected.usage.promptTokens)
    expect(edited.usage.imageTokens).toBe(64)
    // Everything up to the words of the question: system prompt, picture, and what stands around them.
    expect(edited.usage.cachedTokens).toBeGreaterThan(64 + 'System: Be brief.'.length / 2)
    expect(events).not.toContain('image-encoded')
    expect(chat.turns).toEqual(fresh.turns)
    chat.dispose()
    fresh.dispose()
  })

  it('may exchange or remove the pictures', async () => {
    const other = goldenPath('tiny-cases/pictures/001.png')
    const chat = await converse()
    const exchanged = await finish(chat.edit(1, { text: 'Count the carrots.', images: [other] }))
    const fresh = tiny.chat({ system: 'Be brief.' })
    expect(exchanged.tokenIds).toEqual(
      (await ask(fresh, { text: 'Count the carrots.', images: [other] })).tokenIds,
    )
    const removed = await finish(chat.edit(1, { text: 'Hello!', images: [] }))
    expect(removed.usage.imageTokens).toBe(0)
    expect(chat.turns.map(({ imageCount }) => imageCount)).toEqual([0, 0, 0])
    chat.dispose()
    fresh.dispose()
  })

  it('keeps the old branch when the new picture is broken', async () => {
    const chat = await converse()
    const before = chat.turns
    await expect(finish(chat.edit(1, { text: 'a', images: [new Uint8Array(3)] }))).rejects.toMatchObject({
      code: 'image/unsupported-format',
    })
    expect(chat.turns).toEqual(before)
    expect((await ask(chat, '右下角有什么？')).text).toBe('右下角什么都没有。')
    chat.dispose()
  })

  it('puts kept pictures where it is said', async () => {
    const chat = tiny.chat()
    await ask(chat, { text: QUESTION, images: [PICTURE] })
    const edited = await finish(chat.edit(0, { text: 'A B', imageOffsets: [1] }, { maxTokens: 1 }))
    const fresh = tiny.chat()
    const message = { text: 'A B', images: [PICTURE], imageOffsets: [1] }
    expect(edited.usage.promptTokens).toBe((await ask(fresh, message, { maxTokens: 1 })).usage.promptTokens)
    await expect(finish(chat.edit(0, { text: 'A B', imageOffsets: [1, 2] }))).rejects.toMatchObject({
      message: expect.stringContaining('must name 1 places'),
    })
    chat.dispose()
    fresh.dispose()
  })

  it.each([
    [
      2,
      'Only a message of the user can be edited; expected one of the turns 1, 3, found turn 2 of the assistant.',
    ],
    [9, 'Only a message of the user can be edited; expected one of the turns 1, 3, found 9.'],
    [-1, 'Only a message of the user can be edited; expected one of the turns 1, 3, found -1.'],
  ])('turn %i is refused', async (index, message) => {
    const chat = await converse()
    await expect(finish(chat.edit(index, { text: 'a' }))).rejects.toMatchObject({
      code: 'option/invalid',
      message,
    })
    chat.dispose()
  })

  it('gives back the memory of pictures that are gone', async () => {
    const chat = tiny.chat()
    await ask(chat, 'Hello!')
    const before = tiny.info.allocatedBytes
    await finish(chat.edit(0, { text: QUESTION, images: [PICTURE] }))
    await finish(chat.edit(0, { text: 'Hello!', images: [] }))
    expect(tiny.info.allocatedBytes).toBe(before)
    chat.dispose()
  })
})
