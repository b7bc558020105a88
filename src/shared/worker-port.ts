/** A worker as both hosts see it. Messages are structured-cloned; failures to start arrive at `onError`. */
export interface WorkerPort {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void
  onMessage(listener: (message: unknown) => void): void
  onError(listener: (error: unknown) => void): void
  /** Whether the process must stay alive for this worker's answers. */
  setActive(active: boolean): void
  /** Ends the worker at once. Resolves when its memory is given back (where the host tells). */
  terminate(): Promise<void>
}

/** What a backend needs of its host to compute away from the calling thread. */
export interface WorkerHost {
  /**
   * Called when workers have ended and nothing refers to their memory any more. A memory that was shared with them is
   * given back only when the JavaScript engine collects garbage, and the engine does not know how much waits there.
   */
  reclaimMemory?(): Promise<void>
  /**
   * Bytes that the process takes at most beside the engine's buffers and pictures, once so many threads compute and a
   * model's tokenizer is built: for plans of memory.
   */
  overheadBytes(threads: number): number
  /** Starts the compute worker, `src/backend/wasm/compute-worker.js`. */
  spawnComputeWorker(name: string): WorkerPort
  /** How many threads are sensible on this machine, at least 1. */
  readonly defaultThreads: number
  /** Whether a `WebAssembly.Memory` can be shared between workers: always in Node, with isolation in a browser. */
  readonly canShareMemory: boolean
}
