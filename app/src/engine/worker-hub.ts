/** The worker's side of stored models. */
import type { BrowserModelHub, ModelFolder, PullEvent } from 'onsight/hub'
import type { HubExchanges } from './hub-messages.ts'
import type { Context } from './worker-engine.ts'

/** Bytes come in thousands of pieces a second; people see ten changes. */
const PROGRESS_MS = 100

export type HubHandlers = {
  readonly [Name in keyof HubExchanges]: (
    ask: HubExchanges[Name]['ask'],
    context: Pick<Context<Name>, 'signal' | 'emit'>,
  ) => Promise<HubExchanges[Name]['result']>
}

export interface WorkerHub {
  readonly handlers: HubHandlers
  /** What `loadModel`, `loadRecognizer` and `loadVoice` take. */
  open(hub: string, reference: string): Promise<ModelFolder>
}

/** @param openHub Of this address. @param now Milliseconds. */
export function createWorkerHub(
  openHub: (endpoint: string) => Promise<BrowserModelHub>,
  now: () => number,
): WorkerHub {
  const opened = new Map<string, Promise<BrowserModelHub>>()
  const at = (endpoint: string): Promise<BrowserModelHub> => {
    const known = opened.get(endpoint)
    if (known) return known
    const hub = openHub(endpoint)
    opened.set(endpoint, hub)
    // An address that is none may be corrected, a browser that refuses may change its mind.
    hub.catch(() => opened.delete(endpoint))
    return hub
  }
  return {
    open: async (hub, reference) => (await at(hub)).open(reference),
    handlers: {
      'hub-list': async ({ hub }) => {
        const models = await at(hub)
        const [stored, unfinished] = await Promise.all([models.list(), models.listUnfinished()])
        return { stored, unfinished }
      },
      'hub-preview': async ({ hub, reference }, { signal }) => (await at(hub)).preview(reference, { signal }),
      'hub-pull': async ({ hub, reference }, { signal, emit }) => {
        const { model } = await (await at(hub)).pull(reference, { signal, onEvent: thinOut(emit, now) })
        return model
      },
      'hub-verify': async ({ hub, reference }, { signal, emit }) =>
        (await at(hub)).verify(reference, {
          signal,
          onProgress: ({ readBytes, totalBytes }) => emit({ readBytes, totalBytes }),
        }),
      'hub-remove': async ({ hub, reference }) => (await at(hub)).remove(reference),
      'hub-import': async ({ hub, files }, { signal, emit }) => {
        const { model } = await (await at(hub)).importFiles(files, { signal, onEvent: thinOut(emit, now) })
        return model
      },
    },
  }
}

/** Lets through what is rare, and bytes of each file now and then. */
export function thinOut(emit: (event: PullEvent) => void, now: () => number): (event: PullEvent) => void {
  const last = new Map<string, number>()
  return (event) => {
    if (event.type === 'bytes-received') {
      if (now() - (last.get(event.file) ?? Number.NEGATIVE_INFINITY) < PROGRESS_MS) return
      last.set(event.file, now())
    }
    emit(event)
  }
}
