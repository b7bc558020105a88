/**
 * A backend that also sums up what each weight matrix is multiplied with: the second moments of its inputs. Works on
 * float matrices, whose products read their input as float32.
 */
import type { Backend, BufferRef, DeviceBuffer, OpArguments } from '../backend/backend.ts'
import type { OpName } from '../backend/ops.ts'
import type { InputStatistics } from '../quant/encode-searched.ts'
import { type ErrorFeedback, factorizeMoments, type Moments } from '../quant/error-feedback.ts'

/** Rows looked at per product. Neighbouring rows are alike, and captures of long passes would fill the memory. */
const MAX_ROWS = 64
/** Moves the window over longer inputs from product to product, so that in the end all places are seen. */
const WINDOW_STEP = 37
/** Of all moments: those of SmolVLM-500M take 0.9 GB. Inputs beyond get mean squares only. */
const MAX_MOMENT_BYTES = 1.5e9

interface Capture {
  readonly rows: number
  readonly columns: number
  readonly copy: DeviceBuffer // f32 (rows, columns)
  readonly names: string[]
}

/** Of one input, which several matrices may read. */
class InputSum {
  readonly columns: number
  readonly #squares: Float64Array // (columns)
  #moments: Moments | undefined
  #feedback: ErrorFeedback | undefined
  #passes = 0

  constructor(columns: number, keepsMoments: boolean) {
    this.columns = columns
    this.#squares = new Float64Array(columns)
    if (keepsMoments) this.#moments = new Float32Array((columns * (columns + 1)) / 2)
  }

  get keepsMoments(): boolean {
    return this.#moments !== undefined
  }

  add(values: Float32Array): void {
    const squares = this.#squares
    for (let i = 0; i < values.length; i++) {
      const column = i % this.columns
      squares[column] = (squares[column] as number) + (values[i] as number) ** 2
    }
    this.#passes++
  }

  /** @param products Sums over the same rows, (columns, columns). */
  addProducts(products: Float32Array): void {
    const moments = this.#moments as Moments
    for (let i = 0, at = 0; i < this.columns; i++) {
      for (let j = 0; j <= i; j++, at++) {
        moments[at] = (moments[at] as number) + (products[i * this.columns + j] as number)
      }
    }
  }

  /** Nothing may be added afterwards: factors take the moments' place in memory. */
  finish(): InputStatistics {
    if (this.#moments) {
      this.#feedback = factorizeMoments(
        this.#moments.map((sum) => sum / this.#passes),
        this.columns,
      )
      this.#moments = undefined
    }
    return {
      importance: Float32Array.from(this.#squares, (sum) => sum / this.#passes),
      feedback: this.#feedback,
    }
  }
}

export class ObservingBackend implements Backend {
  readonly #inner: Backend
  readonly #nameOf: (matrix: BufferRef) => string | undefined
  readonly #sums = new Map<string, InputSum>()
  #pending: Capture[] = []
  /** The capture that the next product shares when it reads the same input. */
  #last: { x: BufferRef; capture: Capture } | undefined
  #products = 0
  #momentBytes = 0
  isObserving = false

  /** @param nameOf The matrix that lies at a place; undefined for one of no interest. */
  constructor(inner: Backend, nameOf: (matrix: BufferRef) => string | undefined) {
    this.#inner = inner
    this.#nameOf = nameOf
  }

  /** What was seen of a matrix's inputs; undefined when nothing was. Ends the observation of these inputs. */
  statisticsOf(matrix: string): InputStatistics | undefined {
    return this.#sums.get(matrix)?.finish()
  }

  enqueue<Name extends OpName>(op: Name, args: OpArguments<Name>): void {
    if (!this.isObserving || op !== 'matmulFloat') this.#last = undefined
    else this.#capture(args as OpArguments<'matmulFloat'>)
    this.#inner.enqueue(op, args)
  }

  /** Never recorded: each call is looked at. */
  repeat(_key: object, index: number, _limit: number, enqueueAll: (index: number) => void): void {
    enqueueAll(index)
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
      // Each pass counts alike: an answer's few tokens as much as the many of its prompt and pictures.
      const scale = Math.sqrt(1 / rows)
      const values = new Float32Array(bytes.buffer).map((value) => value * scale)
      const sum = this.#sumOf(names, columns)
      sum.add(values)
      if (sum.keepsMoments) sum.addProducts(await this.#multiply(values, rows, columns))
    }
  }

  /** The sum that matrices reading one input share. */
  #sumOf(names: readonly string[], columns: number): InputSum {
    const [first = ''] = names
    let sum = this.#sums.get(first)
    if (sum === undefined) {
      const byteLength = 2 * columns * (columns + 1)
      const fits = this.#momentBytes + byteLength <= MAX_MOMENT_BYTES
      if (fits) this.#momentBytes += byteLength
      sum = new InputSum(columns, fits)
    }
    for (const name of names) this.#sums.set(name, sum)
    return sum
  }

  /** Xᵀ X on the device, as a linear layer of Xᵀ with Xᵀ for its weights: (columns, columns). */
  async #multiply(values: Float32Array, rows: number, columns: number): Promise<Float32Array> {
    const inner = this.#inner
    const transposed = new Float32Array(values.length)
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        transposed[column * rows + row] = values[row * columns + column] as number
      }
    }
    const x = inner.alloc(transposed.byteLength)
    const matrix = inner.alloc(inner.matrixByteLength('F32', columns, rows))
    const out = inner.alloc(columns * columns * 4)
    try {
      inner.write(x, new Uint8Array(transposed.buffer))
      const packing = { type: 'F32' as const, source: x, matrix, rows: columns, columns: rows, firstRow: 0 }
      inner.enqueue('packRows', packing)
      inner.enqueue('matmulFloat', {
        ...{ type: 'F32', x, matrix, bias: undefined, out, accumulate: 0 },
        ...{ m: columns, n: columns, k: rows },
      })
      return new Float32Array((await inner.read(out, columns * columns * 4)).buffer)
    } finally {
      for (const buffer of [x, matrix, out]) inner.free(buffer)
    }
  }

  get info(): Backend['info'] {
    return this.#inner.info
  }

  get allocatedBytes(): number {
    return this.#inner.allocatedBytes
  }

  limitMemory(byteLength: number): void {
    this.#inner.limitMemory(byteLength)
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
