/** Asks for a model's tensors by the engine's names, each with the shape that the configuration implies. */
import type { DeviceBuffer } from '../backend/backend.ts'
import type { Matrix } from './blocks/matrix.ts'
import type { WeightRole } from './precision.ts'

export interface WeightReader {
  has(name: string): boolean
  /** A weight matrix of `rows` outputs and `columns` inputs. Trailing dimensions of the tensor are taken as one. */
  matrix(name: string, rows: number, columns: number, role: WeightRole): Promise<Matrix>
  /** A bias, a norm's weight, a table of positions: float32 on the device whatever the file holds. */
  vector(name: string, ...shape: number[]): Promise<DeviceBuffer>
  optionalVector(wanted: boolean, name: string, length: number): Promise<DeviceBuffer | undefined>
}

/** Stands where a forward pass would find weights, for readers that only look: nothing is computed with it. */
export const NO_BUFFER: DeviceBuffer = {
  byteLength: 0,
  byteOffset: 0,
  get buffer() {
    return NO_BUFFER
  },
  at: () => NO_BUFFER,
}
