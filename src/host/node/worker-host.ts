import { Session } from 'node:inspector'
import { availableParallelism } from 'node:os'
import v8 from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { WorkerHost, WorkerPort } from '../../shared/worker-port.ts'

/** More threads than this add little: decoding is bound by memory long before. */
const MAXIMUM_THREADS = 8

/** Node with the library, measured (docs/memory.md): a process that has more counts with what it has. */
const PROGRAM_BYTES = 62e6
/** A worker with its part of the kernels' scratch memory. */
const THREAD_BYTES = 12e6
/** What compiled code, the template engine and uncollected garbage add while answers are made. */
const GROWTH_BYTES = 46e6

/**
 * Workers of Node. Node 20 compiles relaxed SIMD only behind a flag, which must be set before a module compiles; later
 * versions have it on and ignore the flag.
 */
export function createNodeWorkerHost(): WorkerHost {
  if (Number(process.versions.node.split('.')[0]) < 22)
    v8.setFlagsFromString('--experimental-wasm-relaxed-simd')
  const cores = availableParallelism()
  return {
    canShareMemory: true,
    // Beyond four, logical cores are usually two to a physical one.
    defaultThreads: Math.min(MAXIMUM_THREADS, cores > 4 ? Math.ceil(cores / 2) : cores),
    reclaimMemory: collectGarbage,
    overheadBytes: (threads) =>
      Math.max(process.memoryUsage.rss(), PROGRAM_BYTES + threads * THREAD_BYTES) + GROWTH_BYTES,
    spawnComputeWorker: (name) => new NodeWorkerPort(name),
  }
}

/** Asks the engine's own debugging interface, the only one that needs no flag. Takes some tens of milliseconds. */
async function collectGarbage(): Promise<void> {
  // What has just ended must have left the stack.
  await new Promise((resolve) => setImmediate(resolve))
  const session = new Session()
  try {
    session.connect()
    await new Promise<void>((resolve) => session.post('HeapProfiler.collectGarbage', () => resolve()))
    session.disconnect()
  } catch {
    // Built without an inspector: the memory comes back with the next collection.
  }
}

class NodeWorkerPort implements WorkerPort {
  readonly #worker: Worker

  constructor(name: string) {
    const script = new URL('../../backend/wasm/compute-worker.js', import.meta.url)
    this.#worker = new Worker(new URL('./worker-bootstrap.js', import.meta.url), {
      name,
      workerData: { script: script.href },
      // Compute threads hold no JavaScript data to speak of.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    })
    this.#worker.unref()
  }

  postMessage(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, [...transfer])
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#worker.on('message', listener)
  }

  onError(listener: (error: unknown) => void): void {
    this.#worker.on('error', listener)
  }

  setActive(active: boolean): void {
    if (active) this.#worker.ref()
    else this.#worker.unref()
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }
}
