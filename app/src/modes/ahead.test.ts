import { expect, test } from 'vitest'
import { arrangeAhead, isHazard } from './ahead.ts'

test('hazards come first, with directions of a clock', () => {
  expect(
    arrangeAhead([
      'a cat on the left',
      'a bus in the center',
      'two chairs at the top right',
      'a dog at the bottom left',
    ]),
  ).toEqual(['a bus at 12 o’clock', 'a dog at 11 o’clock', 'a cat at 11 o’clock', 'two chairs at 1 o’clock'])
  expect(arrangeAhead(['左边有一只猫', '右下角有一辆自行车', '一把椅子'])).toEqual([
    '1 点钟方向有一辆自行车',
    '11 点钟方向有一只猫',
    '一把椅子',
  ])
})

test('places are not found inside other words', () => {
  expect(arrangeAhead(['a man with a bag in his left hand', 'the leftovers'])).toEqual([
    'a man with a bag in his left hand',
    'the leftovers',
  ])
})

test.each([
  ['a step down', true],
  ['a knife', true],
  ['a red bus', true],
  ['a business card', false],
  ['a carpet', false],
  ['三级台阶', true],
  ['一朵玫瑰', false],
])('%j is a hazard: %j', (phrase, expected) => {
  expect(isHazard(phrase)).toBe(expected)
})
