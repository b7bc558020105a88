/** Says an answer aloud while it comes, outside of a conversation by voice. */
import { SpokenPieces } from '../../speech/text/spoken-pieces.ts'
import type { LanguageTag, Speaker } from '../../speech/types.ts'
import { type Clock, REAL_CLOCK } from './clock.ts'
import { SpeechQueue } from './speech-queue.ts'

export interface AnswerSpeakerOptions {
  readonly speaker: Speaker
  /** Of the answer. Default: told by its script. */
  readonly language?: LanguageTag
  /** Pace of the voice; 1 is its own. */
  readonly rate?: number
  /** A piece begins to sound. */
  readonly onStarted?: (text: string) => void
  /** A piece could not be said; after two in a row nothing more of this answer is. */
  readonly onFailed?: (error: unknown) => void
  readonly clock?: Clock
}

/** One answer that is said. */
export interface AnswerSpeaker {
  /** More of the answer, as the model writes it: Markdown and symbols become words. */
  push(text: string): void
  /** Nothing more comes. Resolves when everything was said, or after `stop`. Never rejects. */
  finish(): Promise<void>
  /** Silent within 200 ms; what waits is forgotten. Safe to call twice. */
  stop(): void
}

/** A stream that pauses for so long is said as far as it came. */
const PAUSE_MS = 500

/**
 * Says an answer sentence by sentence; the speaker stays the caller's.
 *
 * @example
 * const voice = createAnswerSpeaker({ speaker })
 * for await (const event of chat.send(message)) if (event.type === 'text-delta') voice.push(event.text)
 * await voice.finish()
 */
export function createAnswerSpeaker(options: AnswerSpeakerOptions): AnswerSpeaker {
  const { speaker, language, rate, onStarted, onFailed, clock = REAL_CLOCK } = options
  const pieces = new SpokenPieces(language === undefined ? {} : { language })
  const queue = new SpeechQueue({
    speaker,
    clock,
    say: { ...(language !== undefined && { language }), ...(rate !== undefined && { rate }) },
    onStarted: (text) => onStarted?.(text),
    onFinished: () => {},
    onFailed: (error) => onFailed?.(error),
  })
  let pause = new AbortController()
  const say = (texts: readonly string[]): void => {
    for (const text of texts) queue.push(text)
  }
  const flushOnPause = async (): Promise<void> => {
    pause.abort()
    const current = new AbortController()
    pause = current
    await clock.wait(PAUSE_MS, current.signal)
    if (!current.signal.aborted && queue.isEmpty) say(pieces.flush())
  }
  return {
    push(text) {
      say(pieces.push(text))
      void flushOnPause()
    },
    finish() {
      pause.abort()
      say(pieces.finish())
      return queue.end()
    },
    stop() {
      pause.abort()
      queue.stop()
    },
  }
}
