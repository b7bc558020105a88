import { describe, expect, it } from 'vitest'
import { chatMessageOf } from './chat-turn.ts'

const A = new Uint8Array(1)

describe('a user turn', () => {
  it.each([
    ['has its pictures first', { text: 'ab', images: [A, A] }, ['<>', '<>', 'ab']],
    [
      'is cut at the places of its pictures',
      { text: 'abc', images: [A, A], imageOffsets: [1, 2] },
      ['a', '<>', 'b', '<>', 'c'],
    ],
    ['may end with pictures', { text: 'ab', images: [A, A], imageOffsets: [2, 2] }, ['ab', '<>', '<>']],
    ['always has a text', { text: '', images: [A] }, ['<>', '']],
    ['needs no picture', { text: '' }, ['']],
  ])('%s', (_, message, expected) => {
    const { role, content } = chatMessageOf({ role: 'user', ...message })
    expect(role).toBe('user')
    expect(content.map((part) => (part.type === 'image' ? '<>' : part.text))).toEqual(expected)
  })
})

it('other turns are their text', () => {
  expect(chatMessageOf({ role: 'assistant', text: 'Yes.' })).toEqual({
    role: 'assistant',
    content: [{ type: 'text', text: 'Yes.' }],
  })
})
