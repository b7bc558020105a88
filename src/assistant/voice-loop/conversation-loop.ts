/**
 * A conversation by voice: listens, recognises, asks, speaks. What is heard is judged by `Ear`, an answer is a `Turn`;
 * here they are put in order, so that at any time one thing happens and every state can be left.
 */
import { EngineError } from '../../shared/errors.ts'
import type { Microphone, TranscriptFinished } from '../../speech/types.ts'
import { type Clock, REAL_CLOCK, within } from './clock.ts'
import { Ear, type EarDecision } from './ear.ts'
import { isEcho } from './echo-match.ts'
import { EventQueue } from './event-queue.ts'
import { Hearing } from './hearing.ts'
import type {
  Answerer,
  ConversationLoop,
  ConversationLoopOptions,
  EarconKind,
  LoopAnswerFinished,
  LoopEvent,
  LoopMode,
  LoopStage,
  LoopState,
} from './loop-types.ts'
import { MicrophonePump } from './microphone-pump.ts'
import { isStopWord } from './stop-words.ts'
import { Turn } from './turn.ts'

const RECOGNITION_MS = 30_000
const ANSWER_MS = 120_000
/** Our voice echoes for so long after it has ended. */
const TAIL_MS = 300
/** Buttons are let go a little early; and who holds one for less did not mean it. */
const RELEASE_TAIL_MS = 200
/** The earcon is no speech of anybody. */
const EARCON_MS = 150
/** An interruption without words yet is heard again, as it grows. */
const INTERRUPTION_STEP_MS = 200
const MAX_INTERRUPTION_TRIES = 5
/** Of speech without a pause, half a minute each. */
const MAX_PARTS = 6
/** An answer that was stopped and does not end holds the next one up for so long. */
const STOP_MS = 10_000

/**
 * @example
 * const loop = createConversationLoop({ microphone, gate, recognizer, speaker, answer: (question, signal) => ... })
 * for await (const event of loop.run()) if (event.type === 'state-changed') status.textContent = event.state
 */
export function createConversationLoop(options: ConversationLoopOptions): ConversationLoop {
  return new VoiceLoop(options)
}

/** What somebody said, and what becomes of it. */
interface Exchange {
  /** Their words; undefined where there were none. */
  readonly question: Promise<string | undefined>
  turn?: Turn
  /** Resolves when its answer has ended. */
  done?: Promise<void>
}

class VoiceLoop implements ConversationLoop {
  readonly #options: ConversationLoopOptions
  readonly #answerer: Answerer
  readonly #mode: LoopMode
  readonly #clock: Clock
  readonly #ear: Ear
  readonly #pump: MicrophonePump
  readonly #events: EventQueue<LoopEvent>
  readonly #isLive: boolean
  #state: LoopState = 'idle'
  #announced: LoopState | undefined
  #hearing: Hearing | undefined
  #exchange: Exchange | undefined
  /** The answer before, which may still be ending. */
  #ending: Promise<void> = Promise.resolve()
  /** What was said before somebody went on speaking. */
  #unfinished: Promise<string | undefined> | undefined
  #parts = 0
  /** Waits for a recording to be wanted again. */
  #resume: (() => void) | undefined
  #earconUntil = 0
  #pressedAt = 0
  #partialAt = 0
  #hasRun = false
  #isDisposed = false

