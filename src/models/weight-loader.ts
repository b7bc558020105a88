/**
 * Brings tensors from a checkpoint to the device in the type that the precision asks for. Files are read in pieces into
 * staging memory while the pieces before are being packed; no tensor is ever held twice.
 */
import type { Backend, BufferRef, DeviceBuffer } from '../backend/backend.ts'
import { type FloatMatrixType, isFloatMatrixType, isMatrixType, type MatrixType } from '../backend/ops.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import { decodeBlocks, isDecodable } from '../quant/decode.ts'
import { byteLengthOf, TENSOR_TYPES, type TensorType } from '../quant/tensor-types.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { crc32 } from '../shared/checksum.ts'
import { EngineError } from '../shared/errors.ts'
import type { Matrix } from './blocks/matrix.ts'
import { type Precision, storedType, type WeightRole } from './precision.ts'
import { findUnusableWeight } from './usable-weights.ts'
import type { WeightReader } from './weight-reader.ts'

export interface WeightLoaderOptions {
  readonly backend: Backend
  /** By the engine's names. */
  readonly tensors: ReadonlyMap<string, TensorInfo>
  readonly precision: Precision
  /** What messages call the checkpoint. */
  readonly name: string
  readonly onProgress?: ((loadedBytes: number) => void) | undefined
  /** Told the name of each matrix, for whoever observes or exchanges weights. */
  readonly onMatrix?: ((name: string, matrix: Matrix) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Bytes of a file read at a time: large enough for full disk speed, small beside any budget. */
const PIECE_BYTES = 4 * 1024 * 1024
/** Memory that reading takes beside the weights, given back at the end. */
export const STAGING_BYTES = 4 * PIECE_BYTES
/** Longest row that the kernels' scratch memory holds (kernels/wasm/matmul-quantized.ts); published models reach 28,672. */
const MAX_COLUMNS = 32768
/** Of each piece that is read, what goes into the checksum of the weights: enough to tell models apart, too little to cost time. */
const SAMPLE_BYTES = 256
const INTEGER_TYPES: readonly TensorType[] = ['I8', 'I16', 'I32', 'U8', 'BOOL']
/** A panel of the packed layout: pieces are whole panels. */
const PANEL_ROWS = 8

interface Stage {
  readonly raw: DeviceBuffer
  /** Resolves when what was enqueued from `raw` is done. */
  free: Promise<void>
}

/** Rows of a tensor on their way to the device. */
interface Piece {
  readonly info: TensorInfo
  /** Of the first row, in the tensor. */
  readonly byteOffset: number
  readonly count: number
  readonly columns: number
  /** That the matrix will have. */
  readonly type: MatrixType
  /** Changes rows of float32 in place. */
  readonly arrange: ((values: Float32Array) => void) | undefined
}

export class WeightLoader implements WeightReader {
  readonly #options: WeightLoaderOptions
  readonly #stages: Stage[]
  readonly #floats: DeviceBuffer
  readonly #encoded: DeviceBuffer
  readonly #loaded: DeviceBuffer[] = []
  #next = 0
  #loadedBytes = 0
  #sampleChecksum = 0

  constructor(options: WeightLoaderOptions) {
    const { backend } = options
    this.#options = options
    this.#stages = [0, 1].map(() => ({ raw: backend.alloc(PIECE_BYTES), free: Promise.resolve() }))
    // Types that are converted are read in pieces whose float32 form fits; rows filled up to whole blocks fit too.
    this.#floats = backend.alloc(PIECE_BYTES)
    this.#encoded = backend.alloc(PIECE_BYTES)
  }

  /** CRC-32 over the beginnings of all pieces that were read, as the file has them. */
  get sampleChecksum(): number {
    return this.#sampleChecksum
  }

  has(name: string): boolean {
    return this.#options.tensors.has(name)
  }

  /** A weight matrix of `rows` outputs and `columns` inputs. Trailing dimensions of the tensor are taken as one. */
  async matrix(name: string, rows: number, columns: number, role: WeightRole): Promise<Matrix> {
    const info = this.#find(name)
    this.#checkShape(info, [rows, columns])
    const type = storedType(info.type, role, this.#options.precision)
    const matrix = await this.#load(info, rows, columns, type)
    this.#options.onMatrix?.(name, matrix)
    return matrix
  }

  /**
   * Weights (outputs, inputs, kernel) of a convolution over time as a matrix (outputs, kernel * inputs), for windows from
   * `unfoldRows`. Float32 unless it is quantised.
   */
  async convolution(
    name: string,
    outputs: number,
    inputs: number,
    kernel: number,
    role: WeightRole,
  ): Promise<Matrix> {
    const info = this.#find(name)
    this.#checkShape(info, [outputs, inputs * kernel])
    const wanted = storedType(info.type, role, this.#options.precision)
    const type = wanted === 'Q8_0' || wanted === 'Q4_0' ? wanted : 'F32'
    return this.#load(info, outputs, inputs * kernel, type, (values) => putTapsFirst(values, inputs, kernel))
  }

  /** A bias, a norm's weight, a table of positions: float32 on the device whatever the file holds. */
  async vector(name: string, ...shape: number[]): Promise<DeviceBuffer> {
    return this.put(await this.floats(name, ...shape))
  }

  /** Numbers that were made of a model's, on the device. */
  put(values: Float32Array<ArrayBuffer>): DeviceBuffer {
    const data = this.#keep(this.#options.backend.alloc(values.byteLength))
    this.#options.backend.write(data, new Uint8Array(values.buffer))
    return data
  }

  async optionalVector(wanted: boolean, name: string, length: number): Promise<DeviceBuffer | undefined> {
    return wanted ? this.vector(name, length) : undefined
  }

  /** A small tensor as numbers. */
  async floats(name: string, ...shape: number[]): Promise<Float32Array<ArrayBuffer>> {
    const info = this.#find(name)
    this.#checkShape(info, shape)
    return this.#decode(
      info,
      0,
      shape.reduce((product, size) => product * size, 1),
    )
  }

  /** Waits until everything is packed and gives the staging memory back. */
  async finish(): Promise<void> {
    await this.#options.backend.flush(this.#options.signal)
    this.#freeStaging()
  }

  /** Gives back everything that was loaded, after a failure. */
  abandon(): void {
    this.#freeStaging()
    for (const buffer of this.#loaded.splice(0)) this.#options.backend.free(buffer)
  }

  /** What was loaded, for whoever owns the model from now on. */
  takeBuffers(): DeviceBuffer[] {
    return this.#loaded.splice(0)
  }

  #freeStaging(): void {
    const { backend } = this.#options
    for (const buffer of [...this.#stages.map(({ raw }) => raw), this.#floats, this.#encoded])
      backend.free(buffer)
  }

  #keep(buffer: DeviceBuffer): DeviceBuffer {
    this.#loaded.push(buffer)
    return buffer
  }

  /** @param arrange Changes rows of float32 in place. */
  async #load(
    info: TensorInfo,
    rows: number,
    columns: number,
    type: MatrixType,
    arrange?: (values: Float32Array) => void,
  ): Promise<Matrix> {
    const { backend } = this.#options
    if (columns > MAX_COLUMNS) {
      throw new EngineError('model/row-too-long', {
        message: `${this.#label(info)} has rows of ${columns} elements; at most ${MAX_COLUMNS} are supported.`,
      })
    }
    const data = this.#keep(backend.alloc(backend.matrixByteLength(type, rows, columns)))
    const rowBytes = byteLengthOf(info.type, columns)
    // Eight bytes an element cover float32 beside short rows that are filled up to a block.
    const widest = type === info.type ? rowBytes : columns * 8
    const pieceRows = Math.max(PANEL_ROWS, Math.floor(PIECE_BYTES / widest / PANEL_ROWS) * PANEL_ROWS)
    for (let firstRow = 0; firstRow < rows; firstRow += pieceRows) {
      const count = Math.min(pieceRows, rows - firstRow)
      const piece = { info, byteOffset: firstRow * rowBytes, count, columns, type, arrange }
      await this.#stageRows(piece, (source, held) => {
        this.#pack(held, type, source, data, count, columns, firstRow)
      })
    }
    return { type, rows, columns, data }
  }

  /** Reads `count` rows to the next free stage and hands them to `use`, whose commands must end before the stage is used again. */
  async #stageRows(
    { info, byteOffset, count, columns, type, arrange }: Piece,
    use: (source: BufferRef, held: MatrixType) => void,
  ): Promise<void> {
    const { backend, signal, onProgress } = this.#options
    throwIfAborted(signal)
    const stage = this.#stages[this.#next++ % this.#stages.length] as Stage
    await stage.free
    const byteLength = byteLengthOf(info.type, columns) * count
    const held = arrange ? 'F32' : this.#heldType(info)
    if (held === info.type && !arrange) {
      const view = backend.view(stage.raw, byteLength)
      const bytes = view ?? new Uint8Array(byteLength)
      await info.source.readInto(bytes, info.byteOffset + byteOffset)
      this.#sample(bytes)
      if (held !== type) this.#checkUsable(info, bytes, held, byteOffset, columns)
      if (!view) backend.write(stage.raw, bytes)
    } else {
      const values = await this.#decode(info, byteOffset, count * columns)
      arrange?.(values)
      const bytes = new Uint8Array(values.buffer)
      if (held !== type) this.#checkUsable(info, bytes, held, byteOffset, columns)
      backend.write(stage.raw, bytes)
    }
    use(stage.raw, held)
    stage.free = backend.flush()
    stage.free.catch(() => {}) // reported by the await before the next use, or by finish()
    this.#loadedBytes += byteLength
    onProgress?.(this.#loadedBytes)
  }

  /** In which type rows reach the kernels: as the file has them, or decoded here to float32. */
  #heldType({ type }: TensorInfo): MatrixType {
    if (!isMatrixType(type)) return 'F32'
    return this.#options.precision.kind === 'f32' && !isFloatMatrixType(type) ? 'F32' : type
  }

