import { describe, expect, it } from 'vitest'
import { createFakeModel } from '../../testing/fake-model.ts'
import { createChatAnswerer } from './chat-answerer.ts'

const never = new AbortController().signal

async function read(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

describe('a conversation that answers', () => {
  it('sends the question with what the camera sees', async () => {
    const model = createFakeModel()
    const answerer = createChatAnswerer(model.chat(), { images: () => [Uint8Array.of(1)] })
    expect(await read(answerer.answer('What is it?', never))).toBe('A fox.')
    expect(model.questions[0]?.message).toEqual({ text: 'What is it?', images: [Uint8Array.of(1)] })
  })

  it('knows after an interruption what was heard, and no more', async () => {
    const chat = createFakeModel().chat()
    const answerer = createChatAnswerer(chat)
    await read(answerer.answer('What is it?', never))
    await answerer.interrupted?.('A')
    expect(chat.turns.map(({ text }) => text)).toEqual(['What is it?', 'A'])
  })

  it('forgets a question that was taken back, and only that one', async () => {
    const model = createFakeModel({ answer: ({ turn }) => (turn === 1 ? { pieces: [] } : {}) })
    const chat = model.chat()
    const answerer = createChatAnswerer(chat)
    await read(answerer.answer('One', never))
    await answerer.interrupted?.('')
    expect(chat.turns).toEqual([])
    // An answer without a word: the fake keeps it, a real conversation does not; either way nothing else goes.
    await read(answerer.answer('Two', never))
    const before = chat.turns.length
    await answerer.interrupted?.('')
    expect(chat.turns.length).toBe(before)
  })
})
