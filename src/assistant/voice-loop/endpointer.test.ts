import { describe, expect, test } from 'vitest'
import { ENDPOINT_DEFAULTS, Endpointer, type EndpointSettings } from './endpointer.ts'
import { isOpenEnded } from './open-ending.ts'

/** Plays speech from and to given times in steps of 20 ms, and collects decisions with their times. */
function play(
  speech: readonly (readonly [from: number, to: number])[],
  {
    text,
    isAfterQuestion = false,
    until = 10_000,
    settings = {},
  }: {
    text?: string
    isAfterQuestion?: boolean
    until?: number
    settings?: Partial<EndpointSettings>
  } = {},
): string[] {
  const endpointer = new Endpointer({ ...ENDPOINT_DEFAULTS, ...settings }, isAfterQuestion)
  const decisions: string[] = []
  const note = (now: number, decision: string | undefined): boolean => {
    if (decision) decisions.push(`${decision} ${now}`)
    if (decision === 'pause-began' && text !== undefined) endpointer.textRecognized(text)
    return decision?.startsWith('utterance') ?? false
  }
  for (let now = 0; now <= until; now += 20) {
    for (const [from, to] of speech) {
      if (now === from) note(now, endpointer.speechStarted(from))
      if (now === to) endpointer.speechEnded(to)
    }
    if (note(now, endpointer.advance(now))) break
  }
  return decisions
}

describe('the end of an utterance', () => {
  test('comes 600 ms after it, when what was said is complete', () => {
    expect(play([[1000, 2000]], { text: 'What is on the table?' })).toEqual([
      'pause-began 2200',
      'utterance-ended 2600',
    ])
  })

  test('comes after 1200 ms when the words want to be followed', () => {
    expect(play([[1000, 2000]], { text: 'What is on the table and' }).at(-1)).toBe('utterance-ended 3200')
    expect(play([[1000, 2000]], { text: '桌子上有什么，' }).at(-1)).toBe('utterance-ended 3200')
  })

  test('waits for slow recognition as long as for open words', () => {
    expect(play([[1000, 2000]]).at(-1)).toBe('utterance-ended 3200')
  })

  test('comes later after a question of ours', () => {
    expect(play([[1000, 2000]], { text: 'Yes.', isAfterQuestion: true }).at(-1)).toBe('utterance-ended 3200')
    expect(
      play([[1000, 2000]], { text: 'Yes.', isAfterQuestion: true, settings: { afterQuestionMs: 4000 } }).at(
        -1,
      ),
    ).toBe('utterance-ended 6000')
  })

  test('is what the person set', () => {
    const settings = { silenceMs: 2000, openEndedMs: 1200 }
    expect(play([[1000, 2000]], { text: 'Go.', settings }).at(-1)).toBe('utterance-ended 4000')
    expect(play([[1000, 2000]], { text: 'Go and', settings }).at(-1)).toBe('utterance-ended 4000')
  })

  test('does not come while somebody speaks; after 28 s they are heard in parts', () => {
    expect(play([[1000, 60_000]], { until: 60_000 })[0]).toBe('utterance-full 29000')
  })
})

test('what was recognised in a pause is thrown away when speech goes on', () => {
  expect(
    play(
      [
        [1000, 2000],
        [2400, 3000],
      ],
      { text: 'Go.' },
    ),
  ).toEqual(['pause-began 2200', 'speech-resumed 2400', 'pause-began 3200', 'utterance-ended 3600'])
})

test('short pauses are no pauses', () => {
  expect(
    play(
      [
        [1000, 1400],
        [1500, 2000],
      ],
      { text: 'Go.' },
    ),
  ).toEqual(['pause-began 2200', 'utterance-ended 2600'])
})

test('a click is no utterance', () => {
  expect(play([[1000, 1100]])).toEqual(['utterance-dropped 1300'])
})

test('silence decides nothing', () => {
  expect(play([])).toEqual([])
})

describe('open endings', () => {
  test.each([
    'I would like to know if',
    'What is that on the',
    'It is red, blue,',
    'Well um',
    'I want to...',
    'The dog and…',
    'Tell me about my',
    '我想',
    '桌子上有苹果和',
    '因为',
    '然后呃',
    '请看，',
  ])('%s', (text) => {
    expect(isOpenEnded(text)).toBe(true)
  })

  test.each([
    'What is that?',
    'What is it for?',
    'Describe this picture.',
    'Yes.',
    'Stop',
    'Look at that.',
    'Where am I?',
    '桌子上有什么？',
    '描述一下这张图片。',
    '好的',
    '',
  ])('not %j', (text) => {
    expect(isOpenEnded(text)).toBe(false)
  })
})
