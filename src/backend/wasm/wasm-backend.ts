/**
 * The WASM driver. Operations are encoded as commands and run by compute workers that share one memory (or by one
 * worker with a memory of its own); the calling thread only posts lists and waits for answers.
 */
import { createAbortError } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { WorkerHost, WorkerPort } from '../../shared/worker-port.ts'
import type { Backend, BackendInfo, BufferRef, DeviceBuffer, OpArguments } from '../backend.ts'
import { checkArguments } from '../check-arguments.ts'
import type { MatrixType, OpName } from '../ops.ts'
import { CommandEncoder } from './command-encoder.ts'
import { COMMAND_WORDS, CONTROL } from './control-words.ts'
import { compileKernels, type KernelBuild, supportedBuild } from './kernel-module.ts'
import { MemoryArena } from './memory-arena.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { packedByteLength } from './packed-layout.ts'

export interface WasmBackendOptions {
  /** Compute threads. Default: what the host thinks sensible; 1 where memory cannot be shared. */
  readonly threads?: number
  /** Default: relaxed SIMD where the engine has it. */
  readonly build?: KernelBuild
  /** False: one worker with its own memory, as in pages that are not cross-origin isolated. Default: what the host can. */
  readonly shareMemory?: boolean
}

const PAGE_BYTES = 65536
const MAXIMUM_PAGES = 65536
const MAXIMUM_THREADS = 32
/** Below it lie the control words and the kernels' constants. */
const FIRST_FREE_BYTE = 2 * PAGE_BYTES
const INITIAL_PAGES = 64
/**
 * Scratch of a thread: enough for a panel of rows of `MAXIMUM_COLUMNS` in every form, and for the widened
 * activations (kernels/wasm/matmul-quantized.ts).
 */
const SCRATCH_BYTES = 2.5 * 1024 * 1024
/** Commands of one list; longer ones are sent in parts. */
const LIST_COMMANDS = 512

class WasmBuffer implements DeviceBuffer {
  readonly byteLength: number
  readonly byteOffset = 0
  /** -1 once freed. */
  address: number

  constructor(address: number, byteLength: number) {
    this.address = address
    this.byteLength = byteLength
  }

  get buffer(): this {
    return this
  }

  at(byteOffset: number): BufferRef {
    return { buffer: this, byteOffset }
  }
}

/** Compiles the kernels and starts the workers. */
export async function createWasmBackend(
  host: WorkerHost,
  options: WasmBackendOptions = {},
): Promise<Backend> {
  const shared = options.shareMemory ?? host.canShareMemory
  const threads = shared ? clampThreads(options.threads ?? host.defaultThreads) : 1
  const build = options.build ?? supportedBuild()
  const module = await compileKernels(build, shared)
  const backend = new WasmBackend(host, module, build, threads, shared)
  await backend.ready
  return backend
}

function clampThreads(threads: number): number {
  if (Number.isInteger(threads) && threads >= 1 && threads <= MAXIMUM_THREADS) return threads
  throw new EngineError('option/threads', {
    message: `The number of threads must be a whole number from 1 to ${MAXIMUM_THREADS}; found ${threads}.`,
  })
}

interface Pending {
  resolve(value: Uint8Array<ArrayBuffer> | boolean): void
  reject(error: unknown): void
}

class WasmBackend implements Backend {
  readonly info: BackendInfo
  readonly ready: Promise<void>
  readonly #memory: WebAssembly.Memory | undefined
  readonly #workers: WorkerPort[] = []
  readonly #arena: MemoryArena
  readonly #encoder: CommandEncoder
  readonly #pending = new Map<number, Pending>()
  #nextId = 1
  /** Set when a thread failed or the backend was disposed: why nothing works any more. */
  #broken: EngineError | undefined

