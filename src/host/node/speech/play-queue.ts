/** Clips that wait to be played, one after the other: what all players of Node have in common. */
import { createAbortError } from '../../../shared/abort.ts'
import type { AudioClip, AudioPlayer } from '../../../speech/types.ts'

export type PlayOptions = NonNullable<Parameters<AudioPlayer['play']>[1]>

/** One clip, from `play` to its end. */
export class QueuedClip {
  readonly clip: AudioClip
  readonly done: Promise<void>
  readonly #onStarted: (() => void) | undefined
  readonly #signal: AbortSignal | undefined
  #resolve: () => void = () => {}
  #reject: (error: unknown) => void = () => {}
  readonly #onAbort: () => void
  #state: 'waiting' | 'started' | 'over' = 'waiting'

  /** @param onAbort Called once when the clip was to be played or was being played. */
  constructor(clip: AudioClip, { signal, onStarted }: PlayOptions, onAbort: (clip: QueuedClip) => void) {
    this.clip = clip
    this.#signal = signal
    this.#onStarted = onStarted
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#onAbort = () => {
      if (this.fail(createAbortError())) onAbort(this)
    }
    signal?.addEventListener('abort', this.#onAbort)
    if (signal?.aborted) this.fail(createAbortError())
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  start(): void {
    if (this.#state !== 'waiting') return
    this.#state = 'started'
    this.#onStarted?.()
  }

  finish(): void {
    if (this.#end()) this.#resolve()
  }

  /** @returns Whether it had not ended before. */
  fail(error: unknown): boolean {
    const isFirst = this.#end()
    if (isFirst) this.#reject(error)
    return isFirst
  }

  #end(): boolean {
    if (this.#state === 'over') return false
    this.#state = 'over'
    this.#signal?.removeEventListener('abort', this.#onAbort)
    return true
  }
}

/** RMS around a place of a clip. */
export function levelAt({ samples, sampleRate }: AudioClip, seconds: number): number {
  const center = Math.round(seconds * sampleRate)
  const half = Math.round(LEVEL_SECONDS * sampleRate * 0.5)
  const part = samples.subarray(Math.max(0, center - half), Math.max(0, center + half))
  if (part.length === 0) return 0
  let sum = 0
  for (const sample of part) sum += sample * sample
  return Math.sqrt(sum / part.length)
}

const LEVEL_SECONDS = 0.05
