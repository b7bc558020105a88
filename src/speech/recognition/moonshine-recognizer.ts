import { PassQueue } from '../../generation/pass-queue.ts'
import type { MoonshineModel } from '../../models/moonshine/moonshine.ts'
import { createAbortError, isAbortError, throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { Tokenizer } from '../../text/tokenizer/tokenizer.ts'
import type {
  AudioClip,
  ListeningSession,
  Recognizer,
  SpeechModelInfo,
  TranscribeOptions,
  TranscriptEvent,
  TranscriptFinished,
  TranscriptSegment,
} from '../types.ts'
import { LatestValue } from './latest-value.ts'
import { hearUtterance } from './moonshine-utterance.ts'
import { findQuietCut } from './quiet-cut.ts'
import { readSamples } from './read-samples.ts'
import { SampleWindow } from './sample-window.ts'
import { checkTranscribeOptions } from './transcribe-options.ts'

const SAMPLE_RATE = 16000
/** Longer stretches are cut where it is quiet, in their last third. */
const WINDOW_SECONDS = 24

export class MoonshineRecognizer implements Recognizer {
  readonly #model: MoonshineModel
  readonly #tokenizer: Tokenizer
  readonly #info: Omit<SpeechModelInfo, 'allocatedBytes' | 'languages' | 'sampleRate'>
  readonly #release: () => Promise<void>
  readonly #queue = new PassQueue()
  #disposal: Promise<void> | undefined

  constructor(
    model: MoonshineModel,
    tokenizer: Tokenizer,
    info: Omit<SpeechModelInfo, 'allocatedBytes' | 'languages' | 'sampleRate'>,
    release: () => Promise<void>,
  ) {
    this.#model = model
    this.#tokenizer = tokenizer
    this.#info = info
    this.#release = release
  }

  get info(): SpeechModelInfo {
    return {
      ...this.#info,
      languages: ['en'],
      sampleRate: SAMPLE_RATE,
      allocatedBytes: this.#disposal ? 0 : this.#model.allocatedBytes,
    }
  }

  transcribe(
    audio: AudioClip | AsyncIterable<AudioClip>,
    options: TranscribeOptions = {},
  ): AsyncIterableIterator<TranscriptEvent> {
    this.#check(options)
    return this.#transcribe(audio, options.signal)
  }

  listen(options: TranscribeOptions = {}): ListeningSession {
    this.#check(options)
    return new MoonshineListening(this.#begin(), options, (changed) => this.#check(changed))
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#queue.run(async () => {
      this.#model.dispose()
      await this.#release()
    })
    return this.#disposal
  }

  async *#transcribe(
    audio: AudioClip | AsyncIterable<AudioClip>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<TranscriptEvent, undefined, undefined> {
    const transcript = this.#begin()
    try {
      for await (const samples of readSamples(audio, SAMPLE_RATE, signal)) {
        transcript.push(samples)
        while (transcript.hasWindow) yield* hearAloud(transcript, signal)
      }
      while (!transcript.isHeard) yield* hearAloud(transcript, signal)
    } catch (error) {
      if (!isAbortError(error)) throw error
      yield transcript.finish('aborted')
      return
    }
    yield transcript.finish('stop')
  }

  #begin(): MoonshineTranscript {
    return new MoonshineTranscript(this.#model, this.#tokenizer, (work) =>
      this.#queue.run(() => {
        if (this.#disposal === undefined) return work()
        throw new EngineError('speech/disposed', {
          message: `${this.#info.name} was closed.`,
          hint: 'Load the recogniser again to go on.',
        })
      }),
    )
  }

  #check(options: TranscribeOptions): void {
    checkTranscribeOptions(options)
    const { language = 'auto' } = options
    if (language === 'auto' || /^en\b/i.test(language)) return
    throw new EngineError('speech/unsupported-language', {
      message: `${this.#info.name} hears English only; found the language "${language}".`,
      hint: 'Use a Whisper model for other languages.',
      field: 'language',
    })
  }
}

/** Words as they are found, then the segment. */
async function* hearAloud(
  transcript: MoonshineTranscript,
  signal: AbortSignal | undefined,
): AsyncGenerator<TranscriptEvent, void, undefined> {
  const texts = new LatestValue<string>()
  const hearing = transcript.hear(signal, { onText: (text) => texts.set(text) })
  for (let text = await texts.take(hearing); text !== undefined; text = await texts.take(hearing)) {
    yield { type: 'partial-changed', text }
  }
  const segment = await hearing
  if (segment) yield { type: 'segment-finished', segment }
}

/** Samples go in at one end, segments come out at the other. */
class MoonshineTranscript {
  readonly #model: MoonshineModel
  readonly #tokenizer: Tokenizer
  readonly #run: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly #samples = new SampleWindow()
  readonly #segments: TranscriptSegment[] = []
  readonly #startedAt = performance.now()
  #encodeMs = 0
  #decodeMs = 0

  constructor(
    model: MoonshineModel,
    tokenizer: Tokenizer,
    run: <Result>(work: () => Promise<Result>) => Promise<Result>,
  ) {
    this.#model = model
    this.#tokenizer = tokenizer
    this.#run = run
  }

  push(samples: Float32Array): void {
    this.#samples.push(samples)
  }

  get hasWindow(): boolean {
    return this.#samples.length > this.#windowSamples
  }

