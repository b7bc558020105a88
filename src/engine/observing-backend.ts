/**
 * A backend that also sums up, per weight matrix, the squares of what the matrix is multiplied with. Works on float
 * matrices, whose products read their input as float32.
 */
import type { Backend, BufferRef, DeviceBuffer, OpArguments } from '../backend/backend.ts'
import type { OpName } from '../backend/ops.ts'

/** Rows looked at per product. Neighbouring rows are alike, and captures of long passes would fill the memory. */
const MAX_ROWS = 64
/** Moves the window over longer inputs from product to product, so that in the end all places are seen. */
const WINDOW_STEP = 37

interface Capture {
  readonly rows: number
  readonly columns: number
  readonly copy: DeviceBuffer // f32 (rows, columns)
  readonly names: string[]
}

interface Sum {
  readonly squares: Float64Array // (columns)
  rows: number
}

export class ObservingBackend implements Backend {
  readonly #inner: Backend
  readonly #nameOf: (matrix: BufferRef) => string | undefined
  readonly #sums = new Map<string, Sum>()
  #pending: Capture[] = []
  /** The capture that the next product shares when it reads the same input. */
  #last: { x: BufferRef; capture: Capture } | undefined
  #products = 0
  isObserving = false

  /** @param nameOf The matrix that lies at a place; undefined for one of no interest. */
  constructor(inner: Backend, nameOf: (matrix: BufferRef) => string | undefined) {
    this.#inner = inner
    this.#nameOf = nameOf
  }

  /** Mean square of each input column, by matrix. */
  get meanSquares(): ReadonlyMap<string, Float32Array> {
    return new Map(
      [...this.#sums].map(([name, { squares, rows }]) => [
        name,
        Float32Array.from(squares, (sum) => sum / rows),
      ]),
    )
  }

  enqueue<Name extends OpName>(op: Name, args: OpArguments<Name>): void {
    if (!this.isObserving || op !== 'matmulFloat') this.#last = undefined
    else this.#capture(args as OpArguments<'matmulFloat'>)
    this.#inner.enqueue(op, args)
  }

  async flush(signal?: AbortSignal): Promise<void> {
    await this.#inner.flush(signal)
    await this.#drain()
  }

  async read(source: BufferRef, byteLength: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.#inner.read(source, byteLength, signal)
    await this.#drain()
    return bytes
  }

  #capture({ x, matrix, m, k }: OpArguments<'matmulFloat'>): void {
    const name = this.#nameOf(matrix)
    if (name === undefined) return
    const last = this.#last
    if (
      last &&
      last.x.buffer === x.buffer &&
      last.x.byteOffset === x.byteOffset &&
      last.capture.columns === k
    ) {
      last.capture.names.push(name)
      return
    }
    const rows = Math.min(m, MAX_ROWS)
    const first = (this.#products++ * WINDOW_STEP) % (m - rows + 1)
    const copy = this.#inner.alloc(rows * k * 4)
    const source = { buffer: x.buffer, byteOffset: x.byteOffset + first * k * 4 }
    this.#inner.enqueue('copyRows', { source, out: copy, rows, columns: k })
    const capture = { rows, columns: k, copy, names: [name] }
    this.#pending.push(capture)
    this.#last = { x, capture }
  }

  async #drain(): Promise<void> {
    const captures = this.#pending
    this.#pending = []
    this.#last = undefined
    for (const { rows, columns, copy, names } of captures) {
      const bytes = await this.#inner.read(copy, rows * columns * 4)
      this.#inner.free(copy)
      const values = new Float32Array(bytes.buffer)
      for (const name of names) this.#add(name, values, rows, columns)
    }
  }

  #add(name: string, values: Float32Array, rows: number, columns: number): void {
    const sum = this.#sums.get(name) ?? { squares: new Float64Array(columns), rows: 0 }
    this.#sums.set(name, sum)
    const { squares } = sum
    for (let i = 0; i < values.length; i++) {
      squares[i % columns] = (squares[i % columns] as number) + (values[i] as number) ** 2
    }
    sum.rows += rows
  }

  get info(): Backend['info'] {
    return this.#inner.info
  }

  get allocatedBytes(): number {
    return this.#inner.allocatedBytes
  }

  alloc(byteLength: number): DeviceBuffer {
    return this.#inner.alloc(byteLength)
  }

  free(buffer: DeviceBuffer): void {
    this.#inner.free(buffer)
  }

  matrixByteLength(...args: Parameters<Backend['matrixByteLength']>): number {
    return this.#inner.matrixByteLength(...args)
  }

  /** Never recorded: every operation must be seen. */
  repeat(_key: object, index: number, _limit: number, enqueueAll: (index: number) => void): void {
    enqueueAll(index)
  }

  write(target: BufferRef, bytes: Uint8Array): void {
    this.#inner.write(target, bytes)
  }

  view(ref: BufferRef, byteLength: number): Uint8Array<ArrayBufferLike> | undefined {
    return this.#inner.view(ref, byteLength)
  }

  async dispose(): Promise<void> {
    await this.#inner.dispose()
  }
}
