/**
 * A room with a person, a loudspeaker and a microphone that hears both. Every sample says whose it is and how far into
 * their words it lies, so that the recogniser of this room hears exactly the words that it was given.
 */
import { createAbortError } from '../../shared/abort.ts'
import type {
  GateEvent,
  ListeningSession,
  Microphone,
  Recognizer,
  SayOptions,
  Speaker,
  TranscribeOptions,
  TranscriptFinished,
  VoiceGate,
} from '../../speech/types.ts'
import { createConversationLoop } from './conversation-loop.ts'
import { FakeClock } from './fake-clock.case.ts'
import type { ConversationLoop, ConversationLoopOptions, LoopEvent } from './loop-types.ts'

const RATE = 16_000
const FRAME = 512
const FRAME_MS = (FRAME / RATE) * 1000
const MS_PER_CHARACTER = 60

/** What the person does: words in milliseconds of the room, or a noise without words. */
export interface Utterance {
  readonly from: number
  readonly to: number
  readonly text: string
}

export interface WorldSettings extends Partial<Omit<ConversationLoopOptions, 'microphone' | 'answer'>> {
  readonly person?: readonly Utterance[]
  /** How loud the microphone hears the loudspeaker, beside 0.1 of the person. Default 0: not at all. */
  readonly echo?: number
  /** Tokens of the answer, 40 ms each, or what fails. */
  readonly answer?: (question: string, signal: AbortSignal) => AsyncIterable<string>
  readonly answers?: readonly string[]
  /** Milliseconds that recognition takes. Default 150. */
  readonly recognitionMs?: number
  /** Called with the number of the call; what it throws, recognition throws. A promise is waited for. */
  readonly onRecognize?: (call: number) => Promise<void> | void
  readonly onSay?: (text: string, call: number) => Promise<void> | void
  /** When the device goes away, and for how long. */
  readonly goneFrom?: number
  readonly goneTo?: number
  readonly isMute?: boolean
  /** The sound is a recording of the room that ends here; the loop takes it as fast as it likes. */
  readonly recordingMs?: number
}

export interface TimedEvent {
  readonly ms: number
  readonly event: LoopEvent
}

export class World {
  readonly clock = new FakeClock()
  readonly events: TimedEvent[] = []
  readonly questions: string[] = []
  /** Beginnings of answers that were told to be all that was heard. */
  readonly heardAnswers: string[] = []
  /** Pieces that sounded: with the times of their first and last sample. */
  readonly sounded: { readonly text: string; readonly from: number; to: number }[] = []
  readonly transcribed: TranscribeOptions[] = []
  readonly spoken: SayOptions[] = []
  readonly earcons: { readonly ms: number; readonly kind: string }[] = []
  readonly prepared: { readonly text: string; readonly ms: number }[] = []
  openMicrophones = 0
  failure: unknown
  isOver = false
  readonly loop: ConversationLoop
  readonly #settings: WorldSettings
  #voiceTail: Promise<void> = Promise.resolve()
  #recognitions = 0
  #sayings = 0