  get #windowSamples(): number {
    return Math.min(WINDOW_SECONDS * SAMPLE_RATE, this.#model.maxSamples)
  }

  get isHeard(): boolean {
    return this.#samples.length === 0
  }

  async hear(
    signal: AbortSignal | undefined,
    { onText, draft }: { onText?: (text: string) => void; draft?: readonly number[] } = {},
  ): Promise<TranscriptSegment | undefined> {
    throwIfAborted(signal)
    const stretch = this.#samples.first(this.#windowSamples)
    const length = this.hasWindow
      ? findQuietCut(stretch, Math.floor((stretch.length * 2) / 3))
      : stretch.length
    const start = this.#samples.dropped / SAMPLE_RATE
    const ids = await this.#hear(stretch.slice(0, length), signal, draft, onText)
    this.#samples.drop(length)
    const segment = { start, end: start + length / SAMPLE_RATE, text: this.#decode(ids) }
    if (segment.text === '') return undefined
    this.#segments.push(segment)
    return segment
  }

  /** Guesses at the stretch that is still filling up. */
  guess(draft: readonly number[], signal: AbortSignal | undefined): Promise<readonly number[]> {
    return this.#hear(this.#samples.first(this.#windowSamples).slice(), signal, draft)
  }

  textWith(guess: readonly number[]): string {
    return [...this.#segments.map(({ text }) => text), this.#decode(guess)].filter(Boolean).join(' ')
  }

  finish(finishReason: TranscriptFinished['finishReason']): TranscriptFinished {
    return {
      type: 'transcript-finished',
      text: this.textWith([]),
      language: 'en',
      languageProbability: 1,
      segments: [...this.#segments],
      finishReason,
      duration: (this.#samples.dropped + this.#samples.length) / SAMPLE_RATE,
      timings: {
        totalMs: performance.now() - this.#startedAt,
        encodeMs: this.#encodeMs,
        decodeMs: this.#decodeMs,
      },
    }
  }

  async #hear(
    samples: Float32Array,
    signal: AbortSignal | undefined,
    draft: readonly number[] = [],
    onText?: (text: string) => void,
  ): Promise<readonly number[]> {
    const { ids, encodeMs, decodeMs } = await this.#run(() =>
      hearUtterance(this.#model, {
        samples,
        draft,
        ...(onText && { onTokens: (found: readonly number[]) => onText(this.#decode(found)) }),
        signal,
      }),
    )
    this.#encodeMs += encodeMs
    this.#decodeMs += decodeMs
    return ids
  }

  #decode(ids: readonly number[]): string {
    return this.#tokenizer.decode([...ids]).trim()
  }
}

/** Speech that is still going on: each guess starts from the words of the last one. */
class MoonshineListening implements ListeningSession {
  readonly #transcript: MoonshineTranscript
  readonly #options: TranscribeOptions
  readonly #check: (options: TranscribeOptions) => void
  readonly #stop = new AbortController()
  #guess: readonly number[] = []
  #isStale = false
  #work: Promise<unknown> = Promise.resolve()
  #state: 'open' | 'finished' | 'disposed' = 'open'

  constructor(
    transcript: MoonshineTranscript,
    options: TranscribeOptions,
    check: (options: TranscribeOptions) => void,
  ) {
    this.#transcript = transcript
    this.#options = options
    this.#check = check
  }

  push(samples: Float32Array): void {
    this.#requireOpen()
    this.#transcript.push(samples)
    this.#isStale = true
  }

  async partial(signal: AbortSignal | undefined = this.#options.signal): Promise<string> {
    this.#requireOpen()
    const stop = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal
    try {
      await this.#enqueue(async () => {
        while (this.#transcript.hasWindow) {
          await this.#transcript.hear(stop)
          this.#guess = []
        }
        if (!this.#isStale) return
        throwIfAborted(stop)
        this.#isStale = false
        this.#guess = await this.#transcript.guess(this.#guess, stop)
      })
    } catch (error) {
      // The end of the utterance, or of the session, ends guessing at it.
      if (!isAbortError(error) || signal?.aborted) throw error
    }
    return this.#transcript.textWith(this.#guess)
  }

  async finish(options: TranscribeOptions = {}): Promise<TranscriptFinished> {
    this.#requireOpen()
    const { signal } = { ...this.#options, ...options }
    this.#check({ ...this.#options, ...options })
    this.#state = 'finished'
    this.#stop.abort()
    return this.#enqueue(async () => {
      try {
        while (!this.#transcript.isHeard) {
          if (signal?.aborted) throw createAbortError()
          await this.#transcript.hear(signal, { draft: this.#guess })
          this.#guess = []
        }
        return this.#transcript.finish('stop')
      } catch (error) {
        if (isAbortError(error)) return this.#transcript.finish('aborted')
        throw error
      }
    })
  }

  dispose(): void {
    this.#state = 'disposed'
    this.#stop.abort()
  }

  /** One piece of work after the other. */
  #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#work.then(work, work)
    this.#work = result.catch(() => {})
    return result
  }

  #requireOpen(): void {
    if (this.#state === 'open') return
    throw new EngineError('option/closed', {
      message: `This listening session is ${this.#state}; it takes no more sound.`,
      hint: 'Call listen() again for the next utterance.',
    })
  }
}
