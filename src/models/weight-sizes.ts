/** How much memory a model's weights take at a precision, before any of them is read. */
import type { DeviceBuffer } from '../backend/backend.ts'
import type { MatrixType } from '../backend/ops.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'
import type { Matrix } from './blocks/matrix.ts'
import { readWeights } from './language-model.ts'
import type { ModelConfig } from './model-config.ts'
import { type Precision, storedType, type WeightRole } from './precision.ts'
import { NO_BUFFER, type WeightReader } from './weight-reader.ts'

/**
 * Bytes on the device of all weights that the configuration names. A tensor that is missing counts as float32; loading
 * reports it.
 * @param matrixByteLength The backend's.
 */
export async function measureWeights(
  config: ModelConfig,
  tensors: ReadonlyMap<string, TensorInfo>,
  precision: Precision,
  matrixByteLength: (type: MatrixType, rows: number, columns: number) => number,
): Promise<number> {
  const scale = new Scale(tensors, precision, matrixByteLength)
  await readWeights(scale, config)
  return scale.byteLength
}

class Scale implements WeightReader {
  byteLength = 0
  readonly #tensors: ReadonlyMap<string, TensorInfo>
  readonly #precision: Precision
  readonly #matrixByteLength: (type: MatrixType, rows: number, columns: number) => number

  constructor(
    tensors: ReadonlyMap<string, TensorInfo>,
    precision: Precision,
    matrixByteLength: (type: MatrixType, rows: number, columns: number) => number,
  ) {
    this.#tensors = tensors
    this.#precision = precision
    this.#matrixByteLength = matrixByteLength
  }

  has(name: string): boolean {
    return this.#tensors.has(name)
  }

  async matrix(name: string, rows: number, columns: number, role: WeightRole): Promise<Matrix> {
    const type = storedType(this.#tensors.get(name)?.type ?? 'F32', role, this.#precision)
    this.byteLength += this.#matrixByteLength(type, rows, columns)
    return { type, rows, columns, data: NO_BUFFER }
  }

  async vector(_: string, ...shape: number[]): Promise<DeviceBuffer> {
    this.byteLength += shape.reduce((product, size) => product * size, 4)
    return NO_BUFFER
  }

  async optionalVector(wanted: boolean, name: string, length: number): Promise<DeviceBuffer | undefined> {
    return wanted ? this.vector(name, length) : undefined
  }
}
