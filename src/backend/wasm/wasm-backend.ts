/**
 * The WASM driver. Operations are encoded as commands and run by compute workers that share one memory (or by one
 * worker with a memory of its own); the calling thread only posts lists and waits for answers.
 */
import { createAbortError } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { WorkerHost } from '../../shared/worker-port.ts'
import type { Backend, BackendInfo, BufferRef, DeviceBuffer, OpArguments } from '../backend.ts'
import { checkArguments, checkRange } from '../check-arguments.ts'
import type { MatrixType, OpName } from '../ops.ts'
import { CommandEncoder } from './command-encoder.ts'
import { COMMAND_WORDS } from './control-words.ts'
import { compileKernels, type KernelBuild, supportedBuild } from './kernel-module.ts'
import { MemoryArena } from './memory-arena.ts'
import type { StartMessage } from './messages.ts'
import { packedByteLength } from './packed-layout.ts'
import { Recording } from './recording.ts'
import { createSharedMemory } from './shared-memory.ts'
import { addressOf, WasmBuffer } from './wasm-buffer.ts'
import { WorkerPool } from './worker-pool.ts'

export interface WasmBackendOptions {
  /** Compute threads. Default: what the host thinks sensible; 1 where memory cannot be shared. */
  readonly threads?: number
  /** Default: relaxed SIMD where the engine has it. */
  readonly build?: KernelBuild
  /** False: one worker with its own memory, as in pages that are not cross-origin isolated. Default: what the host can. */
  readonly shareMemory?: boolean
}

const PAGE_BYTES = 65536
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
const LIST_COMMANDS = 2048
/** Without shared memory work can only be stopped between lists, so they are short. */
const UNSHARED_LIST_COMMANDS = 8

/** Compiles the kernels and starts the workers. */
export async function createWasmBackend(
  host: WorkerHost,
  options: WasmBackendOptions = {},
): Promise<Backend> {
  const shared = options.shareMemory ?? host.canShareMemory
  const threads = shared ? clampThreads(options.threads ?? host.defaultThreads) : 1
  const build = options.build ?? supportedBuild()
  const module = await compileKernels(build, shared)
  const backend = new WasmBackend(module, build, threads, shared)
  try {
    await backend.start(host)
  } catch (error) {
    await backend.dispose()
    throw error
  }
  return backend
}

function clampThreads(threads: number): number {
  if (Number.isInteger(threads) && threads >= 1 && threads <= MAXIMUM_THREADS) return threads
  throw new EngineError('option/threads', {
    message: `The number of threads must be a whole number from 1 to ${MAXIMUM_THREADS}; found ${threads}.`,
  })
}

class WasmBackend implements Backend {
  readonly info: BackendInfo
  readonly #memory: WebAssembly.Memory | undefined
  readonly #pool: WorkerPool
  readonly #arena: MemoryArena
  readonly #encoder: CommandEncoder
  readonly #listCommands: number
  readonly #buffers = new Set<WasmBuffer>()
  /** What the driver itself takes: command lists and scratch. */
  readonly #ownBytes: number
  /** Where it ends. */
  readonly #ownEnd: number
  readonly #startMessages: StartMessage[]
  readonly #recordings = new WeakMap<object, Recording | null>()
  /** Of each list sent since the last flush, whether it was cancelled: not always the last one is. */
  #unawaited: Promise<boolean>[] = []
  #isRecording = false
  #isDisposed = false

