/** Says pieces one after the other: while one sounds, the next is being prepared. */

import { EngineError } from '../../shared/errors.ts'
import { isHan } from '../../speech/text/scripts.ts'
import type { SayOptions, Speaker } from '../../speech/types.ts'
import { type Clock, within } from './clock.ts'

export interface SpeechQueueOptions {
  readonly speaker: Speaker
  readonly clock: Clock
  readonly say: Pick<SayOptions, 'language' | 'rate'>
  readonly onStarted: (text: string) => void
  readonly onFinished: (text: string) => void
  readonly onFailed: (error: unknown) => void
}

/** One sounds and one is made. */
const MAX_IN_FLIGHT = 2
/** A voice that fails so often in a row is not asked again for this answer. */
const MAX_FAILURES = 2
/** Characters a second of a slow voice, for a limit on how long a piece can take. */
const SLOW_LATIN = 8
const SLOW_HAN = 2.5
const STUCK_MS = 10_000

interface Saying {
  readonly text: string
  readonly done: Promise<void>
  readonly controller: AbortController
}

export class SpeechQueue {
  readonly #options: SpeechQueueOptions
  readonly #stop = new AbortController()
  readonly #waiting: string[] = []
  readonly #inFlight: Saying[] = []
  readonly #said: string[] = []
  readonly #finished: Promise<void>
  #isEnded = false
  #isSounding = false
  #failures = 0
  #wake: (() => void) | undefined

  constructor(options: SpeechQueueOptions) {
    this.#options = options
    this.#finished = this.#sayAll()
  }

  /** Pieces that were said to the end. */
  get said(): readonly string[] {
    return this.#said
  }

  /** Whether something sounds now. */
  get isSounding(): boolean {
    return this.#isSounding
  }

  /** Nothing sounds, and nothing is about to. */
  get isEmpty(): boolean {
    return this.#inFlight.length === 0 && this.#waiting.length === 0
  }

  /** The piece before, the one that sounds, and those that are prepared. */
  get saying(): string {
    return [this.#said.at(-1) ?? '', ...this.#inFlight.map(({ text }) => text)].join(' ')
  }

  push(text: string): void {
    if (this.#stop.signal.aborted) return
    this.#waiting.push(text)
    this.#prepare()
    this.#wake?.()
  }

  /** Nothing more comes. Resolves when everything has been said, or when the queue was stopped. Never rejects. */
  end(): Promise<void> {
    this.#isEnded = true
    this.#wake?.()
    return this.#finished
  }

  /** Silent within 200 ms; what waits is forgotten. */
  stop(): void {
    this.#waiting.length = 0
    this.#stop.abort()
    for (const { controller } of this.#inFlight) controller.abort()
    this.#wake?.()
  }

  #prepare(): void {
    while (this.#inFlight.length < MAX_IN_FLIGHT) {
      const text = this.#waiting.shift()
      if (text === undefined) return
      const controller = new AbortController()
      const onStarted = (): void => {
        if (this.#stop.signal.aborted) return
        this.#isSounding = true
        this.#options.onStarted(text)
      }
      const { speaker, say } = this.#options
      const done = speaker.say(text, { ...say, signal: controller.signal, onStarted })
      // It is waited for when it is its turn.
      done.catch(() => {})
      this.#inFlight.push({ text, done, controller })
    }
  }

  async #sayAll(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const head = this.#inFlight[0]
      if (head) await this.#say(head)
      else if (this.#isEnded) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }

  async #say(head: Saying): Promise<void> {
    const { clock, say, onFinished, onFailed } = this.#options
    try {
      await within(
        clock,
        longest(head.text, say.rate),
        head.done,
        () => stuckError(head.text),
        this.#stop.signal,
      )
      this.#failures = 0
      this.#said.push(head.text)
      onFinished(head.text)
    } catch (error) {
      head.controller.abort()
      if (!this.#stop.signal.aborted) {
        onFailed(error)
        if (++this.#failures >= MAX_FAILURES) this.stop()
      }
    }
    this.#isSounding = false
    this.#inFlight.shift()
    this.#prepare()
  }
}

function longest(text: string, rate = 1): number {
  let seconds = 0
  for (const character of text) seconds += isHan(character) ? 1 / SLOW_HAN : 1 / SLOW_LATIN
  return STUCK_MS + (seconds * 1000) / rate
}

function stuckError(text: string): EngineError {
  return new EngineError('speech/stuck', {
    message: `The voice did not finish saying ${JSON.stringify(text.slice(0, 60))} in time.`,
    hint: 'It is stopped and goes on with the next sentence; choose another voice if this happens again.',
  })
}
