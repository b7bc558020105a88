/**
 * The scalar backend: every operation in its plainest form, over ordinary memory. It is what drivers are held
 * against, and far too slow for anything else. Work is queued and runs in `flush`.
 */
import { throwIfAborted } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { Backend, BufferRef, DeviceBuffer, OpArguments } from '../backend.ts'
import { checkArguments, checkRange } from '../check-arguments.ts'
import { rawRowByteLength } from '../matrix-rows.ts'
import { type MatrixType, OPS, type OpName } from '../ops.ts'
import { activate, leakyRelu, siluMul, tanhSigmoidMul } from './activation.ts'
import { attention } from './attention.ts'
import { storeRows } from './cache-rows.ts'
import { depthwiseConv, foldRows, unfoldRows } from './convolution.ts'
import { localAttention } from './local-attention.ts'
import { lstmCell } from './lstm-cell.ts'
import { matmulFloat, matmulQuantized } from './matmul.ts'
import { decodeRows, encodeRows, gatherRows, packRows } from './matrix.ts'
import { bytesAt, ReferenceBuffer } from './memory.ts'
import { groupNorm, layerNorm, rmsNorm } from './norm.ts'
import { extractPatches, pixelShuffle, poolRows } from './picture.ts'
import { quantizeRows } from './quantize-rows.ts'
import { rope } from './rope.ts'
import { addRows, copyRows, xorRows } from './rows.ts'

const OPERATIONS: { readonly [Name in OpName]: (args: OpArguments<Name>) => void } = {
  packRows,
  decodeRows,
  encodeRows,
  gatherRows,
  quantizeRows,
  matmulQuantized,
  matmulFloat,
  rmsNorm,
  layerNorm,
  rope,
  storeRows,
  attention,
  siluMul,
  activate,
  leakyRelu,
  addRows,
  copyRows,
  xorRows,
  unfoldRows,
  foldRows,
  depthwiseConv,
  tanhSigmoidMul,
  groupNorm,
  lstmCell,
  localAttention,
  extractPatches,
  pixelShuffle,
  poolRows,
}

/** Between operations the event loop gets a turn after this long, so that an abort can arrive. */
const TURN_MS = 10

class ReferenceBackend implements Backend {
  readonly info = { name: 'reference', threads: 1 }
  readonly #buffers = new Set<DeviceBuffer>()
  #allocatedBytes = 0
  #limit = Number.POSITIVE_INFINITY
  #queue: (() => void)[] = []
  #lastRun: Promise<void> = Promise.resolve()
  #disposed = false

  get allocatedBytes(): number {
    return this.#allocatedBytes
  }

  alloc(byteLength: number): DeviceBuffer {
    this.#requireAlive()
    if (!Number.isSafeInteger(byteLength) || byteLength < 0) {
      throw new EngineError('backend/bad-argument', {
        message: `alloc: expected a whole number of bytes, found ${byteLength}.`,
      })
    }
    if (this.#allocatedBytes + byteLength > this.#limit) {
      throw new EngineError('backend/out-of-memory', {
        message: `alloc: ${byteLength} bytes were asked for; ${this.#allocatedBytes} of ${this.#limit} bytes are in use.`,
        hint: 'Free buffers first.',
      })
    }
    const buffer = this.#create(byteLength)
    this.#buffers.add(buffer)
    this.#allocatedBytes += byteLength
    return buffer
  }

  #create(byteLength: number): ReferenceBuffer {
    try {
      return new ReferenceBuffer(byteLength)
    } catch (cause) {
      throw new EngineError('backend/out-of-memory', {
        message: `alloc: ${byteLength} bytes were asked for; ${this.#allocatedBytes} bytes are in use, and the rest that JavaScript can give is less.`,
        hint: 'Free buffers first, or use a smaller model or context.',
        cause,
      })
    }
  }

  free(buffer: DeviceBuffer): void {
    if (this.#buffers.delete(buffer)) this.#allocatedBytes -= buffer.byteLength
  }

  limitMemory(byteLength: number): void {
    this.#requireAlive()
    this.#limit = byteLength
  }

  matrixByteLength(type: MatrixType, rows: number, columns: number): number {
    return rows * rawRowByteLength(type, columns)
  }

  enqueue<Name extends OpName>(op: Name, args: OpArguments<Name>): void {
    this.#requireAlive()
    checkArguments(op, args, this.matrixByteLength)
    const values = args as Readonly<Record<string, unknown>>
    for (const [name, kind] of Object.entries(OPS[op].args)) {
      if (kind !== 'buffer' && kind !== 'optional-buffer') continue
      const ref = values[name] as BufferRef | undefined
      if (ref !== undefined) this.#requireLive(`${op}: "${name}"`, ref)
    }
    const operation: (args: OpArguments<Name>) => void = OPERATIONS[op]
    this.#queue.push(() => operation(args))
  }

  repeat(_key: object, index: number, _limit: number, enqueueAll: (index: number) => void): void {
    enqueueAll(index)
  }

  write(target: BufferRef, bytes: Uint8Array): void {
    this.#requireAlive()
    this.#requireLive('write: target', target)
    checkRange('write: target', target, bytes.byteLength)
    const copy = bytes.slice()
    this.#queue.push(() => bytesAt(target, copy.byteLength).set(copy))
  }

  view(ref: BufferRef, byteLength: number): Uint8Array<ArrayBufferLike> {
    this.#requireAlive()
    this.#requireLive('view: ref', ref)
    checkRange('view: ref', ref, byteLength)
    return bytesAt(ref, byteLength)
  }

  flush(signal?: AbortSignal): Promise<void> {
    const batch = this.#queue
    this.#queue = []
    const run = this.#lastRun.then(() => this.#run(batch, signal))
    this.#lastRun = run.catch(() => undefined) // the next flush waits for this one, but does not fail with it
    return run
  }

  async #run(batch: readonly (() => void)[], signal: AbortSignal | undefined): Promise<void> {
    this.#requireAlive()
    throwIfAborted(signal)
    let turnStart = performance.now()
    for (const operation of batch) {
      operation()
      if (performance.now() - turnStart > TURN_MS) {
        await new Promise((resolve) => setTimeout(resolve, 0))
        turnStart = performance.now()
        this.#requireAlive()
        throwIfAborted(signal)
      }
    }
  }

  async read(source: BufferRef, byteLength: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    this.#requireAlive()
    this.#requireLive('read: source', source)
    checkRange('read: source', source, byteLength)
    // Copied as a step of the queue: work enqueued after this call must not be seen.
    let copy = new Uint8Array(0)
    this.#queue.push(() => {
      copy = bytesAt(source, byteLength).slice()
    })
    await this.flush(signal)
    return copy
  }

  async dispose(): Promise<void> {
    this.#disposed = true
    this.#queue = []
    this.#buffers.clear()
    this.#allocatedBytes = 0
    await this.#lastRun
  }

  #requireAlive(): void {
    if (!this.#disposed) return
    throw new EngineError('backend/disposed', {
      message: 'The reference backend was disposed and takes no more work.',
      hint: 'Create a new backend.',
    })
  }

  #requireLive(what: string, ref: BufferRef): void {
    if (this.#buffers.has(ref.buffer)) return
    throw new EngineError('backend/freed-buffer', {
      message: `${what} lies in a buffer that was freed or belongs to another backend.`,
    })
  }
}

/** A backend that computes plainly and exactly, for tests. */
export function createReferenceBackend(): Backend {
  return new ReferenceBackend()
}
