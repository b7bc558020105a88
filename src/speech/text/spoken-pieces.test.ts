import { expect, test } from 'vitest'
import { SeededRandom } from '../../../test/support/seeded-random.ts'
import { SpokenPieces } from './spoken-pieces.ts'

const ANSWER = `**On the left**, there is a [dog](https://dogs.example) 🐶. It costs $9.99 & weighs ~5 kg!

- one thing
- another (see Fig. 2)

\`\`\`
code
\`\`\`
左边有一只狗，很大。`

const PIECES = [
  'On the left,',
  'there is a dog.',
  'It costs $9.99 and weighs about 5 kg!',
  'one thing',
  'another (see Fig. 2)',
  'Code omitted.',
  '左边有一只狗，很大。',
]

test('an answer becomes pieces that can be said', () => {
  const pieces = new SpokenPieces()
  expect([...pieces.push(ANSWER), ...pieces.finish()]).toEqual(PIECES)
})

test('so it does token by token, whatever the tokens', () => {
  const random = new SeededRandom(3)
  for (let round = 0; round < 200; round++) {
    const pieces = new SpokenPieces()
    const said: string[] = []
    for (let at = 0; at < ANSWER.length; ) {
      const length = 1 + random.below(8)
      said.push(...pieces.push(ANSWER.slice(at, at + length)))
      at += length
    }
    expect([...said, ...pieces.finish()]).toEqual(PIECES)
  }
})

test('a first piece is there before the sentence is', () => {
  const pieces = new SpokenPieces()
  expect(pieces.push('In the middle of the room, ')).toEqual(['In the middle of the room,'])
})

test('a stream that pauses says its whole words', () => {
  const pieces = new SpokenPieces()
  expect(pieces.push('I see a dog wal')).toEqual([])
  expect(pieces.flush()).toEqual(['I see a dog'])
  expect(pieces.push('king home. ')).toEqual([])
  expect(pieces.finish()).toEqual(['walking home.'])
})

test('what cannot be said is no piece', () => {
  const pieces = new SpokenPieces()
  expect([...pieces.push('🎉 \n\n --- \n ... '), ...pieces.finish()]).toEqual([])
})
