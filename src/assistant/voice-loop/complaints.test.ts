/** What users of voice assistants complain of, as far as the loop answers for it: each class is a test of that name. */
import { describe, expect, test } from 'vitest'
import { createAbortError } from '../../shared/abort.ts'
import { tokens, World } from './fake-world.case.ts'

const QUESTION = { from: 1000, to: 2200, text: 'What is on the table' }
const LONG_ANSWER = 'There is a dog. It is very brown. It looks at you. It wants to play.'

describe('hears itself', () => {
  test('half-duplex is deaf while it speaks and just after', async () => {
    const world = await new World({ person: [QUESTION], echo: 0.08, answers: [LONG_ANSWER] }).run(20_000)
    expect(world.questions).toEqual(['What is on the table'])
    expect(world.sounded).toHaveLength(4)
    expect(world.states).toEqual(['listening', 'thinking', 'speaking', 'listening'])
  })

  test('full duplex knows its own voice', async () => {
    const world = await new World({
      person: [QUESTION],
      echo: 0.08,
      answers: [LONG_ANSWER],
      mode: 'full-duplex',
    }).run(20_000)
    expect(world.questions).toEqual(['What is on the table'])
    expect(world.sounded).toHaveLength(4)
  })

  test('full duplex knows its own words, should its voice be taken for a person', async () => {
    const world = await new World({
      person: [QUESTION],
      echo: 0.08,
      answers: [LONG_ANSWER],
      mode: 'full-duplex',
      // Filters of energy that let everything pass.
      bargeIn: { ratio: 0.1, learningMs: 0 },
    }).run(20_000)
    expect(world.questions).toEqual(['What is on the table'])
    expect(world.sounded).toHaveLength(4)
    expect(world.all('speech-ignored').some(({ reason }) => reason === 'echo')).toBe(true)
  })
})

describe('cut off mid-thought', () => {
  test('a pause after a word that wants to be followed is no end', async () => {
    const person = [
      { from: 1000, to: 2000, text: 'What is on the table and' },
      { from: 2900, to: 3900, text: 'what is under it' },
    ]
    const world = await new World({ person }).run(12_000)
    expect(world.questions).toEqual(['What is on the table and what is under it'])
  })

  test('who goes on while we think takes the question back and asks the whole', async () => {
    const person = [QUESTION, { from: 3000, to: 4000, text: 'next to the window' }]
    const world: World = new World({
      person,
      answer: (_, signal) => tokens('word '.repeat(100), world.clock, signal),
    })
    await world.run(6000)
    expect(world.questions).toEqual(['What is on the table', 'What is on the table next to the window'])
    // The first answer never was.
    expect(world.heardAnswers).toEqual([''])
    expect(world.sounded[0]?.from).toBeGreaterThan(4600)
  })

  test('a noise while we think costs time, not the question', async () => {
    const person = [QUESTION, { from: 2900, to: 3400, text: '' }]
    const world = await new World({ person }).run(12_000)
    expect(world.questions.at(-1)).toBe('What is on the table')
    expect(world.sounded.map(({ text }) => text)).toEqual(['There is a dog.'])
  })
})

test('first word missing: what is recognised begins before the gate knows of speech', async () => {
  for (const mode of ['half-duplex', 'full-duplex'] as const) {
    const world = await new World({ person: [QUESTION], mode }).run(8000)
    expect(world.questions).toEqual(['What is on the table'])
  }
})

describe('ghost text in silence', () => {
  test('silence and clicks are never recognised', async () => {
    const world = await new World({ person: [{ from: 3000, to: 3100, text: 'you' }] }).run(20_000)
    expect(world.questions).toEqual([])
    expect(world.transcribed).toEqual([])
    expect(world.states).toEqual(['listening'])
  })

  test('the recogniser is told how much of it was speech', async () => {
    const world = await new World({ person: [QUESTION] }).run(4000)
    expect(world.transcribed[0]?.speechSeconds).toBeCloseTo(1.2, 1)
  })

  test('sound without words is not answered', async () => {
    const world = await new World({ person: [{ from: 1000, to: 2000, text: '' }] }).run(10_000)
    expect(world.questions).toEqual([])
    expect(world.all('speech-ignored').map(({ reason }) => reason)).toEqual(['no-words'])
    expect(world.earcons).toEqual([])
    expect(world.states).toEqual(['listening'])
  })
})

