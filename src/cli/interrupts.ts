/** Ctrl-C and termination: the first asks the command to stop, what follows is up to `main`. */
import { createAbortError } from '../shared/abort.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'

export type InterruptName = 'SIGINT' | 'SIGTERM'

const EXIT_CODES: Readonly<Record<InterruptName, ExitCode>> = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
}

/** Time to print what there is and to end workers; whoever does not manage by then is left behind. */
const GRACE_MS = 2000

export class Interrupts {
  readonly #controller = new AbortController()
  #exitCode: ExitCode | undefined
  #graceMs = GRACE_MS

  /** Aborted by the first interrupt. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What to exit with; undefined as long as nothing interrupted. */
  get exitCode(): ExitCode | undefined {
    return this.#exitCode
  }

  /** How long the command may take to end after an interrupt. */
  get graceMs(): number {
    return this.#graceMs
  }

  /** For commands that finish something first, for `ms` at most. */
  allowGrace(ms: number): void {
    this.#graceMs = GRACE_MS + ms
  }

  raise(name: InterruptName): void {
    this.#exitCode ??= EXIT_CODES[name]
    this.#controller.abort()
  }
}

/** Settles as `promise` does, or rejects with an `AbortError` as soon as `signal` is aborted. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(createAbortError())
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    if (signal.aborted) onAbort()
  })
}