  constructor(module: WebAssembly.Module, build: KernelBuild, threads: number, shared: boolean) {
    this.info = { name: `wasm-${build}`, threads }
    this.#memory = shared ? createSharedMemory(INITIAL_PAGES) : undefined
    this.#pool = new WorkerPool(this.#memory)
    this.#arena = new MemoryArena(FIRST_FREE_BYTE, INITIAL_PAGES * PAGE_BYTES, (pages) =>
      this.#growMemory(pages),
    )
    this.#encoder = new CommandEncoder(threads, addressOf)
    this.#listCommands = shared ? LIST_COMMANDS : UNSHARED_LIST_COMMANDS
    const commands = this.#arena.alloc(LIST_COMMANDS * COMMAND_WORDS * 4)
    this.#startMessages = Array.from({ length: threads }, (_, thread) => {
      const scratch = this.#arena.alloc(SCRATCH_BYTES)
      return {
        type: 'start',
        module,
        memory: this.#memory,
        pages: INITIAL_PAGES,
        thread,
        threads,
        scratch,
        commands,
      }
    })
    this.#ownBytes = this.#arena.allocatedBytes
    this.#ownEnd = FIRST_FREE_BYTE + this.#ownBytes
  }

  async start(host: WorkerHost): Promise<void> {
    await this.#pool.start(host, this.#startMessages)
  }

  get allocatedBytes(): number {
    return this.#isDisposed ? 0 : this.#arena.allocatedBytes - this.#ownBytes
  }

  alloc(byteLength: number): DeviceBuffer {
    this.#assertUsable()
    if (!Number.isSafeInteger(byteLength) || byteLength < 0) {
      throw new EngineError('backend/bad-argument', {
        message: `alloc: expected a whole number of bytes, found ${byteLength}.`,
      })
    }
    const buffer = new WasmBuffer(this.#arena.alloc(byteLength), byteLength)
    this.#buffers.add(buffer)
    return buffer
  }

  free(buffer: DeviceBuffer): void {
    if (!(buffer instanceof WasmBuffer) || !this.#buffers.delete(buffer)) return
    this.#arena.free(buffer.address)
    buffer.address = -1
  }

  limitMemory(byteLength: number): void {
    this.#assertUsable()
    this.#arena.limit(this.#ownEnd + byteLength)
  }

  matrixByteLength(type: MatrixType, rows: number, columns: number): number {
    return packedByteLength(type, rows, columns)
  }

  enqueue<Name extends OpName>(op: Name, args: OpArguments<Name>): void {
    this.#assertUsable()
    checkArguments(op, args, packedByteLength)
    this.#encoder.push(op, args)
    if (!this.#isRecording && this.#encoder.count >= this.#listCommands) this.#sendList()
  }

  repeat(key: object, index: number, limit: number, enqueueAll: (index: number) => void): void {
    this.#assertUsable()
    let recording = this.#recordings.get(key)
    if (recording === undefined && index + 1 < limit) {
      recording = this.#record(index, enqueueAll)
      this.#recordings.set(key, recording)
    }
    if (!recording || index >= limit) {
      enqueueAll(index)
      return
    }
    if (this.#encoder.count > 0) this.#sendList()
    this.#send(recording.at(index))
  }

  /** Null for lists that are too long to be sent at once. */
  #record(index: number, enqueueAll: (index: number) => void): Recording | null {
    if (this.#encoder.count > 0) this.#sendList()
    this.#isRecording = true
    try {
      enqueueAll(index)
      const first = this.#encoder.take()
      enqueueAll(index + 1)
      const second = this.#encoder.take()
      return first.length > LIST_COMMANDS * COMMAND_WORDS ? null : new Recording(index, first, second)
    } finally {
      this.#encoder.clear()
      this.#isRecording = false
    }
  }

  write(target: BufferRef, bytes: Uint8Array): void {
    this.#assertUsable()
    checkRange('write: target', target, bytes.byteLength)
    const address = addressOf(target)
    if (this.#memory && this.#encoder.count === 0 && !this.#pool.busy && !this.#hasPostedWrites) {
      new Uint8Array(this.#memory.buffer, address, bytes.length).set(bytes)
      return
    }
    if (this.#encoder.count > 0) this.#sendList()
    this.#pool.post({ type: 'write', address, bytes: bytes.slice() as Uint8Array<ArrayBuffer> })
    this.#hasPostedWrites = true
  }

  /** Posted writes have no answer: until the next list is done, nothing may overtake them. */
  #hasPostedWrites = false

  view(ref: BufferRef, byteLength: number): Uint8Array<ArrayBufferLike> | undefined {
    this.#assertUsable()
    checkRange('view: ref', ref, byteLength)
    const address = addressOf(ref)
    return this.#memory && new Uint8Array(this.#memory.buffer, address, byteLength)
  }

  async flush(signal?: AbortSignal): Promise<void> {
    this.#assertUsable()
    if (signal?.aborted) {
      this.#encoder.clear()
      this.#unawaited = []
      throw createAbortError()
    }
    const isIdle = this.#encoder.count === 0 && this.#unawaited.length === 0
    if (isIdle && !this.#pool.busy && !this.#hasPostedWrites) return
    const cancel = (): void => this.#pool.cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      this.#sendList()
      const lists = this.#unawaited
      this.#unawaited = []
      if ((await Promise.all(lists)).includes(true)) throw createAbortError()
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  async read(source: BufferRef, byteLength: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    this.#assertUsable()
    checkRange('read: source', source, byteLength)
    const address = addressOf(source)
    const done = this.flush(signal)
    const bytes = signal?.aborted ? undefined : this.#pool.read(address, byteLength)
    // Both, also when the first was aborted: while anything is unanswered, what comes next would be cancelled too.
    const [flushed, found] = await Promise.allSettled([done, bytes])
    if (flushed.status === 'rejected') throw flushed.reason
    if (found.status === 'rejected') throw found.reason
    return found.value as Uint8Array<ArrayBuffer>
  }

  async dispose(): Promise<void> {
    if (this.#isDisposed) return
    this.#isDisposed = true
    for (const buffer of this.#buffers) buffer.address = -1
    this.#buffers.clear()
    await this.#pool.terminate(disposedError())
  }

  #sendList(): void {
    this.#send(this.#encoder.take())
  }

  #send(commands: Int32Array<ArrayBuffer>): void {
    this.#hasPostedWrites = false
    this.#unawaited.push(this.#pool.run(commands))
  }

  #growMemory(pages: number): void {
    if (this.#memory) this.#memory.grow(pages)
    else this.#pool.post({ type: 'grow', pages })
  }

  #assertUsable(): void {
    if (this.#pool.broken) throw this.#pool.broken
  }
}

function disposedError(): EngineError {
  return new EngineError('backend/disposed', {
    message: 'The engine was closed.',
    hint: 'Load the model again to go on.',
  })
}