test('reads symbols: markup, emoji and addresses are not said', async () => {
  const answers = ['**Yes!** 👍 See [this](https://a.example/b) & that.\n- `one`\n']
  const world = await new World({ person: [QUESTION], answers }).run(20_000)
  expect(world.sounded.map(({ text }) => text)).toEqual(['Yes!', 'See this and that.', 'one'])
})

describe('waits for the whole answer', () => {
  test('the first sentence sounds while the answer goes on', async () => {
    const world = await new World({ person: [QUESTION], answers: [LONG_ANSWER] }).run(20_000)
    const lastText = world.all('text-delta').at(-1)?.ms ?? 0
    expect(world.sounded[0]?.from).toBeLessThan(lastText)
  })

  test('the next sentence is made while one sounds, and follows without a gap', async () => {
    const world = await new World({ person: [QUESTION], answers: [LONG_ANSWER] }).run(20_000)
    for (const [index, piece] of world.sounded.slice(1).entries()) {
      expect(piece.from).toBe(world.sounded[index]?.to)
    }
    const [first, second] = world.sounded
    const made = world.prepared.find(({ text }) => text === second?.text)
    expect(made?.ms).toBeLessThan(first?.to ?? 0)
  })

  test('a stream that pauses is said as far as it came', async () => {
    const world: World = new World({
      person: [QUESTION],
      async *answer() {
        yield 'I see a big dog'
        await world.clock.wait(3000)
        yield ' on the left.'
      },
    })
    await world.run(20_000)
    expect(world.sounded.map(({ text }) => text)).toEqual(['I see a big', 'dog on the left.'])
  })
})

describe('stop leaves the queue', () => {
  test('the answer is silent at once, nothing that waits is said, and generation ends', async () => {
    const world = await new World({ person: [QUESTION], answers: [LONG_ANSWER.repeat(20)] }).run(20_000, {
      4500: (loop) => loop.interrupt(),
    })
    expect(world.sounded.at(-1)?.to).toBeLessThanOrEqual(4700)
    const texts = world.all('text-delta')
    expect(texts.at(-1)?.ms).toBeLessThanOrEqual(4700)
    expect(world.stateAt(4800)).toBe('listening')
  })

  test('the conversation goes on from the last sentence that was heard', async () => {
    const world = await new World({ person: [QUESTION], answers: [LONG_ANSWER] }).run(20_000, {
      4800: (loop) => loop.interrupt(),
    })
    expect(world.sounded.map(({ text }) => text)).toEqual(['There is a dog.', 'It is very brown.'])
    expect(world.heardAnswers).toEqual(['There is a dog.'])
    const [finished] = world.all('answer-finished')
    expect(finished).toMatchObject({ text: LONG_ANSWER, spokenText: 'There is a dog.', isInterrupted: true })
  })

  test('who speaks into it interrupts it in full duplex, and is heard from the first word', async () => {
    const person = [QUESTION, { from: 5000, to: 6200, text: 'And what is on the right' }]
    const world = await new World({
      person,
      echo: 0.02,
      answers: [LONG_ANSWER.repeat(5), 'A cat.'],
      mode: 'full-duplex',
    }).run(20_000)
    expect(world.questions).toEqual(['What is on the table', 'And what is on the right'])
    const [interrupted] = world.all('answer-finished')
    expect(interrupted?.isInterrupted).toBe(true)
    // 250 ms to be sure, 150 ms to recognise it.
    const stopped = world.sounded.filter(({ from }) => from < 6000).at(-1)?.to
    expect(stopped).toBeLessThan(5700)
    expect(world.sounded.at(-1)?.text).toBe('A cat.')
  })

  test('"Stop" is obeyed and not answered', async () => {
    const person = [QUESTION, { from: 5000, to: 5500, text: 'Stop' }]
    const world = await new World({ person, answers: [LONG_ANSWER.repeat(5)], mode: 'full-duplex' }).run(
      20_000,
    )
    expect(world.questions).toEqual(['What is on the table'])
    expect(world.stateAt(20_000)).toBe('listening')
  })
})

