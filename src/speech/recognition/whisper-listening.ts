import { isAbortError, throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { ListeningSession, TranscribeOptions, TranscriptFinished } from '../types.ts'
import type { Transcription, TranscriptSettings } from './transcription.ts'

/**
 * Speech that is still going on. Whisper has no state to go on from, so each guess encodes the window again; the words
 * of the last guess are checked in one pass, and only what comes behind the first difference is decoded.
 */
export class WhisperListening implements ListeningSession {
  readonly #transcription: Transcription
  readonly #readSettings: (options: TranscribeOptions) => TranscriptSettings
  readonly #options: TranscribeOptions
  readonly #stop = new AbortController()
  /** Tokens of the last guess at the window that is filling up. */
  #guess: readonly number[] = []
  /** Samples were pushed since the last guess. */
  #isStale = false
  #work: Promise<unknown> = Promise.resolve()
  #state: 'open' | 'finished' | 'disposed' = 'open'

  constructor(
    transcription: Transcription,
    options: TranscribeOptions,
    readSettings: (options: TranscribeOptions) => TranscriptSettings,
  ) {
    this.#transcription = transcription
    this.#options = options
    this.#readSettings = readSettings
  }

  push(samples: Float32Array): void {
    this.#requireOpen()
    this.#transcription.push(samples)
    this.#isStale = true
  }

  async partial(signal: AbortSignal | undefined = this.#options.signal): Promise<string> {
    this.#requireOpen()
    const stop = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal
    try {
      await this.#enqueue(() => this.#advance(stop))
    } catch (error) {
      // The end of the utterance, or of the session, ends guessing at it.
      if (!isAbortError(error) || signal?.aborted) throw error
    }
    return this.#transcription.textWith(this.#guess)
  }

  async finish(options: TranscribeOptions = {}): Promise<TranscriptFinished> {
    this.#requireOpen()
    const merged = { ...this.#options, ...options }
    const settings = this.#readSettings(merged)
    this.#state = 'finished'
    this.#stop.abort()
    return this.#enqueue(async () => {
      this.#transcription.settings = settings
      try {
        while (!this.#transcription.isHeard) {
          throwIfAborted(merged.signal)
          await this.#transcription.hear(merged.signal, { draft: this.#guess })
          this.#guess = []
        }
        return this.#transcription.finish('stop')
      } catch (error) {
        if (isAbortError(error)) return this.#transcription.finish('aborted')
        throw error
      }
    })
  }

  dispose(): void {
    this.#state = 'disposed'
    this.#stop.abort()
  }

  async #advance(signal: AbortSignal): Promise<void> {
    while (this.#transcription.hasWindow) {
      throwIfAborted(signal)
      await this.#transcription.hear(signal)
      this.#guess = []
    }
    if (!this.#isStale || this.#transcription.isHeard) return
    throwIfAborted(signal)
    this.#isStale = false
    this.#guess = await this.#transcription.guess(this.#guess, signal)
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
