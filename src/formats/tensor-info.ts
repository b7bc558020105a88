import type { TensorType } from '../quant/tensor-types.ts'
import type { ByteSource } from '../shared/byte-source.ts'

/** Where one tensor lies. Its bytes are read on demand with `source.readInto`. */
export interface TensorInfo {
  readonly name: string
  readonly type: TensorType
  /** Outermost first, as in PyTorch; the last one is the row length. Empty for a scalar. */
  readonly shape: readonly number[]
  /** Of the first byte, in `source`. */
  readonly byteOffset: number
  readonly byteLength: number
  readonly source: ByteSource
}
