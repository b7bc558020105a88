/** What users of the conversation loop see. */
import type { LanguageTag, Microphone, Recognizer, Speaker, VoiceGate } from '../../speech/types.ts'
import type { BargeInSettings } from './barge-in.ts'
import type { Clock } from './clock.ts'
import type { EndpointSettings } from './endpointer.ts'

/**
 * - `half-duplex`: listens by itself, but not while it speaks. For loudspeakers.
 * - `full-duplex`: listens always; who speaks interrupts. For headphones, or where echo is known to be cancelled.
 * - `push-to-talk`: listens between `press` and `release` only.
 */
export type LoopMode = 'half-duplex' | 'full-duplex' | 'push-to-talk'

/** What the loop does, as told to people who cannot see it. `idle` waits for `press`; nothing is heard. */
export type LoopState = 'idle' | 'listening' | 'thinking' | 'speaking'

/** Where something went wrong. */
export type LoopStage = 'microphone' | 'recognition' | 'answer' | 'speech'

export type LoopEvent =
  /** `listening` comes when sound arrives, `speaking` when it sounds, and both end when they do. */
  | { readonly type: 'state-changed'; readonly state: LoopState }
  | { readonly type: 'microphone-opened'; readonly name: string }
  | { readonly type: 'microphone-closed'; readonly name: string }
  /** Somebody began to speak: half a second or more before anything is asked. */
  | { readonly type: 'speech-started' }
  /** Words so far; may change. */
  | { readonly type: 'partial-changed'; readonly text: string }
  /**
   * Nothing came of what was heard: too short, no words in it, or our own voice.
   */
  | { readonly type: 'speech-ignored'; readonly reason: 'noise' | 'no-words' | 'echo'; readonly text: string }
  | {
      readonly type: 'question-heard'
      readonly text: string
      readonly language: LanguageTag
      /** From the decision that somebody has finished to their words. */
      readonly recognitionMs: number
    }
  | { readonly type: 'text-delta'; readonly text: string }
  /** A piece of the answer, as it is said: for live regions of screen readers. */
  | { readonly type: 'sentence-ready'; readonly text: string }
  | { readonly type: 'sentence-started'; readonly text: string }
  | { readonly type: 'sentence-finished'; readonly text: string }
  | LoopAnswerFinished
  | { readonly type: 'failure-occurred'; readonly stage: LoopStage; readonly error: unknown }

/** The answer was made and said, as far as it was. */
export interface LoopAnswerFinished {
  readonly type: 'answer-finished'
  readonly question: string
  /** What was generated. */
  readonly text: string
  /** What of it was said to the end, sentence by sentence; all of `text` where nothing interrupted. */
  readonly spokenText: string
  readonly isInterrupted: boolean
  /** From the decision that the person has finished. Undefined where it did not come to that. */
  readonly firstTextMs?: number
  readonly firstSoundMs?: number
}

/** Who answers. */
export interface Answerer {
  /** Streams the answer; ends soon after `signal` is aborted. */
  answer(question: string, signal: AbortSignal): AsyncIterable<string>
  /**
   * The last answer was interrupted: only `heard`, its beginning, is part of the conversation. Empty: the question was
   * taken back, as the person goes on with it.
   */
  interrupted?(heard: string): void | Promise<void>
}

export type EarconKind = 'heard' | 'failed'

export interface ConversationLoopOptions {
  /** A device, or 16 kHz mono samples of a recording. */
  readonly microphone: Microphone | AsyncIterable<Float32Array>
  readonly gate: VoiceGate
  readonly recognizer: Recognizer
  readonly answer: Answerer | Answerer['answer']
  /** Left out, nothing is said: the answer is read elsewhere, for example by a screen reader. */
  readonly speaker?: Speaker
  /** Default `half-duplex`. */
  readonly mode?: LoopMode
  /** Of the person. Default `auto`. */
  readonly language?: LanguageTag
  /** Pace of the voice; 1 is its own. */
  readonly rate?: number
  /** Plays a short sound; called when the loop has heard a question, and when something failed. */
  readonly earcon?: (kind: EarconKind) => void
  readonly endpoint?: Partial<EndpointSettings>
  readonly bargeIn?: Partial<BargeInSettings>
  /** Milliseconds kept from before speech. Default 700, at least 600. */
  readonly leadInMs?: number
  /** Milliseconds of speech between `partial-changed` events. Default 0: none. */
  readonly partialsEveryMs?: number
  /**
   * False closes the device while it is not listened to, in half-duplex while we speak. True where opening takes long, as
   * with Bluetooth. Default false.
   */
  readonly keepsMicrophoneOpen?: boolean
  /** How long a stage may give no sign of life. Default 30 000 for recognition, 120 000 for the answer. */
  readonly timeouts?: { readonly recognitionMs?: number; readonly answerMs?: number }
  readonly clock?: Clock
}

/** A conversation by voice. */
export interface ConversationLoop {
  readonly state: LoopState
  /**
   * Begins, and tells what happens until `dispose` or until the sound is over. Can be called once.
   *
   * @throws EngineError `audio/not-allowed` when the person refused, `audio/microphone-gone` when the device cannot be
   * opened again.
   */
  run(): AsyncIterableIterator<LoopEvent>
  /** Push-to-talk: somebody begins to speak; what is being said is stopped. */
  press(): void
  /** Push-to-talk: they have finished. */
  release(): void
  /** Silent within 200 ms: nothing that waits is said, and the answer ends at the last sentence that was heard. */
  interrupt(): void
  /** A question that was typed. */
  ask(question: string): void
  /** Closes the microphone and ends everything. What was given to the loop stays open. Safe to call twice. */
  dispose(): Promise<void>
}
