/**
 * The texts that wait for the live regions. Screen readers lose texts that come at the same moment and read on for minutes
 * where many are queued, so there is a pause between two and what is out of date is taken back.
 */
import type { Clock } from './clock.ts'

export interface RegionText {
  readonly text: string
  readonly priority: 'polite' | 'assertive'
  /** Of the text, where that is not the page's. */
  readonly language?: string | undefined
  /** Who said it: texts of the same source can be taken back together. */
  readonly source: unknown
}

/** Shortest time between two texts: shorter ones are lost by screen readers. */
export const SPACING_MS = 400

/** After this much silence the regions are emptied, so that nobody who reads through the page finds them. */
export const CLEAR_AFTER_MS = 5_000

export interface RegionQueuePorts {
  readonly clock: Clock
  readonly write: (text: RegionText) => void
  readonly clear: () => void
}

export class RegionQueue {
  readonly #ports: RegionQueuePorts
  #waiting: RegionText[] = []
  #lastWritten = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined

  constructor(ports: RegionQueuePorts) {
    this.#ports = ports
  }

  /** Assertive texts go before polite ones. */
  add(text: RegionText): void {
    const place = text.priority === 'polite' ? -1 : this.#waiting.findIndex((it) => it.priority === 'polite')
    if (place < 0) this.#waiting.push(text)
    else this.#waiting.splice(place, 0, text)
    this.#schedule()
  }

  /** Takes back what waits and `isOutdated`. @returns What was taken back, in order. */
  remove(isOutdated: (text: RegionText) => boolean): RegionText[] {
    const removed = this.#waiting.filter(isOutdated)
    this.#waiting = this.#waiting.filter((text) => !isOutdated(text))
    return removed
  }

  /** Keeps only the newest `count` texts of `source` that wait. */
  keepNewest(source: unknown, count: number): void {
    const outdated = this.#waiting.filter((text) => text.source === source).slice(0, -count)
    this.remove((text) => outdated.includes(text))
  }

  #schedule(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const { clock, write, clear } = this.#ports
    const wait = this.#lastWritten + SPACING_MS - clock.now()
    if (this.#waiting.length > 0 && wait > 0) {
      this.#cancelTimer = clock.after(wait, () => this.#schedule())
      return
    }
    const next = this.#waiting.shift()
    if (next) {
      this.#lastWritten = clock.now()
      write(next)
    }
    this.#cancelTimer =
      this.#waiting.length > 0
        ? clock.after(SPACING_MS, () => this.#schedule())
        : clock.after(CLEAR_AFTER_MS, clear)
  }
}
