/**
 * How often the model may look, so that a phone in the hand stays cool and lasts: at most once a second, and never more of
 * the time than the battery, the heat and the charger allow. Pure.
 */

export interface PowerState {
  /** 0 to 1; undefined where the browser does not say. */
  readonly batteryLevel?: number | undefined
  readonly isCharging?: boolean | undefined
  /** As Compute Pressure says it; undefined where the browser does not. */
  readonly pressure?: 'nominal' | 'fair' | 'serious' | 'critical' | undefined
}

export type PaceReason = 'full' | 'battery' | 'low-battery' | 'warm' | 'hot'

export interface Pace {
  /** Most of the time that may be spent looking, 0 to 1. */
  readonly duty: number
  readonly reason: PaceReason
}

/** Shares of the time. A third on a low battery still tells within seconds on a phone that answers in one. */
const DUTY: Readonly<Record<PaceReason, number>> = {
  full: 0.8,
  battery: 0.6,
  'low-battery': 0.33,
  warm: 0.4,
  hot: 0.2,
}

/** Milliseconds between the beginnings of two looks, however fast the model is: more cannot be listened to. */
export const LEAST_INTERVAL_MS = 1000
/** Longest pause between looks; after it somebody who walks would not trust it. */
const LONGEST_REST_MS = 15_000
/** From here on a battery is low. */
const LOW_BATTERY = 0.2
/** Looks that take so many times the fastest ones are a device that slows down by itself: it is warm. */
const WARM_SLOWDOWN = 1.7
const HOT_SLOWDOWN = 2.8
/** Looks that are compared. */
const KEPT_LOOKS = 8
const LEAST_LOOKS = 4

export function paceOf(power: PowerState, slowdown: number): Pace {
  const reason = reasonOf(power, slowdown)
  return { duty: DUTY[reason], reason }
}

function reasonOf({ batteryLevel, isCharging, pressure }: PowerState, slowdown: number): PaceReason {
  if (pressure === 'critical' || slowdown >= HOT_SLOWDOWN) return 'hot'
  if (pressure === 'serious' || slowdown >= WARM_SLOWDOWN) return 'warm'
  if (isCharging !== false) return 'full'
  return batteryLevel !== undefined && batteryLevel <= LOW_BATTERY ? 'low-battery' : 'battery'
}

/** Milliseconds from the end of a look to the beginning of the next. */
export function restAfter(lookMs: number, { duty }: Pace): number {
  const rest = Math.max(LEAST_INTERVAL_MS - lookMs, lookMs * (1 / duty - 1))
  return Math.min(LONGEST_REST_MS, rest)
}

/** Remembers how long looks took, to tell a device that slows down from a model that is slow. */
export class LookTimes {
  #fastest = Number.POSITIVE_INFINITY
  #recent: number[] = []

  add(lookMs: number): void {
    this.#recent.push(lookMs)
    if (this.#recent.length > KEPT_LOOKS) this.#recent.shift()
    // The median of some, as a single quick look may have said one word.
    if (this.#recent.length >= LEAST_LOOKS) this.#fastest = Math.min(this.#fastest, this.typicalMs)
  }

  /** Median of the last looks; 0 before the first. */
  get typicalMs(): number {
    const sorted = [...this.#recent].sort((a, b) => a - b)
    return sorted[Math.floor(sorted.length / 2)] ?? 0
  }

  /** How many times longer looks take than they did at their best; 1 while little is known. */
  get slowdown(): number {
    return Number.isFinite(this.#fastest) && this.#fastest > 0 ? this.typicalMs / this.#fastest : 1
  }

  /** Another model or another question is another time. */
  reset(): void {
    this.#fastest = Number.POSITIVE_INFINITY
    this.#recent = []
  }
}
