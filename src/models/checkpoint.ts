import type { GgufFile } from '../formats/gguf/load-gguf.ts'
import type { TensorInfo } from '../formats/tensor-info.ts'

/** A model's files, opened but not yet read: a Hugging Face repository folder. */
export interface SafetensorsCheckpoint {
  readonly container: 'safetensors'
  /** What messages call it. */
  readonly name: string
  /** Parsed `config.json`. */
  readonly config: unknown
  readonly tensors: ReadonlyMap<string, TensorInfo>
}

/** A GGUF text model, with its mmproj file when it sees. */
export interface GgufCheckpoint {
  readonly container: 'gguf'
  readonly name: string
  readonly text: GgufFile
  readonly projector: GgufFile | undefined
}

export type Checkpoint = SafetensorsCheckpoint | GgufCheckpoint
