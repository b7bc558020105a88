import { EngineError } from '../../shared/errors.ts'
import type { WorkerHost, WorkerPort } from '../../shared/worker-port.ts'

/** More threads than this add little, and phones slow down: half of their cores are small. */
const MAXIMUM_THREADS = 4

/** Pages are not told what they take: as much as the same adds to a process of Node. */
const PAGE_BYTES = 60e6
const THREAD_BYTES = 12e6

export interface BrowserWorkerOptions {
  /** Starts the compute worker, for bundlers that do not find it by themselves. Default: from this package. */
  readonly worker?: () => Worker
}

/**
 * Workers of a page, or of a worker that makes workers. Memory is shared in pages that are cross-origin isolated;
 * elsewhere one thread works with a memory of its own.
 */
export function createBrowserWorkerHost({ worker = createWorker }: BrowserWorkerOptions = {}): WorkerHost {
  // Without isolation a shared memory can be made but not sent, so that trying to make one tells nothing.
  const canShareMemory = globalThis.crossOriginIsolated === true
  const cores = navigator.hardwareConcurrency || 1
  return {
    canShareMemory,
    // Logical cores are usually two to a physical one, and the page needs one for itself.
    defaultThreads: Math.max(1, Math.min(MAXIMUM_THREADS, Math.floor(cores / 2))),
    overheadBytes: (threads) => PAGE_BYTES + threads * THREAD_BYTES,
    spawnComputeWorker: () => new BrowserWorkerPort(worker),
  }
}

/** Bundlers look for exactly this form. */
function createWorker(): Worker {
  return new Worker(new URL('../../backend/wasm/compute-worker.js', import.meta.url), { type: 'module' })
}

/** Browsers do not say why. */
const SCRIPT_NOT_FETCHED =
  'its script could not be fetched. It must come from the origin of the page and be allowed by worker-src.'

class BrowserWorkerPort implements WorkerPort {
  readonly #worker: Worker

  constructor(create: () => Worker) {
    try {
      this.#worker = create()
    } catch (cause) {
      throw new EngineError('backend/worker-failed', {
        message: `The compute worker could not be started: ${cause instanceof Error ? cause.message : String(cause)}`,
        hint: 'Serve compute-worker.js from the origin of the page, or give the option "worker".',
        cause,
      })
    }
  }

  postMessage(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, [...transfer])
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#worker.addEventListener('message', ({ data }) => listener(data))
  }

  onError(listener: (error: unknown) => void): void {
    this.#worker.addEventListener('error', (event) => {
      listener(new Error(event.message || SCRIPT_NOT_FETCHED))
    })
    this.#worker.addEventListener('messageerror', () => listener(new Error('a message could not be read')))
  }

  /** Pages do not end while they wait. */
  setActive(): void {}

  async terminate(): Promise<void> {
    this.#worker.terminate()
  }
}
