import { expect, test } from 'vitest'
import type { ModelAbility } from '../modes/model-ability.ts'
import type { Mode } from '../modes/modes.ts'
import { tell } from './tell.ts'

const WORDS = {
  appeared: (things: string) => `New: ${things}.`,
  gone: (things: string) => `Gone: ${things}.`,
}

function say(
  now: string,
  before?: string,
  mode: Mode = 'describe',
  ability: ModelAbility = 'trained-questions',
): string | undefined {
  return tell({ now, before, mode, ability }, WORDS)?.text
}

test('the first look is told whole, the same again not at all', () => {
  expect(say('I see a dog.')).toBe('I see a dog.')
  expect(say('I see a dog', 'I see a dog.')).toBeUndefined()
  expect(say('  ')).toBeUndefined()
})

test('after that only what came and what went', () => {
  expect(say('I see a dog on the left and a bus.', 'I see a dog on the left.')).toBe('New: a bus.')
  expect(say('I see a dog.', 'I see a dog and a cat.')).toBe('Gone: a cat.')
  expect(say('I see a dog and a bus.', 'I see a dog and a cat.')).toBe('New: a bus. Gone: a cat.')
  expect(say('I see a train.', 'I see a dog and a cat.')).toBe('I see a train.')
})

test('what is ahead has hazards first, and they interrupt', () => {
  expect(
    tell(
      {
        now: 'I see a cat on the left and a bus in the center.',
        before: undefined,
        mode: 'ahead',
        ability: 'trained-questions',
      },
      WORDS,
    ),
  ).toEqual({
    text: 'A bus at 12 o’clock and a cat at 11 o’clock.',
    language: 'en',
    isUrgent: true,
  })
  expect(say('我看到左边有一只猫，右边有一辆车。', undefined, 'ahead')).toBe(
    '1 点钟方向有一辆车和11 点钟方向有一只猫。',
  )
  expect(say('I see a cat on the left and a dog.', 'I see a cat on the left.', 'ahead')).toBe('New: a dog.')
})

test('text is told when it reads otherwise', () => {
  expect(say('EXIT', undefined, 'read')).toBe('EXIT')
  expect(say('exit.', 'EXIT', 'read')).toBeUndefined()
  expect(say('EXIT ONLY', 'EXIT', 'read')).toBe('EXIT ONLY')
})

test('a model that compares by itself is believed', () => {
  expect(say('No change.', 'A dog sits there.', 'changed', 'instructions')).toBeUndefined()
  expect(say('没有变化。', '一只狗。', 'changed', 'instructions')).toBeUndefined()
  expect(say('A cat came in.', 'A dog sits there.', 'changed', 'instructions')).toBe('A cat came in.')
})