  constructor(settings: WorldSettings) {
    this.#settings = settings
    const { answer, isMute, ...rest } = settings
    this.loop = createConversationLoop({
      gate: new FakeGate(),
      recognizer: this.#recognizer(),
      ...(!isMute && { speaker: this.#speaker() }),
      earcon: (kind) => this.earcons.push({ ms: this.clock.now(), kind }),
      clock: this.clock,
      ...rest,
      microphone:
        settings.recordingMs === undefined ? this.#microphone() : this.#recording(settings.recordingMs),
      answer: {
        answer: (question, signal) => {
          this.questions.push(question)
          return answer ? answer(question, signal) : this.#answer(signal)
        },
        interrupted: (heard) => {
          this.heardAnswers.push(heard)
        },
      },
    })
  }

  /** Begins, and lets the room go on until `ms`. */
  async run(
    ms: number,
    acts: Readonly<Record<number, (loop: ConversationLoop) => void>> = {},
  ): Promise<this> {
    void this.#collect()
    for (const at of Object.keys(acts).map(Number)) {
      await this.clock.moveTo(at)
      acts[at]?.(this.loop)
    }
    await this.clock.moveTo(ms)
    return this
  }

  /** `listening 0`, `thinking 2600`, … */
  get states(): string[] {
    return this.events.flatMap(({ event }) => (event.type === 'state-changed' ? [event.state] : []))
  }

  all<Type extends LoopEvent['type']>(
    type: Type,
  ): (Extract<LoopEvent, { type: Type }> & { readonly ms: number })[] {
    return this.events.flatMap(({ ms, event }) =>
      event.type === type ? [{ ...(event as Extract<LoopEvent, { type: Type }>), ms }] : [],
    )
  }

  stateAt(ms: number): string | undefined {
    return this.all('state-changed')
      .filter((change) => change.ms <= ms)
      .at(-1)?.state
  }

  async #collect(): Promise<void> {
    try {
      for await (const event of this.loop.run()) this.events.push({ ms: this.clock.now(), event })
    } catch (error) {
      this.failure = error
    }
    this.isOver = true
  }

  #microphone(): Microphone {
    const world = this
    const { goneFrom = Number.POSITIVE_INFINITY, goneTo = Number.POSITIVE_INFINITY } = this.#settings
    return {
      name: 'room',
      kind: 'device',
      async *open(signal) {
        world.openMicrophones++
        try {
          while (!signal.aborted) {
            const now = world.clock.now()
            if (now >= goneFrom && now < goneTo) throw new Error('unplugged')
            await world.clock.wait(FRAME_MS, signal)
            if (!signal.aborted) yield world.#hear(now)
          }
        } finally {
          world.openMicrophones--
        }
      },
    }
  }

  async *#recording(totalMs: number): AsyncGenerator<Float32Array> {
    for (let ms = 0; ms < totalMs; ms += FRAME_MS) yield this.#hear(ms)
  }

  /** A frame that begins at `ms`. Who is louder covers the other. */
  #hear(ms: number): Float32Array {
    const { person = [], echo = 0 } = this.#settings
    return Float32Array.from({ length: FRAME }, (_, index) => {
      const at = ms + (index / RATE) * 1000
      const speaking = person.findIndex(({ from, to }) => at >= from && at < to)
      const utterance = person[speaking]
      if (utterance) return mark(0.1, speaking, (at - utterance.from) / (utterance.to - utterance.from))
      const sounding = this.sounded.findIndex(({ from, to }) => at >= from && at < to)
      const piece = this.sounded[sounding]
      if (!piece || echo === 0) return 0
      const length = piece.text.length * MS_PER_CHARACTER
      return -mark(echo, sounding, (at - piece.from) / length)
    })
  }

  #recognizer(): Recognizer {
    const finish = async (samples: Float32Array, options: TranscribeOptions): Promise<TranscriptFinished> => {
      this.transcribed.push(options)
      const call = this.#recognitions++
      await this.clock.wait(this.#settings.recognitionMs ?? 150, options.signal)
      await this.#settings.onRecognize?.(call)
      if (options.signal?.aborted) throw createAbortError()
      return transcript(this.#read(samples))
    }
    return {
      info: INFO,
      // The loop listens.
      async *transcribe() {},
      listen: (listening = {}): ListeningSession => {
        const chunks: Float32Array[] = []
        return {
          push: (samples) => void chunks.push(samples),
          partial: async () => this.#read(join(chunks)),
          finish: (options) => finish(join(chunks), { ...listening, ...options }),
          dispose() {},
        }
      },
      async dispose() {},
    }
  }

  /** The words that lie in the samples as a whole. */
  #read(samples: Float32Array): string {
    const heard = new Map<string, [from: number, to: number]>()
    const { person = [], echo = 0 } = this.#settings
    for (const sample of samples) {
      if (sample === 0) continue
      const [who, share] = sample > 0 ? unmark(sample, 0.1) : unmark(-sample, echo)
      const key = `${sample > 0 ? 'person' : 'echo'} ${who}`
      const [from, to] = heard.get(key) ?? [share, share]
      heard.set(key, [Math.min(from, share), Math.max(to, share)])
    }
    return [...heard]
      .map(([key, [from, to]]) => {
        const [source, index] = key.split(' ')
        const text = (source === 'person' ? person : this.sounded)[Number(index)]?.text ?? ''
        const words = text.split(' ')
        return words
          .filter((_, word) => word / words.length >= from - 0.02 && (word + 1) / words.length <= to + 0.02)
          .join(' ')
      })
      .join(' ')
      .trim()
  }

  #speaker(): Speaker {
    return {
      name: 'loudspeaker',
      languages: ['en'],
      level: () => 0.2,
      say: (text, options = {}) => {
        this.spoken.push(options)
        this.prepared.push({ text, ms: this.clock.now() })
        const before = this.#voiceTail
        const done = this.#say(text, options, before)
        this.#voiceTail = done.catch(() => {})
        return done
      },
      async dispose() {},
    }
  }

  async #say(text: string, { signal, onStarted }: SayOptions, before: Promise<void>): Promise<void> {
    // Making it takes a while, which can be while the one before sounds.
    await this.clock.wait(100, signal)
    await before
    if (signal?.aborted) throw createAbortError()
    await this.#settings.onSay?.(text, this.#sayings++)
    const from = this.clock.now()
    const piece = { text, from, to: from + text.length * MS_PER_CHARACTER }
    this.sounded.push(piece)
    onStarted?.()
    await this.clock.wait(text.length * MS_PER_CHARACTER, signal)
    piece.to = this.clock.now()
    if (signal?.aborted) throw createAbortError()
  }

  async *#answer(signal: AbortSignal): AsyncGenerator<string> {
    const { answers = ['There is a dog.'] } = this.#settings
    const text = answers[Math.min(this.questions.length, answers.length) - 1] ?? ''
    yield* tokens(text, this.clock, signal)
  }
}

