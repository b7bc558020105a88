/**
 * Models that do not fit into memory together, one after the other: who is used is there, others go when room is needed,
 * the longest unused first, and come back when they are used again. Knows nothing of what they are.
 */
import { throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'

export interface TurnPart<Value> {
  /** What it will take, before it was there for the first time. */
  readonly estimatedBytes: number
  load(signal: AbortSignal | undefined): Promise<LoadedPart<Value>>
}

export interface LoadedPart<Value> {
  readonly value: Value
  /** Bytes it takes now. */
  readonly bytes: () => number
  /** Gives everything back; what must be kept is put aside first. */
  release(): Promise<void>
}

/** One part came or went. */
export interface Swap {
  readonly part: string
  readonly kind: 'loaded' | 'released'
  readonly ms: number
  readonly bytes: number
}

interface Resident {
  readonly loaded: LoadedPart<unknown>
  users: number
  lastUsed: number
}

export class ModelTurns<Parts extends Readonly<Record<string, TurnPart<unknown>>>> {
  readonly #parts: Parts
  readonly #limitBytes: number
  readonly #onSwap: (swap: Swap) => void
  readonly #resident = new Map<string, Resident>()
  readonly #knownBytes = new Map<string, number>()
  /** Comings and goings happen one after the other. */
  #moving: Promise<unknown> = Promise.resolve()
  #waiting: (() => void)[] = []
  #clock = 0
  #peakBytes = 0
  #isDisposed = false

  constructor(parts: Parts, limitBytes: number, onSwap: (swap: Swap) => void = () => {}) {
    this.#parts = parts
    this.#limitBytes = limitBytes
    this.#onSwap = onSwap
    for (const [name, { estimatedBytes }] of Object.entries(parts)) {
      if (estimatedBytes <= limitBytes) continue
      throw new EngineError('option/memory-limit', {
        message: `The ${name} takes about ${megabytes(estimatedBytes)} and cannot be used within ${megabytes(limitBytes)}.`,
        hint: 'Allow more memory, or take a smaller one.',
      })
    }
  }

  get residentBytes(): number {
    return [...this.#resident.values()].reduce((sum, { loaded }) => sum + loaded.bytes(), 0)
  }

  /** Most bytes that were there at once. */
  get peakBytes(): number {
    return this.#peakBytes
  }

  /** Whether these could stay side by side. */
  fitTogether(...names: (keyof Parts & string)[]): boolean {
    return names.reduce((sum, name) => sum + this.#bytesOf(name), 0) <= this.#limitBytes
  }

  /** Runs `work` with the part, which stays until it ends. Parts that fit beside each other work at the same time. */
  async use<Name extends keyof Parts & string, Result>(
    name: Name,
    work: (value: Parts[Name] extends TurnPart<infer Value> ? Value : never) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const resident = await this.#acquire(name, signal)
    try {
      return await work(resident.loaded.value as never)
    } finally {
      this.#give(resident)
    }
  }

  /** Brings a part in before it is needed, if that drives out nothing that is in use. Failures show when it is used. */
  prepare(name: keyof Parts & string): void {
    if (this.#isDisposed) return
    this.#acquire(name, undefined, true).then(
      (resident) => this.#give(resident),
      () => {},
    )
  }

  /** Waits for what is in use, then gives everything back. */
  async dispose(): Promise<void> {
    this.#isDisposed = true
    await this.#move(async () => {
      while ([...this.#resident.values()].some(({ users }) => users > 0)) await this.#change()
      for (const name of [...this.#resident.keys()]) await this.#release(name)
    })
  }

  #acquire(name: string, signal: AbortSignal | undefined, onlyIfIdle = false): Promise<Resident> {
    this.#requireOpen()
    return this.#move(async () => {
      throwIfAborted(signal)
      const there = this.#resident.get(name)
      if (there) return this.#take(there)
      await this.#makeRoom(name, signal, onlyIfIdle)
      const start = performance.now()
      const loaded = await (this.#parts[name] as TurnPart<unknown>).load(signal)
      const resident: Resident = { loaded, users: 0, lastUsed: 0 }
      this.#resident.set(name, resident)
      this.#note(name)
      this.#onSwap({ part: name, kind: 'loaded', ms: performance.now() - start, bytes: loaded.bytes() })
      return this.#take(resident)
    })
  }

  async #makeRoom(name: string, signal: AbortSignal | undefined, onlyIfIdle: boolean): Promise<void> {
    while (this.residentBytes + this.#bytesOf(name) > this.#limitBytes) {
      const idle = [...this.#resident].filter(([, { users }]) => users === 0)
      const [oldest] = idle.sort(([, a], [, b]) => a.lastUsed - b.lastUsed)
      if (oldest) await this.#release(oldest[0])
      else if (this.#resident.size === 0)
        return // alone it may take what it takes
      else if (onlyIfIdle) throw new EngineError('speech/busy', { message: 'Another model is in use.' })
      else await this.#change(signal)
      throwIfAborted(signal)
    }
  }

  async #release(name: string): Promise<void> {
    const { loaded } = this.#resident.get(name) as Resident
    const start = performance.now()
    const bytes = loaded.bytes()
    this.#note(name)
    this.#resident.delete(name)
    await loaded.release()
    this.#onSwap({ part: name, kind: 'released', ms: performance.now() - start, bytes })
  }

  #take(resident: Resident): Resident {
    resident.users++
    return resident
  }

  #give(resident: Resident): void {
    resident.users--
    resident.lastUsed = ++this.#clock
    this.#peakBytes = Math.max(this.#peakBytes, this.residentBytes)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Remembers what a part takes. */
  #note(name: string): void {
    const resident = this.#resident.get(name)
    if (resident) this.#knownBytes.set(name, resident.loaded.bytes())
    this.#peakBytes = Math.max(this.#peakBytes, this.residentBytes)
  }

  #bytesOf(name: string): number {
    return this.#knownBytes.get(name) ?? this.#parts[name]?.estimatedBytes ?? 0
  }

  /** Resolves when somebody has ended, or the signal is aborted. */
  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      signal?.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  #move<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#moving.then(work, work)
    this.#moving = result.catch(() => {})
    return result
  }

  #requireOpen(): void {
    if (!this.#isDisposed) return
    throw new EngineError('speech/disposed', { message: 'The models were closed.', hint: 'Load them again.' })
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
