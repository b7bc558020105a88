import { expect, test } from 'vitest'
import { changesBetween, listOf, phrasesOf } from './told-changes.ts'

test.each([
  [
    'I see a dog on the left and two cats at the top right.',
    ['a dog on the left', 'two cats at the top right'],
  ],
  ['There is a red bus, a tree; and a man.', ['a red bus', 'a tree', 'a man']],
  ['我看到左上角有一个红色圆形，左下角有一只狗。', ['左上角有一个红色圆形', '左下角有一只狗']],
  ['', []],
])('phrases of %j', (text, phrases) => {
  expect(phrasesOf(text)).toEqual(phrases)
})

test('the same in other order, or with another beginning, is no change', () => {
  expect(
    changesBetween(
      'I see a dog on the left and a cat at the top.',
      'There is a cat at the top, and a dog on the left.',
    ),
  ).toEqual({ isNew: [], isGone: [], isAllNew: false })
})

test('what came and what went', () => {
  expect(
    changesBetween('I see a dog on the left and a cat.', 'I see a dog on the left and a bus in the center.'),
  ).toEqual({
    isNew: ['a bus in the center'],
    isGone: ['a cat'],
    isAllNew: false,
  })
  expect(changesBetween('I see a dog and a cat.', 'I see a dog.')).toMatchObject({
    isNew: [],
    isGone: ['a cat'],
  })
  // Somewhere else is a change.
  expect(changesBetween('I see a dog on the left.', 'I see a dog on the right.')).toMatchObject({
    isNew: ['a dog on the right'],
  })
  expect(changesBetween('我看到左边有一只狗。', '我看到左边有一只狗，上方有一把钥匙。')).toEqual({
    isNew: ['上方有一把钥匙'],
    isGone: [],
    isAllNew: false,
  })
})

test('another scene is told whole', () => {
  expect(changesBetween('I see a purple circle.', 'I see a train at the top right.').isAllNew).toBe(true)
  expect(changesBetween('', 'I see a train.')).toEqual({ isNew: ['a train'], isGone: [], isAllNew: true })
  expect(changesBetween('I see a train.', '').isAllNew).toBe(false)
})

test('phrases become a list of the language', () => {
  expect(listOf(['a dog', 'a bus'], 'en')).toBe('a dog and a bus')
  expect(listOf(['一只狗', '一辆车', '一把钥匙'], 'zh')).toBe('一只狗、一辆车和一把钥匙')
})
