/**
 * When somebody has finished speaking. Pure: it is told what the gate hears and what was recognised, and the time of the
 * sound itself, in milliseconds of samples.
 */
import { isOpenEnded } from './open-ending.ts'

export interface EndpointSettings {
  /** Silence that ends what somebody says, once it is known what that is. Default 600. */
  readonly silenceMs: number
  /** Silence after words that want to be followed, or where nothing was recognised yet. Default 1200. */
  readonly openEndedMs: number
  /** Least silence after a question of ours: answers take thought. Default 1200. */
  readonly afterQuestionMs: number
  /** Silence after which recognition begins; it is thrown away if speech goes on. Default 200. */
  readonly earlyMs: number
  /** Longest utterance in one piece: what Whisper hears, a little less. Who speaks longer is heard in parts. Default 28 000. */
  readonly maxUtteranceMs: number
  /** Shorter sounds are no speech. Default 150. */
  readonly minSpeechMs: number
}

export const ENDPOINT_DEFAULTS: EndpointSettings = {
  silenceMs: 600,
  openEndedMs: 1200,
  afterQuestionMs: 1200,
  earlyMs: 200,
  maxUtteranceMs: 28_000,
  minSpeechMs: 150,
}

export type EndpointDecision =
  /** Enough silence to recognise what was said so far. */
  | 'pause-began'
  /** Speech goes on after `pause-began`. */
  | 'speech-resumed'
  | 'utterance-ended'
  /** It is as long as it may be, and speech goes on. */
  | 'utterance-full'
  /** Too short to be speech. */
  | 'utterance-dropped'

export class Endpointer {
  readonly #settings: EndpointSettings
  readonly #isAfterQuestion: boolean
  /** When speech of the utterance began; undefined before. */
  #startMs: number | undefined
  /** When the stretch of speech that is heard now began; undefined in silence. */
  #speechMs: number | undefined
  #silentMs = 0
  /** Speech of earlier stretches. */
  #spokenMs = 0
  #hasAnnouncedPause = false
  #text: string | undefined

  constructor(settings: EndpointSettings, isAfterQuestion = false) {
    this.#settings = settings
    this.#isAfterQuestion = isAfterQuestion
  }

  get isInSpeech(): boolean {
    return this.#speechMs !== undefined
  }

  get hasBegun(): boolean {
    return this.#startMs !== undefined
  }

  /** Speech so far, silences left out. */
  speechMs(nowMs: number): number {
    return this.#spokenMs + (this.#speechMs === undefined ? 0 : nowMs - this.#speechMs)
  }

  speechStarted(atMs: number): EndpointDecision | undefined {
    this.#startMs ??= atMs
    this.#speechMs ??= atMs
    if (!this.#hasAnnouncedPause) return undefined
    this.#hasAnnouncedPause = false
    this.#text = undefined
    return 'speech-resumed'
  }

  speechEnded(atMs: number): void {
    if (this.#speechMs === undefined) return
    this.#spokenMs += Math.max(0, atMs - this.#speechMs)
    this.#speechMs = undefined
    this.#silentMs = atMs
  }

  /** What was recognised after `pause-began`. */
  textRecognized(text: string): void {
    if (this.#hasAnnouncedPause) this.#text = text
  }

  /** At most one decision at a time; call again as time passes. */
  advance(nowMs: number): EndpointDecision | undefined {
    if (this.#startMs === undefined) return undefined
    const { earlyMs, minSpeechMs, maxUtteranceMs } = this.#settings
    const isFull = nowMs - this.#startMs >= maxUtteranceMs
    if (this.#speechMs !== undefined) return isFull ? 'utterance-full' : undefined
    const silence = nowMs - this.#silentMs
    if (silence < earlyMs) return undefined
    if (this.#spokenMs < minSpeechMs) return 'utterance-dropped'
    if (!this.#hasAnnouncedPause) {
      this.#hasAnnouncedPause = true
      return 'pause-began'
    }
    return isFull || silence >= this.#neededSilence() ? 'utterance-ended' : undefined
  }

  #neededSilence(): number {
    const { silenceMs, openEndedMs, afterQuestionMs } = this.#settings
    const isOpen = this.#text === undefined || isOpenEnded(this.#text)
    const needed = isOpen ? Math.max(silenceMs, openEndedMs) : silenceMs
    return this.#isAfterQuestion ? Math.max(needed, afterQuestionMs) : needed
  }
}
