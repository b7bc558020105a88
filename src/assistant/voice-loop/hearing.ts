/** Recognition of one utterance: fed while it is spoken, begun early, begun anew when speech goes on. */

import { createAbortError, throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { LanguageTag, ListeningSession, Recognizer, TranscriptFinished } from '../../speech/types.ts'
import { type Clock, within } from './clock.ts'

export interface HearingOptions {
  readonly recognizer: Recognizer
  readonly language: LanguageTag | undefined
  readonly clock: Clock
  readonly timeoutMs: number
}

export class Hearing {
  readonly #options: HearingOptions
  /** Of the session; another one has another. */
  #controller = new AbortController()
  #session: ListeningSession | undefined
  #result: Promise<TranscriptFinished> | undefined
  #words: string | undefined
  #isSettled = false
  #isAskingPartial = false

  /** @param samples What was heard so far, from the lead-in. */
  constructor(options: HearingOptions, samples: Float32Array) {
    this.#options = options
    this.#open(samples)
  }

  /** What was recognised after `recognize`, unless speech went on. */
  get words(): string | undefined {
    return this.#words
  }

  /** Whether `recognize` is still at it. */
  get isRecognizing(): boolean {
    return this.#result !== undefined && !this.#isSettled
  }

  push(samples: Float32Array): void {
    if (!this.#result) this.#session?.push(samples)
  }

  /** As `finish`, before it is certain that nothing more is said. Undefined where speech goes on, and after failures. */
  async recognize(speechSeconds: number, utterance: Float32Array): Promise<string | undefined> {
    const result = this.finish(speechSeconds, utterance)
    const text = await result.then(
      (transcript) => transcript.text.trim(),
      () => undefined,
    )
    if (this.#result !== result) return undefined
    this.#isSettled = true
    this.#words = text
    return text
  }

  /** Words so far; undefined while another call waits, and where the recogniser has none. */
  async partial(): Promise<string | undefined> {
    if (this.#isAskingPartial || this.#result || !this.#session) return undefined
    this.#isAskingPartial = true
    try {
      return await this.#session.partial(this.#controller.signal)
    } catch {
      // A failure that matters comes again at the end.
      return undefined
    } finally {
      this.#isAskingPartial = false
    }
  }

  /**
   * The words of everything heard. Called again, the same.
   *
   * @param utterance Gives all samples again, for a second try after a failure.
   */
  finish(speechSeconds: number, utterance: Float32Array): Promise<TranscriptFinished> {
    this.#result ??= this.#finishTwice(speechSeconds, utterance)
    return this.#result
  }

  /** Speech goes on after `finish`: what came of it is thrown away, and all is heard again. */
  resume(utterance: Float32Array): void {
    this.#result?.catch(() => {})
    this.#result = undefined
    this.#words = undefined
    this.#isSettled = false
    this.#open(utterance)
  }

  dispose(): void {
    this.#result?.catch(() => {})
    this.#close()
  }

  async #finishTwice(speechSeconds: number, utterance: Float32Array): Promise<TranscriptFinished> {
    const { signal } = this.#controller
    try {
      return await this.#finishOnce(speechSeconds)
    } catch {
      throwIfAborted(signal)
      this.#open(utterance)
      return await this.#finishOnce(speechSeconds)
    }
  }

  async #finishOnce(speechSeconds: number): Promise<TranscriptFinished> {
    const { clock, timeoutMs } = this.#options
    const { signal } = this.#controller
    const session = this.#session
    if (!session) throw createAbortError()
    const finished = session.finish({ ...this.#language, speechSeconds, signal })
    return within(clock, timeoutMs, finished, stuckError, signal)
  }

  get #language(): { language?: LanguageTag } {
    const { language } = this.#options
    return language === undefined ? {} : { language }
  }

  #open(samples: Float32Array): void {
    this.#close()
    this.#controller = new AbortController()
    this.#session = this.#options.recognizer.listen({ ...this.#language, signal: this.#controller.signal })
    this.#session.push(samples)
  }

  #close(): void {
    this.#controller.abort()
    this.#session?.dispose()
    this.#session = undefined
  }
}

function stuckError(): EngineError {
  return new EngineError('speech/stuck', {
    message: 'The recogniser did not finish in time.',
    hint: 'Say it again; a smaller model, such as Whisper tiny, is faster.',
  })
}
