import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadModel, type Model } from '../../src/entry/index.node.ts'
import { ask } from '../support/ask.ts'
import { goldenPath } from '../support/golden-model.ts'

const PICTURE = goldenPath('tiny-cases/pictures/000.png')
const OPTIONS = { maxTokens: 12 }

let tiny: Model
beforeAll(async () => {
  tiny = await loadModel(goldenPath('../../models/tiny'))
})
afterAll(() => tiny.dispose())

describe('an answer that was interrupted', () => {
  it('counts as far as it was heard: the next one is that of a conversation in which no more was said', async () => {
    const chat = tiny.chat()
    const question = { text: 'What is in the picture?', images: [PICTURE] }
    const { text } = await ask(chat, question, OPTIONS)
    const heard = text.split(' ').slice(0, 2).join(' ')
    chat.cutAnswer(heard)
    expect(chat.turns.map((turn) => turn.text)).toEqual([question.text, heard])
    const next = await ask(chat, { text: 'What colour is it?' }, OPTIONS)
    const fresh = tiny.chat({
      messages: [
        { role: 'user', ...question },
        { role: 'assistant', text: heard },
      ],
    })
    const expected = await ask(fresh, { text: 'What colour is it?' }, OPTIONS)
    expect(next.tokenIds).toEqual(expected.tokenIds)
    // The picture and its question were not computed again.
    expect(next.usage.cachedTokens).toBeGreaterThan(64)
  })

  it('is taken back with its question where nothing was heard', async () => {
    const chat = tiny.chat()
    const before = tiny.info.allocatedBytes
    await ask(chat, { text: 'What is in the picture?', images: [PICTURE] }, OPTIONS)
    chat.cutAnswer('')
    expect(chat.turns).toEqual([])
    expect(() => chat.cutAnswer('x')).toThrow(expect.objectContaining({ code: 'option/no-answer' }))
    chat.dispose()
    expect(tiny.info.allocatedBytes).toBeLessThanOrEqual(before)
    expect(() => chat.cutAnswer('x')).toThrow(expect.objectContaining({ code: 'generation/disposed' }))
  })

  it('cannot be cut while it is being made', async () => {
    const chat = tiny.chat()
    const events = chat.send({ text: 'What is in the picture?', images: [PICTURE] }, OPTIONS)
    await events.next()
    expect(() => chat.cutAnswer('x')).toThrow(expect.objectContaining({ code: 'generation/busy' }))
    await events.return?.(undefined)
  })
})
