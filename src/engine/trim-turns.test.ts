import { describe, expect, it } from 'vitest'
import { planTrimming } from './trim-turns.ts'
import { type EncodedTurn, textOf } from './turn.ts'

/** `s`, `u` or `a` and a text; each `*` is a picture. */
function turn(notation: string): EncodedTurn {
  const role = ({ s: 'system', u: 'user', a: 'assistant' } as const)[notation.charAt(0) as 's']
  const text = notation.slice(1).replaceAll('*', '')
  const count = notation.split('*').length - 1
  const picture = { tokens: 4 } as EncodedTurn['pictures'][number]
  const content = [
    ...Array.from({ length: count }, () => ({ type: 'image' as const })),
    { type: 'text' as const, text },
  ]
  return { message: { role, content }, pictures: Array.from({ length: count }, () => picture) }
}

function show(turns: readonly EncodedTurn[]): string {
  return turns
    .map(({ message, pictures }) => message.role.charAt(0) + '*'.repeat(pictures.length) + textOf(message))
    .join(' ')
}

/** The conversation after each number of steps. */
function stages(conversation: string): string[] {
  const trimming = planTrimming(conversation.split(' ').map(turn))
  return Array.from({ length: trimming.stepCount + 1 }, (_, steps) => show(trimming.apply(steps)))
}

describe('trimming leaves out', () => {
  it.each([
    ['nothing of a single question', 's u*?', []],
    ['whole exchanges, oldest first', 'u1 a1 u2 a2 u?', ['u2 a2 u?', 'u?']],
    ['no system prompt', 's1 s2 u1 a1 u?', ['s1 s2 u?']],
    [
      'old pictures before any text, all of a message at once',
      'u**1 a1 u*2 a2 u3 a3 u*?',
      ['u1 a1 u*2 a2 u3 a3 u*?', 'u1 a1 u2 a2 u3 a3 u*?', 'u2 a2 u3 a3 u*?', 'u3 a3 u*?', 'u*?'],
    ],
    [
      'never the exchange with the newest picture',
      's u*1 a1 u*2 a2 u3 a3 u?',
      ['s u1 a1 u*2 a2 u3 a3 u?', 's u*2 a2 u3 a3 u?', 's u*2 a2 u?'],
    ],
    ['answers that no question came before', 'a0 u1 a1 u?', ['u1 a1 u?', 'u?']],
    ['questions that had no answer', 'u1 u2 a2 u?', ['u2 a2 u?', 'u?']],
    ['system turns in the middle with the exchange around them', 'u1 s1 a1 u?', ['u?']],
  ])('%s', (_, conversation, expected) => {
    expect(stages(conversation)).toEqual([conversation, ...expected])
  })

  it('what it names', () => {
    const trimming = planTrimming('s u*1 a1 u2 a2 u*?'.split(' ').map(turn))
    expect(show(trimming.dropped(1))).toBe('')
    expect(show(trimming.dropped(2))).toBe('u*1 a1')
    expect(show(trimming.dropped(3))).toBe('u*1 a1 u2 a2')
  })
})