test('wrong voice or script: the language of the person goes to the recogniser and to the voice', async () => {
  const world = await new World({ person: [QUESTION], language: 'zh-Hans', answers: ['好。'] }).run(10_000)
  expect(world.transcribed[0]?.language).toBe('zh-Hans')
  expect(world.spoken[0]?.language).toBe('zh-Hans')
  const automatic = await new World({ person: [QUESTION], language: 'auto' }).run(10_000)
  expect(automatic.transcribed[0]?.language).toBe('auto')
  expect(automatic.spoken[0]).not.toHaveProperty('language')
})

describe('microphone stays on', () => {
  test('push-to-talk opens it for as long as the button is held', async () => {
    const world = new World({ person: [QUESTION], mode: 'push-to-talk' })
    await world.run(900)
    expect(world.openMicrophones).toBe(0)
    expect(world.states).toEqual(['idle'])
    world.loop.press()
    await world.clock.moveTo(2300)
    expect(world.openMicrophones).toBe(1)
    world.loop.release()
    await world.clock.moveTo(2600)
    expect(world.openMicrophones).toBe(0)
    await world.clock.moveTo(10_000)
    expect(world.questions).toEqual(['What is on the table'])
    expect(world.states).toEqual(['idle', 'listening', 'thinking', 'speaking', 'idle'])
  })

  test('half-duplex closes it while it speaks', async () => {
    const world = new World({ person: [QUESTION], answers: [LONG_ANSWER] })
    await world.run(4500)
    expect(world.stateAt(4500)).toBe('speaking')
    expect(world.openMicrophones).toBe(0)
    await world.clock.moveTo(15_000)
    expect(world.openMicrophones).toBe(1)
  })

  test('it stays open where opening takes long', async () => {
    const world = await new World({
      person: [QUESTION],
      answers: [LONG_ANSWER],
      keepsMicrophoneOpen: true,
    }).run(4500)
    expect(world.stateAt(4500)).toBe('speaking')
    expect(world.openMicrophones).toBe(1)
  })

  test('it is closed when the loop is disposed, and the person is told', async () => {
    const world = new World({ person: [QUESTION] })
    await world.run(1500)
    const disposed = world.loop.dispose()
    await world.clock.moveTo(1600)
    await disposed
    expect(world.openMicrophones).toBe(0)
    expect(world.isOver).toBe(true)
    expect(world.states.at(-1)).toBe('idle')
    await world.loop.dispose()
  })
})

describe('stuck after an error', () => {
  const TWICE = [QUESTION, { from: 60_000, to: 61_000, text: 'And now' }]

  test('recognition that fails twice costs one question', async () => {
    const world = await new World({
      person: TWICE,
      onRecognize: (call) => {
        if (call < 2) throw new Error('broken')
      },
    }).run(70_000)
    expect(world.all('failure-occurred').map(({ stage }) => stage)).toEqual(['recognition'])
    expect(world.questions).toEqual(['And now'])
  })

  test('recognition that fails once costs nothing', async () => {
    const world = await new World({
      person: [QUESTION],
      onRecognize: (call) => {
        if (call === 0) throw new Error('broken')
      },
    }).run(10_000)
    expect(world.questions).toEqual(['What is on the table'])
    expect(world.all('failure-occurred')).toEqual([])
  })

  test('recognition that hangs is given up', async () => {
    const world = await new World({
      person: TWICE,
      timeouts: { recognitionMs: 5000 },
      onRecognize: (call) => (call < 2 ? new Promise(() => {}) : undefined),
    }).run(70_000)
    expect(world.all('failure-occurred').map(({ stage }) => stage)).toEqual(['recognition'])
    expect(world.questions).toEqual(['And now'])
  })

  test('an answer that fails or hangs is given up', async () => {
    for (const fault of ['fails', 'hangs'] as const) {
      const world: World = new World({
        person: TWICE,
        timeouts: { answerMs: 20_000 },
        async *answer(_, signal) {
          if (world.questions.length > 1) yield* tokens('It is well.', world.clock, signal)
          else if (fault === 'fails') throw new Error('broken')
          else await new Promise(() => {})
        },
      })
      await world.run(70_000)
      expect(world.all('failure-occurred').map(({ stage }) => stage)).toEqual(['answer'])
      expect(world.sounded.map(({ text }) => text)).toEqual(['It is well.'])
    }
  })

  test('a voice that fails or hangs is gone on without', async () => {
    for (const fault of ['fails', 'hangs'] as const) {
      const world = await new World({
        person: TWICE,
        answers: ['One thing. Two things.', 'It is well.'],
        onSay: (_, call) => {
          if (call > 0) return undefined
          if (fault === 'fails') throw new Error('no voice')
          return new Promise(() => {})
        },
      }).run(80_000)
      expect(world.all('failure-occurred')[0]?.stage).toBe('speech')
      expect(world.questions).toHaveLength(2)
      expect(world.stateAt(80_000)).toBe('listening')
      if (fault === 'fails')
        expect(world.sounded.map(({ text }) => text)).toEqual(['Two things.', 'It is well.'])
    }
  })

  test('an answer that ignores being stopped does not hold up the next for ever', async () => {
    const world = await new World({
      person: TWICE,
      answer: async function* () {
        await new Promise(() => {})
      },
    }).run(75_000, { 10000: (loop) => loop.interrupt() })
    expect(world.questions).toHaveLength(2)
  })

  test('a microphone that goes away loses nothing and is opened again', async () => {
    const person = [
      { from: 1000, to: 2600, text: 'What is on the table' },
      { from: 20_000, to: 21_000, text: 'And now' },
    ]
    const world = await new World({ person, goneFrom: 2600, goneTo: 3500 }).run(30_000)
    expect(world.questions).toEqual(['What is on the table', 'And now'])
    expect(world.all('failure-occurred')[0]).toMatchObject({ stage: 'microphone' })
    expect(world.failure).toBeUndefined()
  })

  test('a microphone that stays away ends the loop and says what to do', async () => {
    const world = await new World({ person: [QUESTION], goneFrom: 8000 }).run(30_000)
    expect(world.isOver).toBe(true)
    expect(world.failure).toMatchObject({ code: 'audio/microphone-gone' })
    expect(world.openMicrophones).toBe(0)
  })
})

