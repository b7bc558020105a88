import { describe, expect, test } from 'vitest'
import type { Chat, ChatEvent, UserMessage } from '../../engine/types.ts'
import { createChatAnswerer } from './chat-answerer.ts'
import { createEarcon } from './earcon.ts'
import { EventQueue } from './event-queue.ts'
import { World } from './fake-world.case.ts'
import { findSpokenPrefix } from './spoken-prefix.ts'
import { isStopWord } from './stop-words.ts'

const QUESTION = { from: 1000, to: 2200, text: 'What is on the table' }

describe('a recording', () => {
  const person = [QUESTION, { from: 4000, to: 5000, text: 'And under it' }]

  test('is answered question by question, waits while we speak, and ends the loop', async () => {
    const world = await new World({ person, recordingMs: 8000, answers: ['A dog.', 'A cat.'] }).run(20_000)
    expect(world.questions).toEqual(['What is on the table', 'And under it'])
    expect(world.sounded.map(({ text }) => text)).toEqual(['A dog.', 'A cat.'])
    expect(world.isOver).toBe(true)
    expect(world.failure).toBeUndefined()
    expect(world.states.at(-1)).toBe('idle')
  })

  test('may end in the middle of a word', async () => {
    const world = await new World({ person, recordingMs: 2100, answers: ['A dog.'] }).run(20_000)
    expect(world.questions).toEqual(['What is on the'])
    expect(world.sounded.map(({ text }) => text)).toEqual(['A dog.'])
    expect(world.isOver).toBe(true)
  })

  test('of silence ends without a question', async () => {
    const world = await new World({ recordingMs: 60_000 }).run(100)
    expect(world.questions).toEqual([])
    expect(world.isOver).toBe(true)
  })
})

describe('push-to-talk', () => {
  test('a second press interrupts the answer', async () => {
    const person = [QUESTION, { from: 5000, to: 6000, text: 'And under it' }]
    const world = await new World({
      person,
      mode: 'push-to-talk',
      answers: ['One. Two. Three. '.repeat(9), 'A cat.'],
    }).run(20_000, {
      900: (loop) => loop.press(),
      2250: (loop) => loop.release(),
      4900: (loop) => loop.press(),
      6050: (loop) => loop.release(),
    })
    expect(world.questions).toEqual(['What is on the table', 'And under it'])
    expect(world.all('answer-finished')[0]?.isInterrupted).toBe(true)
    expect(world.sounded.filter(({ to }) => to > 5100).map(({ text }) => text)).toEqual(['A cat.'])
  })

  test('a touch is no question', async () => {
    const world = await new World({ person: [QUESTION], mode: 'push-to-talk' }).run(5000, {
      900: (loop) => loop.press(),
      901: (loop) => loop.release(),
    })
    expect(world.transcribed).toEqual([])
    expect(world.stateAt(5000)).toBe('idle')
    expect(world.openMicrophones).toBe(0)
  })

  test('a button that is never let go ends after 28 s', async () => {
    const person = [{ from: 1000, to: 60_000, text: 'on and on and on' }]
    const world = await new World({ person, mode: 'push-to-talk' }).run(31_000, {
      900: (loop) => loop.press(),
    })
    expect(world.questions).toEqual(['on and'])
  })
})

test('speech without an end is heard to its end, in parts', async () => {
  const person = [{ from: 1000, to: 41_000, text: 'one two three four five six seven eight' }]
  const world = await new World({ person }).run(60_000)
  expect(world.questions.at(-1)).toMatch(/^one two three four five (?:six )?(?:seven )?eight$/)
})

test('what was typed is answered, too', async () => {
  const world = await new World({ mode: 'push-to-talk' }).run(10_000, {
    500: (loop) => loop.ask('Who is there?'),
  })
  expect(world.questions).toEqual(['Who is there?'])
  expect(world.sounded.map(({ text }) => text)).toEqual(['There is a dog.'])
})

