import { describe, expect, it } from 'vitest'
import type { Announcer } from './announcer.ts'
import { createAnnouncer } from './create-announcer.ts'
import { FakeClock } from './fake-clock.case.ts'

const WORDS = {
  answering: 'Answering.',
  done: 'Done.',
  stopped: 'Stopped.',
  failed: 'The answer failed.',
  empty: 'The answer is empty.',
}

function listen({ style = 'sentences' as 'sentences' | 'ends' } = {}) {
  const clock = new FakeClock()
  /** What the regions held and from when on; `!` marks the assertive one. */
  const heard: string[] = []
  const announcer = createAnnouncer({
    clock,
    write: ({ text, priority, language }) =>
      heard.push(
        `${clock.now()}${priority === 'assertive' ? '!' : ''} ${text}${language ? ` [${language}]` : ''}`,
      ),
    clear: () => heard.push(`${clock.now()} (empty)`),
    words: () => WORDS,
    style: () => style,
  })
  return { clock, heard, announcer }
}

/** Word by word, `stepMs` apart. */
function stream(
  announcer: Announcer,
  clock: FakeClock,
  words: readonly string[],
  language: string,
  stepMs = 100,
) {
  const answer = announcer.beginAnswer(language)
  for (const word of words) {
    clock.turn(stepMs)
    answer.push(word)
  }
  return answer
}

const ENGLISH = [
  'There',
  ' is',
  ' a',
  ' dog',
  ' on',
  ' the',
  ' left',
  '.',
  ' It',
  ' is',
  ' brown',
  '.',
  ' It sleeps.',
]
const CHINESE = ['左边', '有', '一只', '狗', '。', '它是', '棕色', '的', '。', '它在睡觉。']

describe('an answer that streams', () => {
  it('is told by its first sentence and its rest, in English', () => {
    const { clock, heard, announcer } = listen()
    stream(announcer, clock, ENGLISH, 'en').finish('finished')
    clock.turn(10_000)
    expect(heard).toEqual([
      '0 Answering.',
      '900 There is a dog on the left. [en]',
      '1300 It is brown. It sleeps. [en]',
      '1700 Done.',
      '6700 (empty)',
    ])
  })

  it('is told by its first sentence and its rest, in Chinese', () => {
    const { clock, heard, announcer } = listen()
    stream(announcer, clock, CHINESE, 'zh').finish('finished')
    clock.turn(10_000)
    expect(heard).toEqual([
      '0 Answering.',
      '600 左边有一只狗。 [zh]',
      '1000 它是棕色的。它在睡觉。 [zh]',
      '1400 Done.',
      '6400 (empty)',
    ])
  })

  it('is told in one piece where it is faster than its telling', () => {
    const { clock, heard, announcer } = listen()
    stream(announcer, clock, ENGLISH, 'en', 10).finish('finished')
    clock.turn(2_000)
    expect(heard).toEqual([
      '0 Answering.',
      '400 There is a dog on the left. It is brown. It sleeps. [en]',
      '800 Done.',
    ])
  })

  it('is not told on after it was stopped', () => {
    const { clock, heard, announcer } = listen()
    stream(announcer, clock, CHINESE.slice(0, 7), 'zh').finish('stopped')
    clock.turn(2_000)
    expect(heard).toEqual(['0 Answering.', '600 左边有一只狗。 [zh]', '1000 Stopped.'])
  })

  it('takes back what waits when it is stopped', () => {
    const { clock, heard, announcer } = listen()
    stream(announcer, clock, ENGLISH, 'en', 10).finish('stopped')
    clock.turn(2_000)
    expect(heard).toEqual(['0 Answering.', '400 Stopped.'])
  })

  it('interrupts to say that it failed', () => {
    const { clock, heard, announcer } = listen()
    stream(announcer, clock, ENGLISH.slice(0, 10), 'en').finish('failed')
    clock.turn(2_000)
    expect(heard).toEqual([
      '0 Answering.',
      '900 There is a dog on the left. [en]',
      '1300! The answer failed.',
    ])
  })

  it('gives way to the next answer', () => {
    const { clock, heard, announcer } = listen()
    stream(announcer, clock, ENGLISH, 'en', 10).finish('finished')
    stream(announcer, clock, CHINESE, 'zh').finish('finished')
    clock.turn(3_000)
    expect(heard).toEqual([
      '0 Answering.',
      '400 Answering.',
      '800 左边有一只狗。 [zh]',
      '1200 它是棕色的。它在睡觉。 [zh]',
      '1600 Done.',
    ])
  })

  it('says that nothing came', () => {
    const { clock, heard, announcer } = listen()
    stream(announcer, clock, [], 'en').finish('finished')
    clock.turn(2_000)
    expect(heard).toEqual(['0 Answering.', '400 The answer is empty.'])
  })

  it('is told without its markup', () => {
    const { clock, heard, announcer } = listen()
    const words = ['**Bread**', ' and `milk`', '.', ' See [the shop](https://example.org)', '.']
    stream(announcer, clock, words, 'en', 300).finish('finished')
    clock.turn(2_000)
    expect(heard).toEqual([
      '0 Answering.',
      '1200 Bread and milk. [en]',
      '1600 See the shop. [en]',
      '2000 Done.',
    ])
  })

  it('only begins and ends where that was chosen', () => {
    const { clock, heard, announcer } = listen({ style: 'ends' })
    stream(announcer, clock, ENGLISH, 'en').finish('finished')
    clock.turn(2_000)
    expect(heard).toEqual(['0 Answering.', '1300 Done.'])
  })

  it('hears nothing that comes after its end', () => {
    const { clock, heard, announcer } = listen()
    const answer = stream(announcer, clock, ['Yes.'], 'en')
    answer.finish('stopped')
    answer.push(' And more.')
    answer.finish('finished')
    clock.turn(2_000)
    expect(heard).toEqual(['0 Answering.', '400 Stopped.'])
  })
})

describe('short messages', () => {
  it('are apart, and errors come first', () => {
    const { clock, heard, announcer } = listen()
    announcer.say('Picture added.')
    announcer.say('Copied.')
    announcer.say('The camera went away.', 'assertive')
    clock.turn(2_000)
    expect(heard).toEqual(['0 Picture added.', '400! The camera went away.', '800 Copied.'])
  })

  it('are forgotten when newer ones wait', () => {
    const { clock, heard, announcer } = listen()
    for (const count of [1, 2, 3, 4, 5]) announcer.say(`Picture ${count} added.`)
    clock.turn(2_000)
    expect(heard).toEqual(['0 Picture 1 added.', '400 Picture 4 added.', '800 Picture 5 added.'])
  })

  it('come in the middle of an answer and survive a new one', () => {
    const { clock, heard, announcer } = listen()
    const answer = announcer.beginAnswer('en')
    announcer.say('Picture added.')
    answer.finish('stopped')
    announcer.beginAnswer('en').finish('finished')
    clock.turn(3_000)
    expect(heard).toEqual([
      '0 Answering.',
      '400 Picture added.',
      '800 Answering.',
      '1200 The answer is empty.',
    ])
  })
})