describe('no audible state', () => {
  test('every state is told, and follows what sounds', async () => {
    const world = await new World({ person: [QUESTION] }).run(10_000)
    const [listening, thinking, speaking, again] = world.all('state-changed')
    expect([listening, thinking, speaking, again].map((change) => change?.state)).toEqual([
      'listening',
      'thinking',
      'speaking',
      'listening',
    ])
    // The first samples are there.
    expect(listening?.ms).toBe(32)
    const [piece] = world.sounded
    expect(speaking?.ms).toBe(piece?.from)
    expect(again?.ms).toBeGreaterThan(piece?.to ?? 0)
    expect(again?.ms).toBeLessThan((piece?.to ?? 0) + 400)
  })

  test('a sound tells that the question was heard, before the answer is there', async () => {
    const world = await new World({ person: [QUESTION] }).run(10_000)
    expect(world.earcons.map(({ kind }) => kind)).toEqual(['heard'])
    const decided = world.all('state-changed').find(({ state }) => state === 'thinking')?.ms
    expect(world.earcons[0]?.ms).toBe(decided)
    // 600 ms of silence after 2200 ms.
    expect(decided).toBeLessThan(2900)
  })

  test('another sound tells that something failed', async () => {
    const world = await new World({
      person: [QUESTION],
      answer: () => {
        throw new Error('broken')
      },
    }).run(10_000)
    expect(world.earcons.map(({ kind }) => kind)).toEqual(['heard', 'failed'])
  })

  test('without a voice the answer comes sentence by sentence, for a screen reader', async () => {
    const world = await new World({ person: [QUESTION], isMute: true, answers: [LONG_ANSWER] }).run(10_000)
    expect(world.all('sentence-ready').map(({ text }) => text)).toEqual([
      'There is a dog.',
      'It is very brown.',
      'It looks at you.',
      'It wants to play.',
    ])
    expect(world.states).toEqual(['listening', 'thinking', 'listening'])
  })
})

test('an abort that the answer throws is no failure', async () => {
  const world: World = new World({
    person: [QUESTION],
    async *answer(_, signal) {
      yield 'There is '
      await world.clock.wait(60_000, signal)
      throw createAbortError()
    },
  })
  await world.run(10_000, { 4000: (loop) => loop.interrupt() })
  expect(world.all('failure-occurred')).toEqual([])
  expect(world.stateAt(10_000)).toBe('listening')
})
