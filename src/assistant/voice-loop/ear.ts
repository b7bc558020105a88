/**
 * What the loop does with sound: gate, lead-in, end of what is said, interruptions. Pure: frames in, decisions out, with
 * the time of the samples as its only clock.
 */
import type { GateEvent, VoiceGate } from '../../speech/types.ts'
import { BARGE_IN_DEFAULTS, BargeInDetector, type BargeInSettings } from './barge-in.ts'
import { ENDPOINT_DEFAULTS, type EndpointDecision, Endpointer, type EndpointSettings } from './endpointer.ts'
import { UtteranceBuffer } from './utterance-buffer.ts'

/** Of all samples in the loop. */
export const SAMPLE_RATE = 16_000
const PER_MS = SAMPLE_RATE / 1000
/** Kept from before speech: a gate needs time, and first syllables are soft. Default 700, never less than 600. */
const LEAD_IN_MS = 700
const LEAST_LEAD_IN_MS = 600
/** What comes before an interruption is our own voice. */
const SUSPECT_LEAD_IN_MS = 200
/** Of speech during our own that is kept until it is clear what it is. */
const MAX_ECHO_MS = 5000

export interface EarSettings {
  readonly endpoint?: Partial<EndpointSettings>
  readonly bargeIn?: Partial<BargeInSettings>
  /** Default 700, at least 600. */
  readonly leadInMs?: number
}

/**
 * - `deaf`: what comes in is forgotten.
 * - `listening`: waits for somebody to speak, and for the end of that.
 * - `held`: everything is kept until `endUtterance`, as a button says so.
 * - `thinking`: nothing sounds, but somebody may not have finished.
 * - `speaking`: our own voice sounds.
 */
export type EarPhase = 'deaf' | 'listening' | 'held' | 'thinking' | 'speaking'

export type EarDecision = EndpointDecision | 'speech-began' | 'interruption-suspected'

export interface PlayedSound {
  readonly isPlaying: boolean
  readonly level?: number | undefined
}

export class Ear {
  readonly #gate: VoiceGate
  readonly #endpoint: EndpointSettings
  readonly #sustainedMs: number
  readonly #buffer: UtteranceBuffer
  #phase: EarPhase = 'deaf'
  #endpointer: Endpointer
  readonly #bargeIn: BargeInDetector
  /** Position of the gate's zero. */
  #gateOrigin = 0
  /** Whether the gate is in speech, and since which position. */
  #speechFrom: number | undefined
  /** Where it ended. */
  #speechEnd = 0
  #isSuspecting = false
  #suspectedFrom = 0

  constructor(gate: VoiceGate, { endpoint, bargeIn, leadInMs = LEAD_IN_MS }: EarSettings = {}) {
    this.#gate = gate
    this.#endpoint = { ...ENDPOINT_DEFAULTS, ...endpoint }
    this.#buffer = new UtteranceBuffer(Math.max(LEAST_LEAD_IN_MS, leadInMs) * PER_MS)
    this.#endpointer = new Endpointer(this.#endpoint)
    const settings = { ...BARGE_IN_DEFAULTS, ...bargeIn }
    this.#sustainedMs = settings.sustainedMs
    this.#bargeIn = new BargeInDetector(settings)
  }

  get phase(): EarPhase {
    return this.#phase
  }

  /** Whether the gate hears speech now. */
  get isInSpeech(): boolean {
    return this.#speechFrom !== undefined
  }

