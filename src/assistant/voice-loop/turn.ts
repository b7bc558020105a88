/** One answer: streamed, cut into pieces, said as it comes, and stopped at any time. */
import { isAbortError } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import { SpokenPieces } from '../../speech/text/spoken-pieces.ts'
import type { LanguageTag, Speaker } from '../../speech/types.ts'
import { type Clock, within } from './clock.ts'
import type { Answerer, LoopAnswerFinished, LoopEvent } from './loop-types.ts'
import { SpeechQueue } from './speech-queue.ts'
import { findSpokenPrefix } from './spoken-prefix.ts'

export interface TurnOptions {
  readonly clock: Clock
  readonly speaker: Speaker | undefined
  readonly language: LanguageTag | undefined
  readonly rate: number | undefined
  readonly answerMs: number
  /** When the person had finished, by the clock. */
  readonly decidedAt: number
  readonly emit: (event: LoopEvent) => void
  /** The first piece sounds. */
  readonly onFirstSound: () => void
}

/** A stream that pauses for so long is said as far as it came. */
const PAUSE_MS = 500

export class Turn {
  readonly #options: TurnOptions
  readonly #controller = new AbortController()
  readonly #pieces: SpokenPieces
  readonly #cleaning: { readonly language?: LanguageTag }
  readonly #queue: SpeechQueue | undefined
  readonly #flushes: number[] = []
  #text = ''
  #firstTextAt: number | undefined
  #firstSoundAt: number | undefined
  #lastPiece = ''

  constructor(options: TurnOptions) {
    this.#options = options
    const { language, speaker, rate, clock } = options
    this.#cleaning = language === undefined ? {} : { language }
    this.#pieces = new SpokenPieces(this.#cleaning)
    this.#queue =
      speaker &&
      new SpeechQueue({
        speaker,
        clock,
        say: { ...(language !== undefined && { language }), ...(rate !== undefined && { rate }) },
        onStarted: (text) => this.#soundStarted(text),
        onFinished: (text) => this.#emit({ type: 'sentence-finished', text }),
        onFailed: (error) => this.#emit({ type: 'failure-occurred', stage: 'speech', error }),
      })
  }

  get isStopped(): boolean {
    return this.#controller.signal.aborted
  }

  get hasSounded(): boolean {
    return this.#firstSoundAt !== undefined
  }

  get isSounding(): boolean {
    return this.#queue?.isSounding ?? false
  }

  /** What the microphone may hear of us. */
  get saying(): string {
    return this.#queue?.saying ?? ''
  }

  /** Whether the answer ends by asking something. */
  get endsInQuestion(): boolean {
    return /[?？]["'”’)）」]*$/.test(this.#lastPiece)
  }

  /** Ends everything; silent within 200 ms. */
  stop(): void {
    this.#controller.abort()
    this.#queue?.stop()
  }

  /** Resolves when everything was said, or after `stop` when the answer has ended. Failures become events. */
  async run(question: string, answerer: Answerer): Promise<LoopAnswerFinished> {
    try {
      await this.#stream(answerer.answer(question, this.#controller.signal))
      if (!this.isStopped) this.#say(this.#pieces.finish())
    } catch (error) {
      if (!this.isStopped || !isAbortError(error)) {
        this.#emit({ type: 'failure-occurred', stage: 'answer', error })
      }
    }
    await this.#queue?.end()
    return this.#finish(question)
  }

  async #stream(answer: AsyncIterable<string>): Promise<void> {
    const { clock, answerMs } = this.#options
    const iterator = answer[Symbol.asyncIterator]()
    for (;;) {
      const next = iterator.next()
      await this.#flushOnPause(next)
      const result = await within(clock, answerMs, next, stuckError)
      if (result.done || this.isStopped) break
      this.#take(result.value)
    }
    // An answer that was stopped ends by its signal; this is for those that do not listen to it.
    void iterator.return?.()?.catch(() => {})
  }

  /** Waits for `next`; what can be said is said when it takes long and nothing else sounds. */
  async #flushOnPause(next: Promise<unknown>): Promise<void> {
    if (!this.#queue?.isEmpty || this.#text === '') return
    const timer = new AbortController()
    const settled = next.then(
      () => false,
      () => false,
    )
    const isPaused = await Promise.race([
      settled,
      this.#options.clock.wait(PAUSE_MS, timer.signal).then(() => true),
    ])
    timer.abort()
    if (!isPaused || this.isStopped) return
    const pieces = this.#pieces.flush()
    if (pieces.length > 0) this.#flushes.push(this.#text.length)
    this.#say(pieces)
  }

  #take(text: string): void {
    if (text === '') return
    this.#firstTextAt ??= this.#options.clock.now()
    this.#text += text
    this.#emit({ type: 'text-delta', text })
    this.#say(this.#pieces.push(text))
  }

  #say(pieces: readonly string[]): void {
    for (const text of pieces) {
      this.#lastPiece = text
      this.#emit({ type: 'sentence-ready', text })
      this.#queue?.push(text)
    }
  }

  #soundStarted(text: string): void {
    if (this.isStopped) return
    if (this.#firstSoundAt === undefined) {
      this.#firstSoundAt = this.#options.clock.now()
      this.#options.onFirstSound()
    }
    this.#emit({ type: 'sentence-started', text })
  }

  #finish(question: string): LoopAnswerFinished {
    const { decidedAt } = this.#options
    const text = this.#text
    const spokenText = this.isStopped
      ? findSpokenPrefix(text, this.#queue?.said.length ?? 0, this.#flushes, this.#cleaning)
      : text
    return {
      type: 'answer-finished',
      question,
      text,
      spokenText,
      isInterrupted: this.isStopped,
      ...(this.#firstTextAt !== undefined && { firstTextMs: this.#firstTextAt - decidedAt }),
      ...(this.#firstSoundAt !== undefined && { firstSoundMs: this.#firstSoundAt - decidedAt }),
    }
  }

  #emit(event: LoopEvent): void {
    this.#options.emit(event)
  }
}

function stuckError(): EngineError {
  return new EngineError('generation/stuck', {
    message: 'The answer did not go on in time.',
    hint: 'Ask again; a smaller picture or model answers sooner.',
  })
}