  constructor(
    host: WorkerHost,
    module: WebAssembly.Module,
    build: KernelBuild,
    threads: number,
    shared: boolean,
  ) {
    this.info = { name: `wasm-${build}`, threads }
    const pages = { initial: INITIAL_PAGES, maximum: MAXIMUM_PAGES }
    this.#memory = shared ? new WebAssembly.Memory({ ...pages, shared: true }) : undefined
    const initialPages = shared ? INITIAL_PAGES : 2
    this.#arena = new MemoryArena(FIRST_FREE_BYTE, initialPages * PAGE_BYTES, (count) =>
      this.#growMemory(count),
    )
    this.#encoder = new CommandEncoder(threads, addressOf)
    const commands = this.#arena.alloc(LIST_COMMANDS * COMMAND_WORDS * 4)
    const scratch = Array.from({ length: threads }, () => this.#arena.alloc(SCRATCH_BYTES))
    this.ready = this.#start(host, module, threads, commands, scratch)
    this.#ownBytes = this.#arena.allocatedBytes
  }

  readonly #ownBytes: number

  async #start(
    host: WorkerHost,
    module: WebAssembly.Module,
    threads: number,
    commands: number,
    scratch: number[],
  ) {
    let started = 0
    await new Promise<void>((resolve, reject) => {
      for (let thread = 0; thread < threads; thread++) {
        const worker = host.spawnComputeWorker(`onsight-compute-${thread}`)
        this.#workers.push(worker)
        worker.onError((error) => {
          this.#fail(thread, error instanceof Error ? error.message : String(error))
          reject(this.#broken)
        })
        worker.onMessage((data) => {
          const message = data as FromWorker
          if (message.type === 'ready' && ++started === threads) resolve()
          else this.#receive(message)
          if (message.type === 'failed') reject(this.#broken)
        })
        worker.setActive(true)
        this.#post(worker, {
          type: 'start',
          module,
          memory: this.#memory,
          thread,
          threads,
          scratch: scratch[thread] ?? 0,
          commands,
        })
      }
    })
    if (!this.#memory) this.#post(this.#leader, { type: 'grow', pages: this.#unsharedPages })
    this.#updateActivity()
  }

  /** Pages that the worker's own memory lacks until it has started. */
  #unsharedPages = 0

  get #leader(): WorkerPort {
    const worker = this.#workers[0]
    if (!worker) throw this.#disposedError()
    return worker
  }

  get allocatedBytes(): number {
    return this.#arena.allocatedBytes - this.#ownBytes
  }

  alloc(byteLength: number): DeviceBuffer {
    this.#assertUsable()
    return new WasmBuffer(this.#arena.alloc(byteLength), byteLength)
  }

  free(buffer: DeviceBuffer): void {
    const own = buffer as WasmBuffer
    if (own.address < 0) return
    this.#arena.free(own.address)
    own.address = -1
  }

  matrixByteLength(type: MatrixType, rows: number, columns: number): number {
    return packedByteLength(type, rows, columns)
  }

  enqueue<Name extends OpName>(op: Name, args: OpArguments<Name>): void {
    this.#assertUsable()
    checkArguments(op, args, packedByteLength)
    this.#encoder.push(op, args)
    if (this.#encoder.count === LIST_COMMANDS) this.#send()
  }

  write(target: BufferRef, bytes: Uint8Array): void {
    this.#assertUsable()
    const address = addressOf(target)
    const idle = this.#encoder.count === 0 && this.#pending.size === 0
    if (idle && this.#memory) {
      new Uint8Array(this.#memory.buffer, address, bytes.length).set(bytes)
      return
    }
    if (this.#encoder.count > 0) this.#send()
    const copy = bytes.slice() as Uint8Array<ArrayBuffer>
    this.#post(this.#leader, { type: 'write', address, bytes: copy }, [copy.buffer])
  }

  view(ref: BufferRef, byteLength: number): Uint8Array<ArrayBufferLike> | undefined {
    return this.#memory && new Uint8Array(this.#memory.buffer, addressOf(ref), byteLength)
  }

  async flush(signal?: AbortSignal): Promise<void> {
    this.#assertUsable()
    if (signal?.aborted) {
      this.#encoder.clear()
      throw createAbortError()
    }
    if (this.#encoder.count === 0 && this.#pending.size === 0) return
    const cancel = (): void => this.#cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      const cancelled = await this.#send()
      if (cancelled) throw createAbortError()
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  async read(source: BufferRef, byteLength: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#memory) {
      await this.flush(signal)
      return new Uint8Array(
        this.#memory.buffer,
        addressOf(source),
        byteLength,
      ).slice() as Uint8Array<ArrayBuffer>
    }
    await this.flush(signal)
    const answer = this.#expect()
    this.#post(this.#leader, { type: 'read', id: answer.id, address: addressOf(source), byteLength })
    return (await answer.promise) as Uint8Array<ArrayBuffer>
  }

  async dispose(): Promise<void> {
    const workers = this.#workers.splice(0)
    if (!this.#broken || workers.length > 0) this.#break(this.#disposedError())
    await Promise.all(workers.map((worker) => worker.terminate()))
  }

  /** Sends what is encoded. Resolves to whether it was cancelled, once it and all before it is done. */
  #send(): Promise<boolean> {
    const answer = this.#expect()
    const commands = this.#encoder.take()
    this.#post(this.#leader, { type: 'run', id: answer.id, commands }, [commands.buffer])
    return answer.promise as Promise<boolean>
  }

  #expect(): { id: number; promise: Promise<Uint8Array<ArrayBuffer> | boolean> } {
    const id = this.#nextId++
    const promise = new Promise<Uint8Array<ArrayBuffer> | boolean>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
    })
    // Parts of a long list are awaited through the last one.
    promise.catch(() => {})
    this.#updateActivity()
    return { id, promise }
  }

  #settle(id: number, value: Uint8Array<ArrayBuffer> | boolean): void {
    this.#pending.get(id)?.resolve(value)
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#storeControl(CONTROL.cancel, 0)
    this.#updateActivity()
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        return
      case 'done':
        this.#settle(message.id, message.cancelled)
        return
      case 'bytes':
        this.#settle(message.id, message.bytes)
        return
      case 'failed':
        this.#fail(message.thread, message.message)
    }
  }

  #cancel(): void {
    if (this.#pending.size > 0) this.#storeControl(CONTROL.cancel, 1)
  }

  #storeControl(address: number, value: number): void {
    if (this.#memory) Atomics.store(new Int32Array(this.#memory.buffer), address / 4, value)
  }

  #fail(thread: number, reason: string): void {
    this.#break(
      new EngineError('backend/worker-failed', {
        message: `Compute thread ${thread} stopped: ${reason}.`,
        hint: 'Load the model again; if it happens again, report it with the command and the model you used.',
      }),
    )
  }

  #break(error: EngineError): void {
    this.#broken ??= error
    for (const pending of this.#pending.values()) pending.reject(error)
    this.#pending.clear()
    this.#updateActivity()
  }

  #updateActivity(): void {
    for (const worker of this.#workers) worker.setActive(this.#pending.size > 0)
  }

  #growMemory(pages: number): void {
    if (this.#memory) this.#memory.grow(pages)
    else if (this.#workers.length === 0) this.#unsharedPages += pages
    else this.#post(this.#leader, { type: 'grow', pages })
  }

  #post(worker: WorkerPort, message: ToWorker, transfer?: readonly ArrayBuffer[]): void {
    worker.postMessage(message, transfer)
  }

  #assertUsable(): void {
    if (this.#broken) throw this.#broken
  }

  #disposedError(): EngineError {
    return new EngineError('backend/disposed', {
      message: 'The engine was closed.',
      hint: 'Load the model again to go on.',
    })
  }
}

function addressOf(ref: BufferRef): number {
  const { address } = ref.buffer as WasmBuffer
  if (address < 0) {
    throw new EngineError('backend/freed-buffer', { message: 'A buffer was used after it was freed.' })
  }
  return address + ref.byteOffset
}