  /** Seconds of speech in the utterance, or in what may be an interruption. */
  get speechSeconds(): number {
    if (this.#isSuspecting) {
      const end = this.#speechFrom === undefined ? this.#speechEnd : this.#buffer.position
      return Math.max(0, end - this.#suspectedFrom) / SAMPLE_RATE
    }
    return this.#endpointer.speechMs(this.#nowMs()) / 1000
  }

  /** The utterance from its lead-in up to now. */
  utterance(): Float32Array {
    return this.#buffer.copy()
  }

  /** Forgets everything and turns to a new phase. */
  begin(phase: EarPhase, isAfterQuestion = false): void {
    this.#phase = phase
    this.#buffer.clear()
    if (phase === 'held') this.#buffer.begin(this.#buffer.position)
    this.#gate.reset()
    this.#gateOrigin = this.#buffer.position
    this.#speechFrom = undefined
    this.#startOver(isAfterQuestion)
  }

  /** Listens after our own voice or thoughts; somebody who is speaking already has begun. */
  listen(isAfterQuestion: boolean): EarDecision[] {
    this.#phase = 'listening'
    this.#startOver(isAfterQuestion)
    if (this.#speechFrom === undefined) {
      this.#buffer.end()
      return []
    }
    this.#endpointer.speechStarted(this.#speechFrom / PER_MS)
    return ['speech-began']
  }

  /** The utterance is over, and an answer is being made; who goes on speaking is still heard. */
  think(): void {
    this.#phase = 'thinking'
    // What was said before is known; it must not be heard twice.
    if (this.#speechFrom === undefined) this.#buffer.end()
    else this.#buffer.clear()
    this.#startOver(false)
    if (this.#speechFrom !== undefined) this.#cutSpeech()
  }

  /** The part before is known, and speech goes on. */
  continue(): void {
    this.#buffer.clear()
    this.#startOver(false)
    this.#cutSpeech()
    this.#endpointer.speechStarted(this.#buffer.position / PER_MS)
  }

  /** Our voice sounds. */
  speak(): void {
    this.#phase = 'speaking'
  }

  /** After `interruption-suspected`: what was heard since is an utterance, which may be over already. */
  takeInterruption(): void {
    const from = this.#suspectedFrom
    this.#phase = 'listening'
    this.#startOver(false)
    this.#endpointer.speechStarted(from / PER_MS)
    if (this.#speechFrom === undefined) this.#endpointer.speechEnded(this.#speechEnd / PER_MS)
  }

  /** After `interruption-suspected`: it was none, but our echo or no words. */
  ignoreInterruption(isOurEcho: boolean): void {
    if (isOurEcho) this.#bargeIn.learnSuspected()
    this.#startOver(false)
    if (this.#speechFrom !== undefined) this.#cutSpeech()
    else this.#buffer.end()
  }

  textRecognized(text: string): void {
    this.#endpointer.textRecognized(text)
  }

  push(samples: Float32Array, played: PlayedSound = { isPlaying: false }): EarDecision[] {
    if (this.#phase === 'deaf') return []
    this.#buffer.push(samples)
    const decisions: EarDecision[] = []
    this.#hearGate(this.#gate.push(samples), decisions)
    const { isPlaying, level: playedLevel } = played
    if (this.#phase === 'held') return this.#isFull ? ['utterance-ended'] : []
    if (this.#phase === 'listening') this.#decide(decisions)
    else {
      this.#forgetEcho()
      const isInterrupting = this.#bargeIn.push({
        durationMs: samples.length / PER_MS,
        level: rms(samples),
        isSpeech: this.#speechFrom !== undefined,
        isPlaying,
        playedLevel,
      })
      if (isInterrupting && !this.#isSuspecting) {
        this.#suspect()
        decisions.push('interruption-suspected')
      }
    }
    return decisions
  }

  /** The sound has ended: what was being said is all there is. */
  end(): EarDecision | undefined {
    if (this.#phase === 'held') return this.#endHeld()
    if (this.#phase !== 'listening') return undefined
    this.#hearGate(this.#gate.finish(), [])
    if (!this.#endpointer.hasBegun) return undefined
    this.#endpointer.speechEnded(this.#nowMs())
    return this.#endpointer.speechMs(this.#nowMs()) < this.#endpoint.minSpeechMs
      ? 'utterance-dropped'
      : 'utterance-ended'
  }

  #endHeld(): EarDecision {
    this.#hearGate(this.#gate.finish(), [])
    const heldMs = this.#buffer.length / PER_MS
    return heldMs < this.#endpoint.minSpeechMs ? 'utterance-dropped' : 'utterance-ended'
  }

  #hearGate(events: readonly GateEvent[], decisions: EarDecision[]): void {
    for (const event of events) {
      if (event.type === 'speech-started') this.#hearStart(this.#gateOrigin + event.at, decisions)
      else {
        this.#speechFrom = undefined
        this.#speechEnd = this.#gateOrigin + event.end
        this.#endpointer.speechEnded(this.#speechEnd / PER_MS)
        if (this.#isAnswering && !this.#isSuspecting) this.#buffer.end()
      }
    }
  }

  #hearStart(at: number, decisions: EarDecision[]): void {
    this.#speechFrom = at
    if (this.#isAnswering) {
      if (!this.#isSuspecting) this.#buffer.begin(at)
      return
    }
    if (this.#phase === 'listening' && !this.#endpointer.hasBegun) {
      this.#buffer.begin(at)
      decisions.push('speech-began')
    }
    const decision = this.#endpointer.speechStarted(at / PER_MS)
    if (decision) decisions.push(decision)
  }

  get #isFull(): boolean {
    return this.#buffer.length >= this.#endpoint.maxUtteranceMs * PER_MS
  }

  get #isAnswering(): boolean {
    return this.#phase === 'thinking' || this.#phase === 'speaking'
  }

  /** While our voice sounds, the gate may be in speech for long: a person began as long ago as it took to notice. */
  #suspect(): void {
    this.#isSuspecting = true
    this.#suspectedFrom = this.#speechFrom ?? this.#buffer.position
    if (this.#phase !== 'speaking') return
    const noticed = this.#buffer.position - (this.#sustainedMs + SUSPECT_LEAD_IN_MS / 2) * PER_MS
    this.#suspectedFrom = Math.max(this.#suspectedFrom, noticed)
    this.#buffer.begin(this.#suspectedFrom, SUSPECT_LEAD_IN_MS * PER_MS)
  }

  /** Speech that nobody took for an interruption is our echo, which may go on for minutes. */
  #forgetEcho(): void {
    const isLong =
      this.#speechFrom !== undefined && this.#buffer.position - this.#speechFrom > MAX_ECHO_MS * PER_MS
    if (isLong && !this.#isSuspecting) this.#cutSpeech()
  }

  /** Speech that goes on counts from now. */
  #cutSpeech(): void {
    this.#speechFrom = this.#buffer.position
    this.#buffer.end()
    this.#buffer.begin(this.#buffer.position)
  }

  #decide(decisions: EarDecision[]): void {
    for (;;) {
      const decision = this.#endpointer.advance(this.#nowMs())
      if (decision === undefined) return
      decisions.push(decision)
      if (decision === 'pause-began') continue
      if (decision === 'utterance-dropped') {
        this.#buffer.end()
        this.#startOver(false)
      }
      return
    }
  }

  #startOver(isAfterQuestion: boolean): void {
    this.#endpointer = new Endpointer(this.#endpoint, isAfterQuestion)
    this.#bargeIn.rest()
    this.#isSuspecting = false
  }

  #nowMs(): number {
    return this.#buffer.position / PER_MS
  }
}

function rms(samples: Float32Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return Math.sqrt(sum / Math.max(1, samples.length))
}
