/** Loads the model that a person chose, keeps it, and falls back to the one that came with the page. */
import { effect, type Signal, signal, untracked } from '@preact/signals'
import { EngineError, type LoadModelOptions } from 'onsight'
import type { EngineModel, ModelPlace } from '../engine/engine.ts'
import type { EngineClient } from '../engine/engine-client.ts'
import type { EngineOwnership } from '../engine/engine-ownership.ts'
import type { CurrentModel, ModelState } from './current-model.ts'
import type { LoadMarks } from './load-marks.ts'
import { type ModelNotice, reasonOf } from './model-notice.ts'
import { whenReady } from './when-ready.ts'

export const BUNDLED = 'tiny'

/** A worker that is lost again so soon is not started again without being asked. */
const MIN_LIFE_MS = 60_000

export interface ModelServicePorts {
  readonly engine: Pick<EngineClient, 'loadModel' | 'onLost' | 'dispose'>
  /** Name of the model, as `settings.model` has it. */
  readonly chosen: Signal<string>
  readonly ownership: EngineOwnership
  readonly marks: LoadMarks
  /** Of stored models: what this device has memory for. */
  readonly loadOptions: () => Promise<LoadModelOptions>
  /** Milliseconds. */
  readonly now: () => number
}

export interface ModelService extends CurrentModel {
  /** Why another model answers than the one that was chosen, until it is put away. */
  readonly notice: Signal<ModelNotice | undefined>
  /** Makes the tab that has a large model let go of it, and loads it here. */
  takeOver(): Promise<void>
  /** Gives everything back; `reload` comes back. For pages that the browser puts aside. */
  release(): void
}

export function createModelService(ports: ModelServicePorts): ModelService {
  return new Service(ports)
}

class Service implements ModelService {
  readonly state: Signal<ModelState>
  readonly notice = signal<ModelNotice | undefined>(undefined)
  readonly #ports: ModelServicePorts
  #loading = new AbortController()
  #lastRestart = Number.NEGATIVE_INFINITY

  constructor(ports: ModelServicePorts) {
    this.#ports = ports
    this.state = signal<ModelState>(loadingState(ports.chosen.peek()))
    ports.engine.onLost((error) => this.#onLost(error))
    ports.ownership.onTaken(() => {
      ports.engine.dispose()
      this.#showElsewhere(ports.chosen.peek())
    })
    const crashed = ports.marks.unfinished
    ports.marks.end()
    if (crashed !== undefined && crashed === ports.chosen.peek())
      this.#fallBack({ reason: 'crashed', name: crashed })
    effect(() => {
      const name = ports.chosen.value
      untracked(() => void this.#start(name))
    })
  }

  ready(signal?: AbortSignal): Promise<EngineModel> {
    return whenReady(this.state, signal)
  }

  reload(): void {
    void this.#start(this.#ports.chosen.peek())
  }

  async takeOver(): Promise<void> {
    this.#loading.abort()
    await this.#ports.ownership.takeOver()
    this.reload()
  }

  release(): void {
    this.#loading.abort()
    this.state.value = loadingState(this.#ports.chosen.peek())
    this.#ports.engine.dispose()
    this.#ports.ownership.release()
    this.#ports.marks.end()
  }

  async #start(name: string): Promise<void> {
    this.#loading.abort()
    const loading = new AbortController()
    this.#loading = loading
    const before = this.state.peek()
    this.state.value = loadingState(name)
    // Two models at once are more than many devices have memory for.
    if (before.state === 'ready') await before.model.dispose()
    if (loading.signal.aborted) return
    if (name === BUNDLED) this.#ports.ownership.release()
    else if (!(await this.#ports.ownership.acquire())) {
      if (!loading.signal.aborted) this.#showElsewhere(name)
      return
    }
    if (!loading.signal.aborted) await this.#load(name, loading.signal)
  }

  async #load(name: string, signal: AbortSignal): Promise<void> {
    const { engine, marks, loadOptions } = this.#ports
    const place: ModelPlace = name === BUNDLED ? `bundled:${name}` : `stored:${name}`
    if (name !== BUNDLED) marks.begin(name)
    try {
      const model = await engine.loadModel(place, {
        ...(name !== BUNDLED && (await loadOptions())),
        signal,
        onProgress: ({ loadedBytes, totalBytes }) => {
          if (!signal.aborted) this.state.value = { state: 'loading', name, loadedBytes, totalBytes }
        },
      })
      if (signal.aborted) await model.dispose()
      else this.state.value = { state: 'ready', name, model }
    } catch (error) {
      if (!signal.aborted) this.#fail(name, error)
    } finally {
      marks.end(name)
    }
  }

  #fail(name: string, error: unknown): void {
    const reason = EngineError.isInstance(error) ? reasonOf(error) : undefined
    if (name === BUNDLED || reason === undefined) this.state.value = { state: 'failed', name, error }
    else this.#fallBack({ reason, name, error: error as EngineError })
  }

  #fallBack(notice: ModelNotice): void {
    this.notice.value = notice
    this.#ports.chosen.value = BUNDLED
  }

  /** Waits beside it for the other tab to be closed. */
  #showElsewhere(name: string): void {
    this.#loading.abort()
    const waiting = new AbortController()
    this.#loading = waiting
    this.state.value = { state: 'failed', name, error: elsewhereError(name) }
    this.#ports.ownership.waitFor(waiting.signal).then(
      () => {
        if (!waiting.signal.aborted) this.reload()
      },
      () => {}, // nobody waits any more
    )
  }

  #onLost(error: EngineError): void {
    const { state, name } = this.state.peek()
    // While it is loaded, the load itself fails.
    if (state !== 'ready') return
    const now = this.#ports.now()
    if (now - this.#lastRestart < MIN_LIFE_MS) {
      this.state.value = { state: 'failed', name, error }
      return
    }
    this.#lastRestart = now
    this.state.value = loadingState(name)
    this.reload()
  }
}

const loadingState = (name: string): ModelState => ({ state: 'loading', name, loadedBytes: 0, totalBytes: 0 })

function elsewhereError(name: string): EngineError {
  return new EngineError('backend/open-elsewhere', {
    message: `Onsight is open in another tab, which has the model ${name}.`,
    hint: 'Close that tab, or take the model over.',
  })
}
