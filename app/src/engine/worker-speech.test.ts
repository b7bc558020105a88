import type {
  AudioClip,
  ListeningSession,
  Recognizer,
  SpeechModelInfo,
  SpokenPiece,
  Voice,
} from 'onsight/speech'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestEngine, type TestEngine } from './test-engine.case.ts'

const INFO: SpeechModelInfo = {
  name: 'small',
  architecture: 'whisper',
  languages: ['en'],
  sampleRate: 16000,
  fileBytes: 1,
  allocatedBytes: 1,
  loadMs: 1,
}
const FINISHED = {
  type: 'transcript-finished',
  language: 'en',
  languageProbability: 1,
  segments: [],
  finishReason: 'stop',
  duration: 1,
  timings: { totalMs: 1, encodeMs: 1, decodeMs: 0 },
} as const

let test: TestEngine
afterEach(() => test.close())

/** Hears how many samples of which clips it was given. */
function createCountingRecognizer(): Recognizer & { readonly closed: string[] } {
  const closed: string[] = []
  return {
    info: INFO,
    closed,
    async *transcribe(audio, { signal } = {}) {
      const clips = 'samples' in audio ? [audio] : audio
      const lengths: number[] = []
      for await (const { samples } of clips) {
        if (signal?.aborted) break
        lengths.push(samples.length)
        yield { type: 'partial-changed', text: lengths.join(' ') }
      }
      yield {
        ...FINISHED,
        text: lengths.join(' '),
        finishReason: signal?.aborted ? 'aborted' : 'stop',
      }
    },
    listen(options = {}): ListeningSession {
      if (options.language === 'xx') throw new RangeError('unknown language')
      let heard = 0
      return {
        push(samples) {
          heard += samples.length
        },
        partial: async () => `${heard}`,
        finish: async () => ({ ...FINISHED, text: `all ${heard}` }),
        dispose: () => void closed.push('session'),
      }
    },
    dispose: async () => void closed.push('recognizer'),
  }
}

async function* clips(lengths: readonly number[], onEnd = () => {}): AsyncGenerator<AudioClip> {
  try {
    for (const length of lengths) yield { samples: new Float32Array(length), sampleRate: 16000 }
  } finally {
    onEnd()
  }
}

describe('a recogniser', () => {
  it('hears a clip, and a stream whose pieces go over one at a time', async () => {
    test = createTestEngine({ loadRecognizer: async () => createCountingRecognizer() })
    const recognizer = await test.engine.loadRecognizer('stored:whisper-tiny')
    expect(recognizer.info).toEqual(INFO)
    const texts: string[] = []
    for await (const event of recognizer.transcribe({ samples: new Float32Array(7), sampleRate: 16000 }))
      if (event.type === 'transcript-finished') texts.push(event.text)
    for await (const event of recognizer.transcribe(clips([3, 4])))
      if (event.type === 'transcript-finished') texts.push(event.text)
    expect(texts).toEqual(['7', '3 4'])
    expect(test.sent.filter(({ type }) => type === 'audio')).toHaveLength(3)
  })

  it('closes the stream when whoever listens leaves or aborts', async () => {
    test = createTestEngine({ loadRecognizer: async () => createCountingRecognizer() })
    const recognizer = await test.engine.loadRecognizer('stored:whisper-tiny')
    let ends = 0
    const endless = new Array<number>(10_000).fill(5)
    for await (const _ of recognizer.transcribe(clips(endless, () => ends++))) break
    const controller = new AbortController()
    let last = ''
    for await (const event of recognizer.transcribe(
      clips(endless, () => ends++),
      { signal: controller.signal },
    )) {
      controller.abort()
      if (event.type === 'transcript-finished') last = event.finishReason
    }
    expect([ends, last]).toEqual([2, 'aborted'])
  })

  it('says why a stream could not be read', async () => {
    test = createTestEngine({ loadRecognizer: async () => createCountingRecognizer() })
    const recognizer = await test.engine.loadRecognizer('stored:whisper-tiny')
    // biome-ignore lint/correctness/useYield: a stream that breaks at once
    async function* broken(): AsyncGenerator<AudioClip> {
      throw new Error('the microphone is gone')
    }
    const hear = async () => {
      for await (const _ of recognizer.transcribe(broken())) expect.unreachable()
    }
    await expect(hear()).rejects.toThrow('the microphone is gone')
  })

  it('listens while somebody speaks', async () => {
    const counting = createCountingRecognizer()
    test = createTestEngine({ loadRecognizer: async () => counting })
    const recognizer = await test.engine.loadRecognizer('stored:whisper-tiny')
    const session = recognizer.listen()
    const frame = new Float32Array(512)
    session.push(frame)
    session.push(frame)
    expect(await session.partial()).toBe('1024')
    session.push(frame)
    expect((await session.finish()).text).toBe('all 1536')
    // Whoever listens keeps the last frames.
    expect(frame.length).toBe(512)
    session.dispose()
    const open = recognizer.listen()
    await open.partial()
    await recognizer.dispose()
    expect(counting.closed).toEqual(['session', 'session', 'recognizer'])
    await expect(open.partial()).rejects.toMatchObject({ code: 'backend/disposed' })
  })

  it('refuses to listen when it is asked for words', async () => {
    test = createTestEngine({ loadRecognizer: async () => createCountingRecognizer() })
    const session = (await test.engine.loadRecognizer('stored:whisper-tiny')).listen({ language: 'xx' })
    session.push(new Float32Array(1))
    await expect(session.finish()).rejects.toThrow('unknown language')
  })
})

describe('a voice', () => {
  it('sends its samples without copying them', async () => {
    const made: Float32Array[] = []
    const voice: Voice = {
      info: INFO,
      async *synthesize(text, { rate } = {}) {
        for (const word of text.split(' ')) {
          const samples = new Float32Array(word.length * (rate ?? 1)).fill(0.5)
          made.push(samples)
          yield { text: word, samples, sampleRate: 22050 }
        }
      },
      dispose: async () => {},
    }
    test = createTestEngine({ loadVoice: async () => voice })
    const pieces: SpokenPiece[] = []
    const spoken = (await test.engine.loadVoice('stored:piper')).synthesize('a dog', { rate: 2 })
    for await (const piece of spoken) pieces.push(piece)
    expect(pieces.map(({ text, samples }) => [text, samples.length, samples[0]])).toEqual([
      ['a', 2, 0.5],
      ['dog', 6, 0.5],
    ])
    expect(made.map(({ length }) => length)).toEqual([0, 0])
  })
})
