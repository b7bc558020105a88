/** How fast bytes come, judged by the last seconds: the average since the start hides that a line has become slow. */

const WINDOW_MS = 10_000
/** The first second tells nothing. */
const LEAST_MS = 1000
/** Between samples, so that many small pieces do not make a long list. */
const SAMPLE_MS = 200

export interface Transfer {
  /** Undefined at the beginning. */
  readonly bytesPerSecond: number | undefined
  /** Undefined while nothing comes. */
  readonly secondsLeft: number | undefined
}

export class TransferMeter {
  readonly #now: () => number
  readonly #samples: { readonly at: number; readonly bytes: number }[] = []

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** @param bytes In all so far; may become less when a file is begun anew. */
  measure(bytes: number, totalBytes: number): Transfer {
    const at = this.#now()
    const last = this.#samples.at(-1)
    if (last !== undefined && bytes < last.bytes) this.#samples.length = 0
    if (last === undefined || at - last.at >= SAMPLE_MS) this.#samples.push({ at, bytes })
    while (this.#samples.length > 2 && at - (this.#samples[1]?.at ?? at) >= WINDOW_MS) this.#samples.shift()
    const first = this.#samples[0] ?? { at, bytes }
    const elapsed = at - first.at
    if (elapsed < LEAST_MS) return { bytesPerSecond: undefined, secondsLeft: undefined }
    const bytesPerSecond = ((bytes - first.bytes) / elapsed) * 1000
    const secondsLeft = bytesPerSecond > 0 ? Math.max(0, totalBytes - bytes) / bytesPerSecond : undefined
    return { bytesPerSecond, secondsLeft }
  }
}
