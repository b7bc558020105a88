/** Brings a voice's weights to the device, in the order and form that the passes want them. */
import type { Backend, DeviceBuffer } from '../../backend/backend.ts'
import type { FloatMatrixType } from '../../backend/ops.ts'
import type { TensorInfo } from '../../formats/tensor-info.ts'
import { decodeBlocks, isDecodable } from '../../quant/decode.ts'
import { encodeBlocks } from '../../quant/encode.ts'
import { readBytes } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import type { Convolution } from './convolution.ts'

/** A convolution's shape, as PyTorch names it. */
export interface ConvolutionShape {
  readonly inputs: number
  readonly outputs: number
  readonly kernel?: number
  readonly dilation?: number
  /** Changes weights (outputs, inputs, kernel) and bias before they are packed. */
  readonly adjust?: (weight: Float32Array, bias: Float32Array) => void
  /** Default true. */
  readonly hasBias?: boolean
}

export class WeightSource {
  readonly #backend: Backend
  readonly #tensors: ReadonlyMap<string, TensorInfo>
  readonly #name: string
  readonly #type: FloatMatrixType
  readonly #buffers: DeviceBuffer[] = []
  /** Raw rows that are being packed. */
  readonly #staged: DeviceBuffer[] = []
  readonly #onBytes: (byteLength: number) => void

  /** @param name What messages call the voice. @param type How matrices are kept. */
  constructor(
    backend: Backend,
    tensors: ReadonlyMap<string, TensorInfo>,
    name: string,
    type: FloatMatrixType,
    onBytes: (byteLength: number) => void,
  ) {
    this.#backend = backend
    this.#tensors = tensors
    this.#name = name
    this.#type = type
    this.#onBytes = onBytes
  }

  has(name: string): boolean {
    return this.#tensors.has(name)
  }

  /** Everything that was loaded, for whoever owns the voice from now on. */
  takeBuffers(): DeviceBuffer[] {
    return this.#buffers.splice(0)
  }

  /** A tensor as numbers, put together from length and direction where it is stored so. */
  async floats(name: string, ...shape: number[]): Promise<Float32Array<ArrayBuffer>> {
    const elements = shape.reduce((product, size) => product * size, 1)
    const stem = name.replace(/weight$/, '')
    if (name.endsWith('.weight') && !this.has(name) && this.has(`${stem}weight_v`)) {
      const directions = await this.#read(`${stem}weight_v`, elements)
      const lengths = await this.#read(`${stem}weight_g`, shape[0] ?? 1)
      const size = elements / lengths.length
      for (const [row, length] of lengths.entries()) {
        const direction = directions.subarray(row * size, (row + 1) * size)
        const factor = length / Math.sqrt(direction.reduce((sum, value) => sum + value * value, 0))
        for (let i = 0; i < size; i++) direction[i] = (direction[i] as number) * factor
      }
      return directions
    }
    return this.#read(name, elements)
  }

  /** Float32 on the device. */
  put(values: Float32Array<ArrayBuffer>): DeviceBuffer {
    const buffer = this.#keep(this.#backend.alloc(values.byteLength))
    this.#backend.write(buffer, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    return buffer
  }

  async vector(name: string, length: number): Promise<DeviceBuffer> {
    return this.put(await this.floats(name, length))
  }

  /** Some of the outputs of a convolution of kernel 1. */
  async convolutionPart(
    name: string,
    {
      inputs,
      outputs,
      take: [from, to],
    }: {
      readonly inputs: number
      /** Of the stored convolution. */
      readonly outputs: number
      readonly take: readonly [from: number, to: number]
    },
  ): Promise<Convolution> {
    const weight = await this.floats(`${name}.weight`, outputs, inputs)
    const bias = await this.floats(`${name}.bias`, outputs)
    return {
      type: this.#type,
      matrix: this.#pack(weight.subarray(from * inputs, to * inputs), to - from, inputs),
      bias: this.put(bias.slice(from, to)),
      inputs,
      outputs: to - from,
      kernel: 1,
      stride: 1,
      dilation: 1,
      padding: 0,
    }
  }

