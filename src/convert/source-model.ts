/** A model as conversion takes it: what to write, and where each tensor's data lies now. */
import type { GgufEntry } from '../formats/gguf/encode-gguf.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'

/** Weight matrices by what they are for; recipes choose a type for each. */
export const MATRIX_ROLES = [
  'attention', // of the decoder
  'feedForward', // of the decoder
  'embedding',
  'output',
  'vision',
  'projector',
] as const

export type MatrixRole = (typeof MATRIX_ROLES)[number]

/**
 * `patch`: the convolution over patches, which runtimes take as floats only. `vector`: norms, biases and tables of
 * positions, always float32.
 */
export type TensorRole = MatrixRole | 'patch' | 'vector'

export interface SourceTensor {
  /** In the file to be written. */
  readonly name: string
  readonly role: TensorRole
  /** In the file to be written, outermost first. */
  readonly shape: readonly number[]
  readonly info: TensorInfo
  /**
   * Rows of an attention head that are to change places: from pairs (i, i + n/2), as Hugging Face has them, to pairs of
   * neighbours (2i, 2i + 1), as GGUF's architecture llama wants them. Undefined: rows stay where they are.
   */
  readonly interleavedRows?: number | undefined
}

export interface SourceFile {
  /** Complete but for `general.file_type`. */
  readonly metadata: ReadonlyMap<string, GgufEntry>
  readonly tensors: readonly SourceTensor[]
}

export interface SourceModel {
  /** What messages call it. */
  readonly name: string
  readonly text: SourceFile
  /** Undefined for a text model. */
  readonly projector: SourceFile | undefined
  /** What a GGUF file cannot say about this model, in words for the user. */
  readonly notes: readonly string[]
}
