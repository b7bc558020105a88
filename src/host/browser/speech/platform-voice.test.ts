import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  createPlatformSpeaker,
  listPlatformVoices,
  type SpeechPlatform,
  unlockPlatformVoice,
} from './platform-voice.ts'

interface FakeVoice {
  readonly name: string
  readonly lang: string
  readonly localService: boolean
}

class FakeUtterance {
  readonly text: string
  voice: FakeVoice | undefined
  lang = ''
  rate = 1
  pitch = 1
  volume = 1
  onstart: (() => void) | null = null
  onend: (() => void) | null = null
  onerror: ((event: { error: string }) => void) | null = null

  constructor(text: string) {
    this.text = text
  }
}

/** Speaks a text in 100 ms, unless the test says otherwise. */
class FakeSynthesis {
  readonly spoken: FakeUtterance[] = []
  readonly log: string[] = []
  voices: FakeVoice[] = []
  behave: (utterance: FakeUtterance) => void = (utterance) => {
    utterance.onstart?.()
    setTimeout(() => utterance.onend?.(), 100)
  }

  getVoices(): FakeVoice[] {
    return this.voices
  }

  speak(utterance: FakeUtterance): void {
    this.spoken.push(utterance)
    this.log.push(`speak ${utterance.text}`)
    this.behave(utterance)
  }

  cancel(): void {
    this.log.push('cancel')
  }

  addEventListener(): void {}
  removeEventListener(): void {}
}

const VOICES: FakeVoice[] = [
  { name: 'Google US English', lang: 'en-US', localService: false },
  { name: 'Albert', lang: 'en-US', localService: true },
  { name: 'Samantha', lang: 'en-US', localService: true },
  { name: 'Tingting', lang: 'zh_CN', localService: true },
]

let synthesis: FakeSynthesis
let platform: SpeechPlatform
beforeEach(() => {
  vi.useFakeTimers()
  synthesis = new FakeSynthesis()
  synthesis.voices = VOICES
  platform = {
    speechSynthesis: synthesis,
    SpeechSynthesisUtterance: FakeUtterance,
  } as unknown as SpeechPlatform
})
afterEach(() => {
  vi.useRealTimers()
})

test('remote voice unnoticed: only voices on the device are used', async () => {
  expect((await listPlatformVoices(platform)).map(({ name }) => name)).toEqual([
    'Albert',
    'Samantha',
    'Tingting',
  ])
  synthesis.voices = VOICES.slice(0, 1)
  const refused = expect(createPlatformSpeaker({ platform })).rejects.toMatchObject({
    code: 'speech/no-voice',
  })
  await vi.advanceTimersByTimeAsync(4000)
  await refused
  synthesis.voices = VOICES
  await expect(createPlatformSpeaker({ platform, voice: 'Google US English' })).rejects.toThrow(
    /There is no voice/,
  )
})

test('wrong voice: a good one of the language of the text', async () => {
  const speaker = await createPlatformSpeaker({ platform })
  const said = Promise.all([speaker.say('Hello.'), speaker.say('你好。')])
  await vi.advanceTimersByTimeAsync(1000)
  await said
  expect(synthesis.spoken.map(({ voice, lang }) => [voice?.name, lang])).toEqual([
    ['Samantha', 'en-US'],
    ['Tingting', 'zh-CN'],
  ])
  await expect(speaker.say('Hallo', { language: 'de' })).rejects.toMatchObject({ code: 'speech/no-voice' })
})

test('voices that come late are waited for', async () => {
  synthesis.voices = []
  const listed = listPlatformVoices(platform)
  await vi.advanceTimersByTimeAsync(1000)
  synthesis.voices = VOICES
  await vi.advanceTimersByTimeAsync(200)
  expect(await listed).toHaveLength(3)
  expect(await listPlatformVoices({})).toEqual([])
})

test('silent on iOS: a gesture speaks an utterance that nobody hears', () => {
  unlockPlatformVoice(platform)
  expect(synthesis.spoken.map(({ volume }) => volume)).toEqual([0])
  unlockPlatformVoice({})
})

test('stuck: a voice that does not begin in 3 s is given up, and the next is said', async () => {
  const { behave } = synthesis
  synthesis.behave = () => {}
  const speaker = await createPlatformSpeaker({ platform })
  const stuck = expect(speaker.say('One.')).rejects.toMatchObject({ code: 'speech/stuck' })
  await vi.advanceTimersByTimeAsync(3001)
  await stuck
  expect(synthesis.log).toEqual(['cancel', 'speak One.', 'cancel'])
  synthesis.behave = behave
  const said = speaker.say('Two.')
  await vi.advanceTimersByTimeAsync(200)
  await said
})

test('stuck: a voice that falls silent without saying so is given up after twice its time', async () => {
  synthesis.behave = (utterance) => utterance.onstart?.()
  const speaker = await createPlatformSpeaker({ platform })
  let isStarted = false
  const stuck = expect(
    speaker.say('a word '.repeat(20), {
      onStarted: () => {
        isStarted = true
      },
    }),
  ).rejects.toThrow(/did not end in time/)
  // 139 characters at 12 a second.
  await vi.advanceTimersByTimeAsync(23_000)
  expect(isStarted).toBe(true)
  await vi.advanceTimersByTimeAsync(1000)
  await stuck
})

test('long texts are said in utterances of less than 14 s', async () => {
  const speaker = await createPlatformSpeaker({ platform })
  const said = speaker.say('这是一个很长很长的句子'.repeat(20))
  await vi.advanceTimersByTimeAsync(5000)
  await said
  expect(Math.max(...synthesis.spoken.map(({ text }) => text.length))).toBeLessThanOrEqual(72)
})

test('stop leaves the queue: what is said is cancelled, what waits never begins', async () => {
  synthesis.behave = (utterance) => utterance.onstart?.()
  const speaker = await createPlatformSpeaker({ platform })
  const controller = new AbortController()
  const said = ['One.', 'Two.'].map((text) => speaker.say(text, { signal: controller.signal }))
  const ends = Promise.allSettled(said)
  await vi.advanceTimersByTimeAsync(50)
  controller.abort()
  expect((await ends).map((end) => end.status === 'rejected' && end.reason.name)).toEqual([
    'AbortError',
    'AbortError',
  ])
  expect(synthesis.log).toEqual(['cancel', 'speak One.', 'cancel'])
})

test('a page that may not speak yet is told what to do', async () => {
  synthesis.behave = (utterance) => utterance.onerror?.({ error: 'not-allowed' })
  const speaker = await createPlatformSpeaker({ platform })
  await expect(speaker.say('One.')).rejects.toMatchObject({
    hint: expect.stringContaining('unlockPlatformVoice'),
  })
  await speaker.dispose()
})