/** Words of a text at 40 ms each. */
export async function* tokens(text: string, clock: FakeClock, signal: AbortSignal): AsyncGenerator<string> {
  for (const token of text.match(/\s*\S+|\s+$/g) ?? []) {
    await clock.wait(40, signal)
    if (signal.aborted) return
    yield token
  }
}

/** Everything louder than silence is speech; it knows after 64 ms, and of the end after 96 ms. */
class FakeGate implements VoiceGate {
  readonly counters = { levelFrames: 0, smallNetRuns: 0, largeNetRuns: 0 }
  #position = 0
  #loud = 0
  #quiet = 0
  #start: number | undefined
  #begun = false

  push(samples: Float32Array): readonly GateEvent[] {
    const events: GateEvent[] = []
    const isLoud = samples.some((sample) => Math.abs(sample) > 0.005)
    if (isLoud) {
      this.#start ??= this.#position
      this.#loud++
      this.#quiet = 0
    } else this.#quiet++
    this.#position += samples.length
    if (!this.#begun && this.#loud === 2) {
      this.#begun = true
      events.push({ type: 'speech-started', at: this.#start ?? 0 })
    }
    if (this.#quiet >= 3) {
      const end = this.#position - this.#quiet * samples.length
      if (this.#begun) events.push({ type: 'speech-ended', start: this.#start ?? 0, end })
      this.#begun = false
      this.#start = undefined
      this.#loud = 0
    }
    return events
  }

  finish(): readonly GateEvent[] {
    return []
  }

  reset(): void {
    this.#position = 0
    this.#loud = 0
    this.#quiet = 0
    this.#start = undefined
    this.#begun = false
  }
}

const INFO = {
  name: 'room',
  architecture: 'fake',
  languages: ['en'],
  sampleRate: RATE,
  fileBytes: 0,
  allocatedBytes: 0,
  loadMs: 0,
}

function transcript(text: string): TranscriptFinished {
  return {
    type: 'transcript-finished',
    text,
    language: 'en',
    languageProbability: 1,
    segments: [],
    finishReason: 'stop',
    duration: 0,
    timings: { totalMs: 0, encodeMs: 0, decodeMs: 0 },
  }
}

/** A level that also says who it is (up to 40) and how far they are. */
function mark(level: number, who: number, share: number): number {
  return level * (1 + who * 0.01 + share * 0.005)
}

function unmark(value: number, level: number): [who: number, share: number] {
  const code = Math.max(0, (value / level - 1) / 0.01)
  const who = Math.floor(code + 1e-4)
  return [who, Math.max(0, (code - who) * 2)]
}

function join(chunks: readonly Float32Array[]): Float32Array {
  const samples = new Float32Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const chunk of chunks) {
    samples.set(chunk, offset)
    offset += chunk.length
  }
  return samples
}
