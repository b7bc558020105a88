/** The page's side and the worker's side of the engine over a real message channel, with a model that has no weights. */
import { MessageChannel } from 'node:worker_threads'
import type { Model } from 'onsight'
import { createEngineClient, type EngineClient } from './engine-client.ts'
import type { EngineLink } from './engine-link.ts'
import type { FromWorker, ToWorker } from './wire-messages.ts'
import { WorkerEngine, type WorkerParts } from './worker-engine.ts'

export interface TestEngine {
  readonly engine: EngineClient
  /** Workers that were started so far. */
  readonly started: number
  /** Messages to the workers, in order. */
  readonly sent: ToWorker[]
  /** Ends the worker that runs now as if the browser had killed it. */
  killWorker(reason?: string): void
  /** The worker stays there but reads nothing any more. */
  hangWorker(): void
  /** Runs what the clock would run next. */
  tick(): void
  readonly ticking: number
  close(): void
}

export function createTestEngine(parts: Partial<WorkerParts>): TestEngine {
  const sent: ToWorker[] = []
  const ticks = new Set<() => void>()
  let started = 0
  let kill = (_reason: string): void => {}
  let hang = (): void => {}
  let closeLast = (): void => {}
  const startWorker = (): EngineLink => {
    started++
    const { port1, port2 } = new MessageChannel()
    let isHung = false
    const worker = new WorkerEngine({ ...MISSING_PARTS, ...parts }, (message, transfer = []) =>
      port2.postMessage(message, transfer as never),
    )
    port2.on('message', (message: ToWorker) => {
      if (!isHung) worker.receive(message)
    })
    let lost = (_reason: string): void => {}
    const close = (): void => {
      port1.close()
      port2.close()
    }
    kill = (reason) => {
      close()
      lost(reason)
    }
    hang = () => {
      isHung = true
    }
    closeLast = close
    return {
      post(message, transfer = []) {
        sent.push(message)
        port1.postMessage(message, transfer as never)
      },
      onMessage: (listener) => void port1.on('message', (message: FromWorker) => listener(message)),
      onLost(listener) {
        lost = listener
      },
      close,
    }
  }
  const engine = createEngineClient({
    startWorker,
    locate: (place) => (typeof place === 'string' ? { address: place } : { files: place }),
    clock: {
      every(_ms, tick) {
        ticks.add(tick)
        return () => ticks.delete(tick)
      },
    },
  })
  return {
    engine,
    sent,
    get started() {
      return started
    },
    get ticking() {
      return ticks.size
    },
    killWorker: (reason = 'the browser has ended it') => kill(reason),
    hangWorker: () => hang(),
    tick() {
      for (const tick of [...ticks]) tick()
    },
    close: () => closeLast(),
  }
}

/** A load that ends when it is told to, and knows how it was asked. */
export function withModel(model: Model): Pick<WorkerParts, 'loadModel'> {
  return { loadModel: async () => model }
}

const missing = async (): Promise<never> => {
  throw new Error('not part of this test')
}
const MISSING_PARTS: WorkerParts = {
  loadModel: missing,
  loadRecognizer: missing,
  loadVoice: missing,
  hubHandlers: {
    'hub-list': missing,
    'hub-preview': missing,
    'hub-pull': missing,
    'hub-verify': missing,
    'hub-remove': missing,
    'hub-import': missing,
  },
  holdLock: () => {},
}
