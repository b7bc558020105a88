/** How far a download is, from what the hub tells of it. */
import type { PullEvent } from 'onsight/hub'

export interface DownloadProgress {
  /**
   * `asking`: the hub is asked what there is. `fetching`. `waiting`: the connection was lost, it is tried again soon.
   * `checking`: everything is here and is compared with its hashes.
   */
  readonly phase: 'asking' | 'fetching' | 'waiting' | 'checking'
  readonly receivedBytes: number
  /** 0 while it is not known. */
  readonly totalBytes: number
  /** Over the last seconds; undefined until that can be told. */
  readonly bytesPerSecond: number | undefined
  readonly secondsLeft: number | undefined
}

/** Long enough for a steady number, short enough to follow a change of the connection. */
const WINDOW_MS = 8000
/** A speed from less would jump. */
const MIN_SPAN_MS = 1000

interface Sample {
  readonly at: number
  readonly bytes: number
}

export class DownloadMeter {
  readonly #now: () => number
  readonly #received = new Map<string, number>()
  readonly #sizes = new Map<string, number | undefined>()
  readonly #verified = new Set<string>()
  #samples: Sample[] = []
  #phase: DownloadProgress['phase'] = 'asking'
  #totalBytes = 0

  /** @param now Milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  receive(event: PullEvent): void {
    switch (event.type) {
      case 'plan-made':
        this.#totalBytes = event.totalBytes
        for (const { name, byteLength, keptBytes } of event.files) {
          this.#sizes.set(name, byteLength)
          this.#received.set(name, keptBytes)
        }
        this.#phase = 'fetching'
        this.#startAnew()
        break
      case 'file-started':
        this.#received.set(event.file, event.fromByte)
        this.#phase = 'fetching'
        break
      case 'bytes-received':
        this.#received.set(event.file, event.receivedBytes)
        this.#phase = this.#isAllReceived() ? 'checking' : 'fetching'
        break
      case 'file-restarted':
        this.#received.set(event.file, 0)
        this.#startAnew()
        break
      case 'retry-scheduled':
        this.#phase = 'waiting'
        this.#startAnew()
        break
      case 'file-verified':
        this.#verified.add(event.file)
        this.#received.set(event.file, this.#sizes.get(event.file) ?? this.#received.get(event.file) ?? 0)
        this.#phase = this.#isAllReceived() ? 'checking' : 'fetching'
        break
    }
    this.#sample()
  }

  get progress(): DownloadProgress {
    const receivedBytes = this.#receivedBytes()
    const bytesPerSecond = this.#phase === 'fetching' ? this.#speed() : undefined
    const left = Math.max(0, this.#totalBytes - receivedBytes)
    return {
      phase: this.#phase,
      receivedBytes,
      totalBytes: this.#totalBytes,
      bytesPerSecond,
      secondsLeft: bytesPerSecond && this.#totalBytes > 0 ? left / bytesPerSecond : undefined,
    }
  }

  #receivedBytes(): number {
    return [...this.#received.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  #isAllReceived(): boolean {
    return [...this.#sizes].every(([name, size]) =>
      size === undefined ? this.#verified.has(name) : (this.#received.get(name) ?? 0) >= size,
    )
  }

  #startAnew(): void {
    this.#samples = []
  }

  #sample(): void {
    const at = this.#now()
    this.#samples.push({ at, bytes: this.#receivedBytes() })
    this.#samples = this.#samples.filter((sample) => at - sample.at <= WINDOW_MS)
  }

  #speed(): number | undefined {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (!first || !last || last.at - first.at < MIN_SPAN_MS) return undefined
    const speed = ((last.bytes - first.bytes) / (last.at - first.at)) * 1000
    return speed > 0 ? speed : undefined
  }
}
