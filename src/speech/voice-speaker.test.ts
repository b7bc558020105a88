import { expect, test } from 'vitest'
import { createAbortError } from '../shared/abort.ts'
import type { AudioClip, AudioPlayer, SpeakOptions, SpokenPiece, Voice } from './types.ts'
import { createVoiceSpeaker } from './voice-speaker.ts'

/** Plays nothing, in the time of the test: `finish` ends the clip that sounds. */
class FakePlayer implements AudioPlayer {
  readonly name = 'fake'
  readonly queue: { clip: AudioClip; end: () => void; fail: (error: unknown) => void }[] = []
  readonly log: string[]

  constructor(log: string[]) {
    this.log = log
  }

  play(
    clip: AudioClip,
    { signal, onStarted }: { signal?: AbortSignal; onStarted?: () => void } = {},
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      this.log.push(`queued ${clip.samples.length}`)
      if (this.queue.length === 0) onStarted?.()
      this.queue.push({ clip, end: resolve, fail: reject })
      signal?.addEventListener('abort', () => reject(createAbortError()))
    })
  }

  level(): number {
    return 0.25
  }

  finish(): void {
    this.queue.shift()?.end()
  }

  async dispose(): Promise<void> {}
}

function fakeVoice(log: string[], make?: (text: string) => Promise<void>): Voice {
  return {
    info: {
      name: 'Ada',
      architecture: 'vits',
      languages: ['en'],
      sampleRate: 22_050,
      fileBytes: 0,
      allocatedBytes: 0,
      loadMs: 0,
    },
    async *synthesize(text: string, options: SpeakOptions = {}): AsyncIterableIterator<SpokenPiece> {
      log.push(`make ${text} ${options.rate ?? 1}`)
      for (const sentence of text.split('|')) {
        await make?.(sentence)
        yield { text: sentence, samples: new Float32Array(sentence.length), sampleRate: 22_050 }
      }
    },
    async dispose() {},
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a text is said when its last piece has been played', async () => {
  const log: string[] = []
  const player = new FakePlayer(log)
  const speaker = createVoiceSpeaker(fakeVoice(log), player)
  expect([speaker.name, speaker.languages, speaker.level?.()]).toEqual(['Ada', ['en'], 0.25])
  let isSaid = false
  const said = speaker.say('one|three', { rate: 1.5, onStarted: () => log.push('started') }).then(() => {
    isSaid = true
  })
  await settle()
  expect(log).toEqual(['make one|three 1.5', 'queued 3', 'started', 'queued 5'])
  player.finish()
  await settle()
  expect(isSaid).toBe(false)
  player.finish()
  await said
})

test('the next text is made while one sounds', async () => {
  const log: string[] = []
  const player = new FakePlayer(log)
  const speaker = createVoiceSpeaker(fakeVoice(log), player)
  const first = speaker.say('first')
  const second = speaker.say('second')
  await settle()
  expect(log).toEqual(['make first 1', 'queued 5', 'make second 1', 'queued 6'])
  player.finish()
  await first
  player.finish()
  await second
})

test('two texts are never made at the same time', async () => {
  const log: string[] = []
  const player = new FakePlayer(log)
  let release: () => void = () => {}
  const speaker = createVoiceSpeaker(
    fakeVoice(log, () => new Promise((resolve) => (release = resolve))),
    player,
  )
  void speaker.say('first')
  void speaker.say('second')
  await settle()
  expect(log).toEqual(['make first 1'])
  release()
  await settle()
  expect(log).toEqual(['make first 1', 'queued 5', 'make second 1'])
})

test('aborting ends a text at once, though its voice does not listen', async () => {
  const log: string[] = []
  const player = new FakePlayer(log)
  const speaker = createVoiceSpeaker(
    fakeVoice(log, (text) => (text === 'stuck' ? new Promise(() => {}) : Promise.resolve())),
    player,
  )
  const controller = new AbortController()
  const stuck = speaker.say('stuck', { signal: controller.signal })
  const next = speaker.say('next')
  await settle()
  controller.abort()
  await expect(stuck).rejects.toMatchObject({ name: 'AbortError' })
  await settle()
  expect(log).toEqual(['make stuck 1', 'make next 1', 'queued 4'])
  player.finish()
  await next
})

test('disposing ends everything; failures of the voice and of the player are told', async () => {
  const log: string[] = []
  const player = new FakePlayer(log)
  const speaker = createVoiceSpeaker(
    fakeVoice(log, async (text) => {
      if (text === 'broken') throw new Error('no such sound')
    }),
    player,
  )
  await expect(speaker.say('broken')).rejects.toThrow('no such sound')
  const said = speaker.say('fine')
  await settle()
  player.queue[0]?.fail(new Error('device lost'))
  await expect(said).rejects.toThrow('device lost')
  const last = speaker.say('last')
  await settle()
  await speaker.dispose()
  await expect(last).rejects.toMatchObject({ name: 'AbortError' })
})