  /** Conv1d `name`, padded to keep the number of rows. */
  async convolution(
    name: string,
    { inputs, outputs, kernel = 1, dilation = 1, adjust, hasBias = true }: ConvolutionShape,
  ): Promise<Convolution> {
    const weight = await this.floats(`${name}.weight`, outputs, inputs, kernel)
    const bias = hasBias ? await this.floats(`${name}.bias`, outputs) : new Float32Array(outputs)
    adjust?.(weight, bias)
    const rows = new Float32Array(weight.length)
    for (let out = 0, to = 0; out < outputs; out++) {
      for (let tap = 0; tap < kernel; tap++) {
        for (let input = 0; input < inputs; input++) {
          rows[to++] = weight[(out * inputs + input) * kernel + tap] as number
        }
      }
    }
    return {
      type: this.#type,
      matrix: this.#pack(rows, outputs, kernel * inputs),
      bias: hasBias ? this.put(bias) : undefined,
      inputs,
      outputs,
      kernel,
      stride: 1,
      dilation,
      padding: Math.floor(((kernel - 1) * dilation) / 2),
    }
  }

  /** ConvTranspose1d `name`, whose output is `stride` times as long as its input where kernel and stride allow it. */
  async transposed(
    name: string,
    {
      inputs,
      outputs,
      kernel,
      stride,
      scale,
    }: {
      readonly inputs: number
      readonly outputs: number
      readonly kernel: number
      readonly stride: number
      /** Of the weights. */
      readonly scale: number
    },
  ): Promise<Convolution> {
    const weight = await this.floats(`${name}.weight`, inputs, outputs, kernel)
    const rows = new Float32Array(weight.length)
    for (let tap = 0, to = 0; tap < kernel; tap++) {
      for (let out = 0; out < outputs; out++) {
        for (let input = 0; input < inputs; input++) {
          rows[to++] = (weight[(input * outputs + out) * kernel + tap] as number) * scale
        }
      }
    }
    return {
      type: this.#type,
      matrix: this.#pack(rows, kernel * outputs, inputs),
      bias: await this.vector(`${name}.bias`, outputs),
      inputs,
      outputs,
      kernel,
      stride,
      dilation: 1,
      padding: Math.floor((kernel - stride) / 2),
    }
  }

  /** A matrix in float32. */
  packFloats(rows: Float32Array, count: number, columns: number): DeviceBuffer {
    return this.#pack(rows, count, columns, 'F32')
  }

  #pack(rows: Float32Array, count: number, columns: number, type = this.#type): DeviceBuffer {
    const backend = this.#backend
    const raw = encodeBlocks(type, rows)
    const matrix = this.#keep(backend.alloc(backend.matrixByteLength(type, count, columns)))
    const source = backend.alloc(raw.byteLength)
    backend.write(source, raw)
    backend.enqueue('packRows', { type, source, matrix, rows: count, columns, firstRow: 0 })
    this.#staged.push(source)
    return matrix
  }

  /** Waits for what was packed. Called now and then, since what waits takes memory. */
  async settle(): Promise<void> {
    await this.#backend.flush()
    for (const buffer of this.#staged.splice(0)) this.#backend.free(buffer)
  }

  /** Gives everything back, after a failure. */
  async abandon(): Promise<void> {
    await this.settle().catch(() => {}) // the failure before this one is the one to tell
    for (const buffer of this.takeBuffers()) this.#backend.free(buffer)
  }

  #keep(buffer: DeviceBuffer): DeviceBuffer {
    this.#buffers.push(buffer)
    return buffer
  }

  async #read(name: string, elements: number): Promise<Float32Array<ArrayBuffer>> {
    const info = this.#tensors.get(name)
    const found = info?.shape.reduce((product, size) => product * size, 1)
    if (!info || found !== elements || !isDecodable(info.type)) {
      throw new EngineError(info ? 'model/wrong-shape' : 'model/missing-tensor', {
        message: `${this.#name}: expected the tensor "${name}" with ${elements} numbers; found ${info ? `${info.type} [${info.shape.join(', ')}]` : 'none'}.`,
        hint: 'The file is no VITS voice of a known kind, or it is damaged; fetch it again.',
      })
    }
    const values = new Float32Array(elements)
    decodeBlocks(info.type, await readBytes(info.source, info.byteOffset, info.byteLength), values)
    if (!values.every(Number.isFinite)) {
      throw new EngineError('model/not-a-number', {
        message: `${this.#name}: the tensor "${name}" holds numbers that are infinite or none (NaN).`,
        hint: 'The file is damaged; fetch it again.',
      })
    }
    this.#onBytes(info.byteLength)
    return values
  }
}