  /** Weights that are about to be quantised: a kernel has no way to say that one of them is not a number. */
  #checkUsable(
    info: TensorInfo,
    bytes: Uint8Array,
    held: MatrixType,
    byteOffset: number,
    columns: number,
  ): void {
    const found = findUnusableWeight(bytes, held as FloatMatrixType)
    if (found < 0) return
    const row = byteOffset / byteLengthOf(info.type, columns) + Math.floor(found / columns)
    throw new EngineError('model/not-a-number', {
      message: `${this.#label(info)}: element (${row}, ${found % columns}) is infinite, too large or not a number (NaN), and cannot be quantised.`,
      hint: 'The file is damaged; fetch it again. A trace at --precision f32 shows what it does.',
    })
  }

  #pack(
    held: MatrixType,
    type: MatrixType,
    source: BufferRef,
    matrix: DeviceBuffer,
    rows: number,
    columns: number,
    firstRow: number,
  ): void {
    const { backend } = this.#options
    if (held === type) {
      backend.enqueue('packRows', { type, source, matrix, rows, columns, firstRow })
      return
    }
    let floats = source
    if (held !== 'F32') {
      backend.enqueue('decodeRows', { type: held, source, out: this.#floats, rows, columns })
      floats = this.#floats
    }
    backend.enqueue('encodeRows', { type, source: floats, out: this.#encoded, rows, columns })
    backend.enqueue('packRows', { type, source: this.#encoded, matrix, rows, columns, firstRow })
  }

  async #decode(info: TensorInfo, byteOffset: number, elements: number): Promise<Float32Array<ArrayBuffer>> {
    if (!isDecodable(info.type)) throw this.#unsupported(info)
    const bytes = new Uint8Array(byteLengthOf(info.type, elements))
    await info.source.readInto(bytes, info.byteOffset + byteOffset)
    this.#sample(bytes)
    const values = new Float32Array(elements)
    decodeBlocks(info.type, bytes, values)
    return values
  }

  #sample(bytes: Uint8Array): void {
    this.#sampleChecksum = crc32(bytes.subarray(0, SAMPLE_BYTES), this.#sampleChecksum)
  }

  #find(name: string): TensorInfo {
    const info = this.#options.tensors.get(name)
    if (!info) {
      throw new EngineError('model/missing-tensor', {
        message: `${this.#options.name}: the tensor "${name}" is missing; the configuration asks for it.`,
        hint: 'The download may be incomplete, or the configuration belongs to another model.',
      })
    }
    // Whole numbers are quantised weights of schemes that keep their scales elsewhere, which nobody would apply here.
    if (!isDecodable(info.type) || INTEGER_TYPES.includes(info.type)) throw this.#unsupported(info)
    return info
  }

  #checkShape(info: TensorInfo, expected: readonly number[]): void {
    const rows = expected[0] ?? 1
    const columns = info.shape.slice(1).reduce((product, size) => product * size, 1)
    const flat =
      expected.length === 1 ? info.shape.reduce((product, size) => product * size, 1) === rows : false
    const matches = flat || (expected.length === 2 && info.shape[0] === rows && columns === expected[1])
    if (matches) return
    throw new EngineError('model/wrong-shape', {
      message: `${this.#label(info)} has the shape (${info.shape.join(', ')}), but the configuration asks for (${expected.join(', ')}).`,
      hint: 'The weights and the configuration belong to different models, or the file is damaged.',
    })
  }

  #unsupported(info: TensorInfo): EngineError {
    return new EngineError('format/unsupported-tensor-type', {
      message: `${this.#label(info)} has the type ${info.type}, which is not supported.`,
      hint: `Use a file with one of ${Object.keys(TENSOR_TYPES)
        .filter((type) => isDecodable(type as TensorType) && !INTEGER_TYPES.includes(type as TensorType))
        .join(', ')}.`,
    })
  }

  #label(info: TensorInfo): string {
    return `${info.source.name}: tensor "${info.name}"`
  }
}

/** Rows of (inputs, kernel) become rows of (kernel, inputs). */
function putTapsFirst(values: Float32Array, inputs: number, kernel: number): void {
  const row = new Float32Array(inputs * kernel)
  for (let first = 0; first < values.length; first += row.length) {
    for (let input = 0; input < inputs; input++)
      for (let tap = 0; tap < kernel; tap++)
        row[tap * inputs + input] = values[first + input * kernel + tap] as number
    values.set(row, first)
  }
}
