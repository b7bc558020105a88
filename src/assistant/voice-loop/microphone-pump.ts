/** Keeps a microphone open while it is wanted: opens, closes, opens again after it was gone. */
import { EngineError } from '../../shared/errors.ts'
import type { Microphone } from '../../speech/types.ts'
import { type Clock, within } from './clock.ts'

export interface PumpOptions {
  readonly microphone: Microphone
  readonly clock: Clock
  /** The first sound since it was opened. */
  readonly onOpened: () => void
  readonly onClosed: () => void
  /** Resolves when the next samples may come; of interest to recordings only. */
  readonly onSamples: (samples: Float32Array) => Promise<void> | undefined
  /** It went away and will be tried again. */
  readonly onGone: (error: unknown) => void
}

/** A device that gives nothing for so long is gone, whatever it says. */
const SILENT_DEVICE_MS = 5000
/** Pauses before it is opened again. */
const RETRY_MS = [500, 1000, 2000]

export class MicrophonePump {
  readonly #options: PumpOptions
  readonly #over = new AbortController()
  #closing: AbortController | undefined
  #isWanted = false
  #isOpen = false
  #wake: (() => void) | undefined
  #failures = 0

  constructor(options: PumpOptions) {
    this.#options = options
  }

  /** Whether sound is coming in. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  open(): void {
    this.#isWanted = true
    this.#wake?.()
  }

  close(): void {
    this.#isWanted = false
    this.#closing?.abort()
  }

  stop(): void {
    this.#over.abort()
    this.#closing?.abort()
    this.#wake?.()
  }

  /**
   * Until a recording is over, or `stop`.
   *
   * @throws EngineError `audio/microphone-gone` when the device does not come back, `audio/not-allowed` when the person
   * refused: asking again would not change their mind.
   */
  async run(): Promise<void> {
    const { microphone, clock, onGone } = this.#options
    while (!this.#over.signal.aborted) {
      if (!this.#isWanted) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      const end = await this.#hear()
      if (end.isClosed) continue
      if (microphone.kind !== 'device' && end.cause === undefined) return
      if (EngineError.isInstance(end.cause) && end.cause.code === 'audio/not-allowed') throw end.cause
      const pause = RETRY_MS[this.#failures++]
      const error = goneError(microphone.name, end.cause)
      if (pause === undefined || microphone.kind !== 'device') throw error
      onGone(error)
      await clock.wait(pause, this.#over.signal)
    }
  }

  /** Until it is closed, or until it ends by itself. */
  async #hear(): Promise<{ readonly isClosed: boolean; readonly cause?: unknown }> {
    const { microphone, onOpened, onClosed, onSamples } = this.#options
    const closing = new AbortController()
    this.#closing = closing
    let cause: unknown
    try {
      const samples = microphone.open(closing.signal)[Symbol.asyncIterator]()
      for (;;) {
        const next = await this.#next(samples, closing.signal)
        if (closing.signal.aborted || next.done) break
        if (!this.#isOpen) {
          this.#isOpen = true
          onOpened()
        }
        this.#failures = 0
        await onSamples(next.value)
      }
    } catch (error) {
      cause = error
    }
    const isClosed = closing.signal.aborted
    // Whatever is left of it is let go.
    closing.abort()
    this.#closing = undefined
    if (this.#isOpen) onClosed()
    this.#isOpen = false
    return isClosed || cause === undefined ? { isClosed } : { isClosed, cause }
  }

  #next(samples: AsyncIterator<Float32Array>, signal: AbortSignal): Promise<IteratorResult<Float32Array>> {
    const { clock, microphone } = this.#options
    if (microphone.kind !== 'device') return samples.next()
    return within(clock, SILENT_DEVICE_MS, samples.next(), () => new Error('it gave no sound'), signal)
  }
}

function goneError(name: string, cause: unknown): EngineError {
  return new EngineError('audio/microphone-gone', {
    message: `The microphone ${name} is gone${cause instanceof Error ? `: ${cause.message}` : ''}.`,
    hint: 'Plug it in, or choose another one; it is opened again by itself for a few seconds.',
    ...(cause !== undefined && { cause }),
  })
}
