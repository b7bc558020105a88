import type { GateEvent } from '../types.ts'

/** How probabilities become segments: two thresholds, so that a value between them changes nothing. */
export interface SegmenterSettings {
  /** Probability from which on it is speech. Default 0.5. */
  readonly startThreshold?: number
  /** Probability below which it may be over. Default 0.35. */
  readonly endThreshold?: number
  /** Speech of less than this is none: a click, a cough. Default 96 ms, three steps. */
  readonly minSpeechMs?: number
  /** How long it must be quiet for a segment to end. Default 96 ms, three steps. */
  readonly endSilenceMs?: number
}

const SAMPLES_PER_MS = 16

/** Turns the probabilities of steps, in order and without gaps while a segment is open, into the events of a gate. */
export class SpeechSegmenter {
  readonly #startThreshold: number
  readonly #endThreshold: number
  readonly #minSpeech: number
  readonly #endSilence: number
  /** Where what may be speech began. */
  #start: number | undefined
  #quietSince: number | undefined
  #isSpeech = false

  constructor({
    startThreshold = 0.5,
    endThreshold = 0.35,
    minSpeechMs = 96,
    endSilenceMs = 96,
  }: SegmenterSettings = {}) {
    this.#startThreshold = startThreshold
    this.#endThreshold = endThreshold
    this.#minSpeech = minSpeechMs * SAMPLES_PER_MS
    this.#endSilence = endSilenceMs * SAMPLES_PER_MS
  }

  /** True from the first loud step on until the segment has ended or turned out to be none. */
  get isOpen(): boolean {
    return this.#start !== undefined
  }

  /** `from` and `to`: the samples of the step. */
  push(probability: number, from: number, to: number): GateEvent | undefined {
    if (probability >= this.#startThreshold) {
      this.#start ??= from
      this.#quietSince = undefined
    } else if (this.#start === undefined) {
      return undefined
    } else if (probability < this.#endThreshold) {
      this.#quietSince ??= from
      if (!this.#isSpeech) this.#start = undefined
      else if (to - this.#quietSince >= this.#endSilence) return this.finish(this.#quietSince)
    }
    if (this.#isSpeech || this.#start === undefined || to - this.#start < this.#minSpeech) return undefined
    this.#isSpeech = true
    return { type: 'speech-started', at: this.#start }
  }

  /** Ends the segment that is open, if any, at sample `end`. */
  finish(end: number): GateEvent | undefined {
    const start = this.#start
    const wasSpeech = this.#isSpeech
    this.reset()
    return wasSpeech && start !== undefined ? { type: 'speech-ended', start, end } : undefined
  }

  reset(): void {
    this.#start = undefined
    this.#quietSince = undefined
    this.#isSpeech = false
  }
}
