import { expect, test } from 'vitest'
import { createAbortError } from '../../shared/abort.ts'
import type { Speaker } from '../../speech/types.ts'
import { type AnswerSpeakerOptions, createAnswerSpeaker } from './answer-speaker.ts'
import { FakeClock } from './fake-clock.case.ts'

/** Says a text in a second, one after the other. */
function speakerOn(clock: FakeClock, log: string[]): Speaker {
  let before = Promise.resolve()
  return {
    name: 'fake',
    languages: ['en'],
    say(text, { signal, onStarted, rate, language } = {}) {
      const said = before.then(async () => {
        if (signal?.aborted) throw createAbortError()
        log.push([clock.now(), text, rate, language].filter((part) => part !== undefined).join(' '))
        onStarted?.()
        await clock.wait(1000, signal)
        if (signal?.aborted) throw createAbortError()
      })
      before = said.catch(() => {})
      return said
    },
    dispose: async () => {},
  }
}

function begin(options: Partial<AnswerSpeakerOptions> = {}) {
  const clock = new FakeClock()
  const log: string[] = []
  return { clock, log, answer: createAnswerSpeaker({ speaker: speakerOn(clock, log), clock, ...options }) }
}

test('an answer is said sentence by sentence while it comes, symbols as words', async () => {
  const { clock, log, answer } = begin({ rate: 1.5, language: 'en' })
  for (const text of ['**There is', ' a dog.** It', ' sits. And']) answer.push(text)
  await clock.moveTo(100)
  answer.push(' 2 × 3 more')
  const finished = answer.finish()
  await clock.moveTo(5000)
  await finished
  expect(log).toEqual(['0 There is a dog. 1.5 en', '1000 It sits. 1.5 en', '2000 And 2 times 3 more 1.5 en'])
})

test('a stream that pauses for half a second is said as far as its last whole word', async () => {
  const { clock, log, answer } = begin()
  answer.push('I see a tall bu')
  await clock.moveTo(499)
  expect(log).toEqual([])
  await clock.moveTo(600)
  expect(log).toEqual(['500 I see a tall'])
  answer.push('ilding.')
  const finished = answer.finish()
  await clock.moveTo(5000)
  await finished
  expect(log).toEqual(['500 I see a tall', '1500 building.'])
})

test('stop ends what sounds and what waits, and finish resolves', async () => {
  const { clock, log, answer } = begin()
  answer.push('One. Two. Three. ')
  await clock.moveTo(200)
  answer.stop()
  answer.stop()
  answer.push('Four. ')
  await answer.finish()
  await clock.moveTo(9000)
  expect(log).toEqual(['0 One.'])
})

test('failures are told, and do not end the rest', async () => {
  const failures: string[] = []
  const said: string[] = []
  const { clock, answer } = begin({
    speaker: {
      name: 'fake',
      languages: [],
      say: async (text) => {
        if (text === 'One.') throw new Error('no sound')
        said.push(text)
      },
      dispose: async () => {},
    },
    onFailed: (error) => failures.push((error as Error).message),
  })
  answer.push('One. Two. ')
  await answer.finish()
  await clock.moveTo(10)
  expect([failures, said]).toEqual([['no sound'], ['Two.']])
})