test('words so far are told while somebody speaks', async () => {
  const world = await new World({ person: [QUESTION], partialsEveryMs: 300 }).run(5000)
  const partials = world.all('partial-changed').map(({ text }) => text)
  expect(partials.length).toBeGreaterThan(2)
  for (const text of partials) expect(QUESTION.text.startsWith(text)).toBe(true)
  expect(partials[0]).not.toBe(QUESTION.text)
})

test('times are counted from the end of the question', async () => {
  const world = await new World({ person: [QUESTION] }).run(10_000)
  const decided = world.all('state-changed').find(({ state }) => state === 'thinking')?.ms ?? 0
  const [finished] = world.all('answer-finished')
  expect(finished?.firstTextMs).toBe((world.all('text-delta')[0]?.ms ?? 0) - decided)
  expect(finished?.firstSoundMs).toBe((world.sounded[0]?.from ?? 0) - decided)
})

test('a reader that leaves ends the loop', async () => {
  const world = new World({ person: [QUESTION] })
  const events = world.loop.run()
  await world.clock.moveTo(500)
  await events.return?.()
  await world.clock.moveTo(600)
  expect(world.openMicrophones).toBe(0)
  expect(() => world.loop.run()).toThrow(/was disposed/)
})

describe('how far the listener came', () => {
  const answer = '**Yes**, there is a [dog](https://a.example). It costs $9.99! And then "it" sleeps.'

  test.each([
    [0, ''],
    [1, '**Yes**, there is a [dog](https://a.example).'],
    [2, '**Yes**, there is a [dog](https://a.example). It costs $9.99!'],
    [3, answer],
  ])('%i pieces', (count, prefix) => {
    expect(findSpokenPrefix(answer, count, [], {})).toBe(prefix)
  })

  test('after a pause of the stream', () => {
    expect(findSpokenPrefix('I see a big dog on the left.', 1, ['I see a big dog'.length], {})).toBe(
      'I see a big',
    )
  })
})

test.each(['Stop.', 'stop it!', 'Please stop', '停！', '别说了。'])('%s wants silence', (text) => {
  expect(isStopWord(text)).toBe(true)
})

test.each(['Where is the bus stop?', 'Stop signs are red.', '停车场在哪里？', ''])('%j does not', (text) => {
  expect(isStopWord(text)).toBe(false)
})

test('earcons are short, quiet and begin and end in silence', () => {
  for (const kind of ['heard', 'failed'] as const) {
    const { samples, sampleRate } = createEarcon(kind)
    expect(samples.length / sampleRate).toBeCloseTo(0.12, 3)
    expect(Math.max(...samples)).toBeLessThanOrEqual(0.12)
    expect(Math.max(...samples)).toBeGreaterThan(0.1)
    expect(Math.abs(samples[0] ?? 1) + Math.abs(samples.at(-1) ?? 1)).toBe(0)
  }
})

test('a model answers with what it sees', async () => {
  const sent: UserMessage[] = []
  const events: ChatEvent[] = []
  const chat = {
    async *send(message: UserMessage) {
      sent.push(message)
      yield { type: 'prompt-progressed', tokens: 1, totalTokens: 1 } as const
      yield { type: 'text-delta', text: 'A ' } as const
      yield { type: 'text-delta', text: 'dog.' } as const
    },
  } as unknown as Chat
  const answerer = createChatAnswerer(chat, {
    images: () => ['photo.jpg'],
    onEvent: (event) => events.push(event),
  })
  const texts: string[] = []
  for await (const text of answerer.answer('What is it?', new AbortController().signal)) texts.push(text)
  expect(texts).toEqual(['A ', 'dog.'])
  expect(sent).toEqual([{ text: 'What is it?', images: ['photo.jpg'] }])
  expect(events).toHaveLength(3)
})

test('events that nobody has read yet wait, and so does the end', async () => {
  const queue = new EventQueue<number>(() => {})
  queue.push(1)
  queue.close({ error: new Error('over') })
  queue.push(2)
  expect(await queue.next()).toEqual({ done: false, value: 1 })
  await expect(queue.next()).rejects.toThrow('over')
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})
