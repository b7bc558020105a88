/** Requests to one worker that have not ended, on the page's side. */
import type { AudioClip } from 'onsight/speech'
import type { EngineLink } from './engine-link.ts'
import { fromWireError, toWireError } from './wire-error.ts'
import type { Ask, EventOf, FromWorker, RequestMessage, RequestName, ResultOf } from './wire-messages.ts'

export interface RequestOptions<Name extends RequestName> {
  readonly signal?: AbortSignal | undefined
  readonly transfer?: readonly Transferable[]
  readonly onEvent?: (event: EventOf<Name>) => void
  /** The next piece of sound, when the worker wants one. */
  readonly nextAudio?: () => Promise<AudioClip | undefined>
}

interface OpenRequest {
  resolve(result: unknown): void
  reject(error: unknown): void
  onEvent(event: unknown): void
  nextAudio: RequestOptions<'transcribe'>['nextAudio']
  end(): void
}

export class OpenRequests {
  readonly #link: EngineLink
  readonly #open = new Map<number, OpenRequest>()
  #nextId = 1
  /** Set when the worker is gone. */
  #lost: Error | undefined

  constructor(link: EngineLink) {
    this.#link = link
  }

  get count(): number {
    return this.#open.size
  }

  /** Resolves with the result. Aborting tells the worker, whose answer to that is the outcome. */
  run<Name extends RequestName>(
    name: Name,
    ask: Ask<Name>,
    { signal, transfer, onEvent = () => {}, nextAudio }: RequestOptions<Name> = {},
  ): Promise<ResultOf<Name>> {
    if (this.#lost) return Promise.reject(this.#lost)
    const id = this.#nextId++
    const cancel = (): void => this.#link.post({ type: 'cancel', id })
    return new Promise<ResultOf<Name>>((resolve, reject) => {
      this.#open.set(id, {
        resolve: resolve as (result: unknown) => void,
        reject,
        onEvent: onEvent as (event: unknown) => void,
        nextAudio,
        end: () => signal?.removeEventListener('abort', cancel),
      })
      try {
        this.#link.post({ type: 'request', id, name, ask } as RequestMessage, transfer)
      } catch (error) {
        // What cannot be cloned, such as a function among the options.
        this.#take(id)?.reject(error)
        return
      }
      signal?.addEventListener('abort', cancel, { once: true })
      if (signal?.aborted) cancel()
    })
  }

  /** The events of a request, begun when the first is asked for. Who leaves early cancels it and waits for its end. */
  stream<Name extends RequestName>(
    name: Name,
    prepare: () => { readonly ask: Ask<Name>; readonly options?: RequestOptions<Name> },
    onResult: (result: ResultOf<Name>) => void = () => {},
  ): AsyncIterableIterator<EventOf<Name>> {
    const begin = (push: (event: EventOf<Name>) => void, leave: AbortSignal): Promise<void> => {
      const { ask, options = {} } = prepare()
      const signal = options.signal ? AbortSignal.any([options.signal, leave]) : leave
      return this.run(name, ask, { ...options, signal, onEvent: push }).then(onResult)
    }
    return streamEvents(begin)
  }

  receive(message: FromWorker): void {
    switch (message.type) {
      case 'event':
        this.#open.get(message.id)?.onEvent(message.event)
        break
      case 'result':
        this.#take(message.id)?.resolve(message.result)
        break
      case 'failure':
        this.#take(message.id)?.reject(fromWireError(message.error))
        break
      case 'audio-wanted':
        void this.#sendAudio(message.id)
        break
    }
  }

  /** Rejects everything that is open and everything that is asked from now on. */
  lose(error: Error): void {
    this.#lost ??= error
    for (const id of [...this.#open.keys()]) this.#take(id)?.reject(error)
  }

  async #sendAudio(id: number): Promise<void> {
    const next = this.#open.get(id)?.nextAudio
    try {
      const clip = await next?.()
      if (this.#open.has(id)) this.#link.post({ type: 'audio', id, clip })
    } catch (error) {
      if (this.#open.has(id))
        this.#link.post({ type: 'audio', id, clip: undefined, error: toWireError(error) })
    }
  }

  #take(id: number): OpenRequest | undefined {
    const request = this.#open.get(id)
    this.#open.delete(id)
    request?.end()
    return request
  }
}

async function* streamEvents<Event>(
  begin: (push: (event: Event) => void, leave: AbortSignal) => Promise<void>,
): AsyncGenerator<Event, void, undefined> {
  const events: Event[] = []
  const leave = new AbortController()
  let wake = (): void => {}
  let outcome: { readonly error?: unknown } | undefined
  const ended = begin((event) => {
    events.push(event)
    wake()
  }, leave.signal).then(
    () => {
      outcome = {}
      wake()
    },
    (error: unknown) => {
      outcome = { error }
      wake()
    },
  )
  try {
    for (;;) {
      const event = events.shift()
      if (event !== undefined) yield event
      else if (outcome) break
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
    if ('error' in outcome) throw outcome.error
  } finally {
    if (!outcome) leave.abort()
    await ended
  }
}
