/**
 * When to look: the machine behind the live camera. It is told of frames, answers and the clock, and says what to do. One
 * look at a time, the newest frame wins, a scene that stays is not looked at again. Pure: no camera, no model, no timers.
 */
import { ChangeDetector, type ChangeSettings } from './change-detector.ts'
import { LookTimes, type Pace, type PowerState, paceOf, restAfter } from './look-pace.ts'

export interface LiveLoopSettings extends Partial<ChangeSettings> {
  /** Who walks never holds still: so long after the last look a changed scene is looked at though it moves. Milliseconds. */
  readonly movingLookMs?: number
}

/**
 * - `look`: send this frame to the model, and call `lookEnded`.
 * - `abandon`: the scene has changed before the model said a word; stop that look, its end comes as `abandoned`.
 * - `wait`: nothing.
 */
export type FrameDecision = 'look' | 'abandon' | 'wait'

export type LookOutcome = 'answered' | 'failed' | 'abandoned'

export interface LiveStatus {
  readonly isLooking: boolean
  /** How much of the last minute the model was at work, 0 to 1. */
  readonly busyShare: number
  readonly pace: Pace
  /** What a look takes; 0 before the first. Milliseconds. */
  readonly typicalLookMs: number
  /** Looks that failed in a row. */
  readonly failures: number
}

const MOVING_LOOK_MS = 2500
const MINUTE_MS = 60_000
/** After a failure it is tried again later and later. */
const FAILURE_REST_MS = [1000, 3000, 10_000]

interface Look {
  readonly from: number
  hasText: boolean
  isAbandoned: boolean
}

export class LiveLoop {
  readonly #detector: ChangeDetector
  readonly #movingLookMs: number
  readonly #times = new LookTimes()
  #power: PowerState = {}
  #look: Look | undefined
  #restUntil = Number.NEGATIVE_INFINITY
  #changedSince: number | undefined
  /** Looks of the last minute. */
  #past: { readonly from: number; readonly to: number }[] = []
  #isPreviousAbandoned = false
  #failures = 0

  constructor({ movingLookMs = MOVING_LOOK_MS, ...change }: LiveLoopSettings = {}) {
    this.#detector = new ChangeDetector(change)
    this.#movingLookMs = movingLookMs
  }

  /** A frame of the camera. @param cells See `ChangeDetector`. @param at Milliseconds from any beginning. */
  frame(cells: Uint8Array, at: number): FrameDecision {
    const { isChanged, isStable } = this.#detector.push(cells, at)
    if (isChanged) this.#changedSince ??= at
    // A restless scene that passes by what was seen is still restless.
    else if (isStable) this.#changedSince = undefined
    if (!isChanged) return 'wait'
    const isWorthIt = isStable || at - (this.#changedSince ?? at) >= this.#movingLookMs
    if (!isWorthIt) return 'wait'
    if (this.#look) return this.#abandon(isStable)
    if (at < this.#restUntil) return 'wait'
    this.#look = { from: at, hasText: false, isAbandoned: false }
    this.#detector.markSeen()
    this.#changedSince = undefined
    return 'look'
  }

  /** The model has said a word: this look is not given up any more. */
  textCame(): void {
    if (this.#look) this.#look.hasText = true
  }

  lookEnded(outcome: LookOutcome, at: number): void {
    const look = this.#look
    if (!look) return
    this.#look = undefined
    const tookMs = at - look.from
    this.#past.push({ from: look.from, to: at })
    this.#isPreviousAbandoned = outcome === 'abandoned'
    if (outcome === 'failed') {
      this.#restUntil = at + (FAILURE_REST_MS[this.#failures++] ?? FAILURE_REST_MS.at(-1) ?? 0)
      // What was not answered was not seen.
      this.#detector.forget()
      return
    }
    if (outcome === 'answered') {
      this.#failures = 0
      this.#times.add(tookMs)
    }
    // A look that was given up has used its time, but what it waited for is on the screen now.
    this.#restUntil = outcome === 'abandoned' ? look.from + 1000 : at + restAfter(tookMs, this.#pace)
  }

  /** Somebody asked something: looks wait while it is answered. */
  restUntil(at: number): void {
    this.#restUntil = Math.max(this.#restUntil, at)
  }

  /** Looks go on at this time, whatever was said before. */
  resumeAt(at: number): void {
    this.#restUntil = at
  }

  setPower(power: PowerState): void {
    this.#power = power
  }

  /** The next stable scene is looked at, whether it changed or not: after a pause, another mode, another model. */
  forget(): void {
    this.#detector.forget()
    this.#changedSince = undefined
    this.#failures = 0
    this.#restUntil = Number.NEGATIVE_INFINITY
  }

  /** Another model takes another time. */
  forgetTimes(): void {
    this.#times.reset()
  }

  status(at: number): LiveStatus {
    this.#past = this.#past.filter(({ to }) => to > at - MINUTE_MS)
    const looks = this.#look ? [...this.#past, { from: this.#look.from, to: at }] : this.#past
    const busyMs = looks.reduce((sum, { from, to }) => sum + to - Math.max(from, at - MINUTE_MS), 0)
    return {
      isLooking: this.#look !== undefined,
      busyShare: busyMs / MINUTE_MS,
      pace: this.#pace,
      typicalLookMs: this.#times.typicalMs,
      failures: this.#failures,
    }
  }

  get #pace(): Pace {
    return paceOf(this.#power, this.#times.slowdown)
  }

  /** Never twice in a row, or a restless scene would never be told. */
  #abandon(isStable: boolean): FrameDecision {
    const look = this.#look
    if (!look || look.hasText || look.isAbandoned || this.#isPreviousAbandoned || !isStable) return 'wait'
    look.isAbandoned = true
    return 'abandon'
  }
}