  constructor(options: ConversationLoopOptions) {
    this.#options = options
    this.#answerer = typeof options.answer === 'function' ? { answer: options.answer } : options.answer
    this.#mode = options.mode ?? 'half-duplex'
    this.#clock = options.clock ?? REAL_CLOCK
    const { endpoint, bargeIn, leadInMs } = options
    this.#ear = new Ear(options.gate, {
      ...(endpoint && { endpoint }),
      ...(bargeIn && { bargeIn }),
      ...(leadInMs !== undefined && { leadInMs }),
    })
    const microphone = microphoneOf(options.microphone)
    this.#isLive = microphone.kind !== 'recording'
    this.#pump = new MicrophonePump({
      microphone,
      clock: this.#clock,
      onOpened: () => {
        this.#emit({ type: 'microphone-opened', name: microphone.name })
        this.#announce()
      },
      onClosed: () => {
        if (this.#announced === 'listening') this.#announced = undefined
        this.#emit({ type: 'microphone-closed', name: microphone.name })
      },
      onSamples: (samples) => this.#hear(samples),
      onGone: (error) => this.#loseMicrophone(error),
    })
    this.#events = new EventQueue(() => void this.dispose())
  }

  get state(): LoopState {
    return this.#state
  }

  run(): AsyncIterableIterator<LoopEvent> {
    if (this.#hasRun || this.#isDisposed) {
      throw new EngineError('option/loop', {
        message: `The loop ${this.#isDisposed ? 'was disposed' : 'runs already'}.`,
        hint: 'Make another one with createConversationLoop.',
      })
    }
    this.#hasRun = true
    this.#rest(false)
    void this.#listen()
    return this.#events
  }

  press(): void {
    if (this.#mode !== 'push-to-talk' || this.#isDisposed || this.#ear.phase === 'held') return
    this.#stopAnswer()
    this.#pressedAt = this.#clock.now()
    this.#ear.begin('held')
    this.#open()
    this.#enter('listening')
  }

  release(): void {
    if (this.#ear.phase !== 'held') return
    if (this.#clock.now() - this.#pressedAt < RELEASE_TAIL_MS) {
      this.#decide('utterance-dropped')
      return
    }
    void this.#clock.wait(RELEASE_TAIL_MS).then(() => {
      if (this.#ear.phase === 'held') this.#decide(this.#ear.end() ?? 'utterance-dropped')
    })
  }

  interrupt(): void {
    if (this.#exchange === undefined || this.#isDisposed) return
    this.#stopAnswer()
    this.#ear.begin('deaf')
    this.#rest(false)
  }

  ask(question: string): void {
    if (this.#isDisposed) return
    this.#stopAnswer()
    this.#dropHearing()
    this.#ear.begin(this.#mode === 'push-to-talk' ? 'deaf' : 'thinking')
    this.#answer(Promise.resolve(question), this.#clock.now())
  }

  async dispose(): Promise<void> {
    if (this.#isDisposed) return
    this.#isDisposed = true
    this.#dropHearing()
    this.#stopAnswer()
    this.#pump.stop()
    this.#resume?.()
    await this.#ended(this.#ending)
    this.#enter('idle')
    this.#events.close()
  }

  /** Until the sound is over and everything that was asked is answered. */
  async #listen(): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    try {
      await this.#pump.run()
    } catch (error) {
      failure = { error }
    }
    this.#endUtterance()
    while (this.#exchange?.done) await this.#exchange.done
    if (failure) this.#events.close(failure)
    await this.dispose()
  }

  // Sound

  /** @returns For recordings: when the next samples may come. */
  #hear(samples: Float32Array): Promise<void> | undefined {
    if (this.#isDisposed) return undefined
    const turn = this.#exchange?.turn
    const level = turn?.isSounding ? this.#options.speaker?.level?.() : undefined
    const isPlaying = (turn?.isSounding ?? false) || this.#clock.now() < this.#earconUntil
    const decisions = this.#ear.push(samples, { isPlaying, level })
    this.#hearing?.push(samples)
    for (const decision of decisions) this.#decide(decision)
    if (this.#ear.phase === 'held' && !this.#hearing) this.#hearing = this.#openHearing()
    this.#askPartial()
    return this.#isLive ? undefined : this.#untilWanted()
  }

  #decide(decision: EarDecision): void {
    switch (decision) {
      case 'speech-began':
        this.#emit({ type: 'speech-started' })
        this.#hearing = this.#openHearing()
        break
      case 'pause-began':
        void this.#recognizeEarly()
        break
      case 'speech-resumed':
        this.#hearing?.resume(this.#ear.utterance())
        break
      case 'utterance-dropped':
        this.#dropHearing()
        this.#emit({ type: 'speech-ignored', reason: 'noise', text: '' })
        this.#goOnWithout()
        break
      case 'utterance-ended':
        this.#ask()
        break
      case 'utterance-full':
        this.#keepPart()
        break
      case 'interruption-suspected':
        void this.#judgeInterruption()
        break
      default:
        decision satisfies never
    }
  }

  #openHearing(): Hearing {
    this.#dropHearing()
    this.#partialAt = this.#clock.now()
    const { recognizer, language, timeouts } = this.#options
    const options = {
      recognizer,
      language,
      clock: this.#clock,
      timeoutMs: timeouts?.recognitionMs ?? RECOGNITION_MS,
    }
    return new Hearing(options, this.#ear.utterance())
  }

  async #recognizeEarly(): Promise<void> {
    const hearing = this.#hearing
    if (!hearing) return
    const text = await hearing.recognize(this.#ear.speechSeconds, this.#ear.utterance())
    if (hearing === this.#hearing && text !== undefined) this.#ear.textRecognized(text)
    this.#resume?.()
  }

  #askPartial(): void {
    const { partialsEveryMs = 0 } = this.#options
    const hearing = this.#hearing
    if (partialsEveryMs <= 0 || !hearing || this.#clock.now() - this.#partialAt < partialsEveryMs) return
    this.#partialAt = this.#clock.now()
    void hearing.partial().then((text) => {
      if (text !== undefined && hearing === this.#hearing) this.#emit({ type: 'partial-changed', text })
    })
  }

  #dropHearing(): void {
    this.#hearing?.dispose()
    this.#hearing = undefined
  }

  // Questions

  /** The utterance is over: its words are asked. */
  #ask(): void {
    const decidedAt = this.#clock.now()
    this.#parts = 0
    const hearing = this.#hearing ?? this.#openHearing()
    if (hearing.words === '') {
      this.#dropHearing()
      this.#emit({ type: 'speech-ignored', reason: 'no-words', text: '' })
      this.#goOnWithout()
      return
    }
    const result = hearing.finish(this.#ear.speechSeconds, this.#ear.utterance())
    this.#hearing = undefined
    if (this.#mode === 'push-to-talk') {
      this.#ear.begin('deaf')
      this.#closeMicrophone()
    } else this.#ear.think()
    this.#playEarcon('heard')
    this.#answer(
      this.#wordsOf(result, decidedAt).finally(() => hearing.dispose()),
      decidedAt,
    )
  }

  /** Who speaks for long is heard in parts, so that nothing is lost; but not for ever, as it may be a television. */
  #keepPart(): void {
    if (!this.#hearing || ++this.#parts >= MAX_PARTS) {
      this.#ask()
      return
    }
    const hearing = this.#hearing
    const result = hearing.finish(this.#ear.speechSeconds, this.#ear.utterance())
    this.#hearing = undefined
    this.#unfinished = this.#wordsOf(result, this.#clock.now()).finally(() => hearing.dispose())
    this.#ear.continue()
    this.#hearing = this.#openHearing()
  }

  /** What was said, with what was said before it; undefined where there were no words. */
  async #wordsOf(result: Promise<TranscriptFinished>, decidedAt: number): Promise<string | undefined> {
    const before = this.#unfinished
    this.#unfinished = undefined
    let said = ''
    try {
      const { text, language } = await result
      said = text.trim()
      const recognitionMs = this.#clock.now() - decidedAt
      if (said !== '') this.#emit({ type: 'question-heard', text: said, language, recognitionMs })
      else this.#emit({ type: 'speech-ignored', reason: 'no-words', text: '' })
      if (isStopWord(said)) return undefined
    } catch (error) {
      this.#fail('recognition', error)
    }
    const words = [await before, said].filter((part) => part !== undefined && part !== '').join(' ')
    return words === '' ? undefined : words
  }

  #answer(question: Promise<string | undefined>, decidedAt: number): void {
    const exchange: Exchange = { question }
    this.#exchange = exchange
    this.#enter('thinking')
    const before = this.#ending
    exchange.done = this.#converse(exchange, before, decidedAt)
    this.#ending = exchange.done
  }

  async #converse(exchange: Exchange, before: Promise<void>, decidedAt: number): Promise<void> {
    const question = await exchange.question
    await this.#ended(before)
    if (this.#exchange !== exchange) return
    if (question === undefined) {
      this.#rest(false)
      return
    }
    const { speaker, language, rate, timeouts } = this.#options
    const turn = new Turn({
      clock: this.#clock,
      speaker,
      language: language === 'auto' ? undefined : language,
      rate,
      answerMs: timeouts?.answerMs ?? ANSWER_MS,
      decidedAt,
      emit: (event) => this.#relay(event),
      onFirstSound: () => this.#soundStarted(exchange),
    })
    exchange.turn = turn
    const finished = await turn.run(question, this.#answerer)
    await this.#close(finished)
    if (this.#exchange !== exchange) return
    // The last of our voice must not be what we hear first.
    if (turn.hasSounded) await this.#clock.wait(TAIL_MS)
    if (this.#exchange === exchange) this.#rest(turn.endsInQuestion)
  }

  async #close(finished: LoopAnswerFinished): Promise<void> {
    try {
      if (finished.isInterrupted) await this.#answerer.interrupted?.(finished.spokenText)
    } catch (error) {
      this.#fail('answer', error)
    }
    this.#emit(finished)
  }

  #soundStarted(exchange: Exchange): void {
    if (this.#exchange !== exchange) return
    if (this.#mode === 'full-duplex') this.#ear.speak()
    else {
      this.#ear.begin('deaf')
      if (!this.#options.keepsMicrophoneOpen) this.#closeMicrophone()
    }
    this.#enter('speaking')
  }

  // Interruptions

  /** Somebody speaks while we think or speak. */
  async #judgeInterruption(): Promise<void> {
    const exchange = this.#exchange
    const turn = exchange?.turn
    if (!exchange) return
    if (!turn?.hasSounded) {
      // They had not finished: what comes belongs to what was said.
      this.#unfinished = exchange.question
      this.#takeInterruption()
      return
    }
    const { text, isOurs } = await this.#hearInterruption(exchange, turn)
    if (this.#exchange !== exchange) return
    if (text === '' || isOurs) {
      this.#ear.ignoreInterruption(isOurs)
      this.#emit({ type: 'speech-ignored', reason: isOurs ? 'echo' : 'no-words', text })
    } else this.#takeInterruption()
  }

  /** The first words that are heard, as long as somebody speaks. */
  async #hearInterruption(exchange: Exchange, turn: Turn): Promise<{ text: string; isOurs: boolean }> {
    for (let tries = 0; ; tries++) {
      const isOver = !this.#ear.isInSpeech
      const hearing = this.#openHearing()
      const text = (await hearing.recognize(this.#ear.speechSeconds, this.#ear.utterance())) ?? ''
      hearing.dispose()
      const isEnd = isOver || tries === MAX_INTERRUPTION_TRIES || this.#exchange !== exchange
      if (text !== '' || isEnd) return { text, isOurs: isEcho(text, turn.saying) }
      await this.#clock.wait(INTERRUPTION_STEP_MS)
    }
  }

  #takeInterruption(): void {
    this.#stopAnswer()
    this.#ear.takeInterruption()
    this.#emit({ type: 'speech-started' })
    this.#hearing = this.#openHearing()
    this.#enter('listening')
  }

  /** What somebody went on with was nothing: what they had said is asked again. */
  #goOnWithout(): void {
    const unfinished = this.#unfinished
    this.#unfinished = undefined
    if (unfinished) {
      this.#ear.think()
      this.#answer(unfinished, this.#clock.now())
    } else this.#rest(false)
  }

  #stopAnswer(): void {
    this.#exchange?.turn?.stop()
    this.#exchange = undefined
  }

  // States

  /** Waits for the next thing to be said. */
  #rest(isAfterQuestion: boolean): void {
    this.#exchange = undefined
    if (this.#isDisposed) return
    if (this.#mode === 'push-to-talk') {
      this.#ear.begin('deaf')
      this.#closeMicrophone()
      this.#enter('idle')
      return
    }
    this.#open()
    this.#enter('listening')
    if (this.#ear.phase === 'deaf') this.#ear.begin('listening', isAfterQuestion)
    else for (const decision of this.#ear.listen(isAfterQuestion)) this.#decide(decision)
    this.#resume?.()
  }

  #open(): void {
    this.#pump.open()
    this.#resume?.()
  }

  #enter(state: LoopState): void {
    this.#state = state
    this.#announce()
  }

  /** `listening` is said when sound comes in, not before. */
  #announce(): void {
    if (this.#state === this.#announced || (this.#state === 'listening' && !this.#pump.isOpen)) return
    this.#announced = this.#state
    this.#emit({ type: 'state-changed', state: this.#state })
  }

  /** Recordings wait instead. */
  #closeMicrophone(): void {
    if (this.#isLive) this.#pump.close()
  }

  /** A recording waits while nobody listens, and while it is being told what was said. */
  async #untilWanted(): Promise<void> {
    while (!this.#isDisposed && (this.#state !== 'listening' || this.#hearing?.isRecognizing)) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve
      })
    }
  }

  #loseMicrophone(error: unknown): void {
    this.#fail('microphone', error)
    this.#endUtterance()
  }

  /** What was being said when the sound ended is all there is. */
  #endUtterance(): void {
    const decision = this.#ear.end()
    if (decision) this.#decide(decision)
  }

  #playEarcon(kind: EarconKind): void {
    this.#earconUntil = this.#clock.now() + EARCON_MS
    this.#options.earcon?.(kind)
  }

  #relay(event: LoopEvent): void {
    if (event.type === 'failure-occurred') this.#playEarcon('failed')
    this.#emit(event)
  }

  #fail(stage: LoopStage, error: unknown): void {
    this.#relay({ type: 'failure-occurred', stage, error })
  }

  #emit(event: LoopEvent): void {
    this.#events.push(event)
  }

  /** Waits for an answer to end, but not for ever. */
  async #ended(answer: Promise<void>): Promise<void> {
    try {
      await within(this.#clock, STOP_MS, answer, () => new Error('stuck'))
    } catch {
      // The next answer will say so itself if it cannot begin.
    }
  }
}

function microphoneOf(source: Microphone | AsyncIterable<Float32Array>): Microphone {
  if ('open' in source) return source
  return { name: 'recording', kind: 'recording', open: () => source }
}
