import { isFloatMatrixType, isMatrixType, type MatrixType } from '../backend/ops.ts'
import type { TensorType } from '../quant/tensor-types.ts'
import type { KvType } from './blocks/kv-cache.ts'

/** `auto`: q8 for safetensors; GGUF files as they are. */
export type PrecisionName = 'f32' | 'q8' | 'q4' | 'auto'

export const PRECISIONS: readonly PrecisionName[] = ['f32', 'q8', 'q4', 'auto']

/** How keys and values of conversations are kept. */
export type KvName = 'f32' | 'f16' | 'q8'

/** Names and what they are on the device. */
export const KV_TYPES: Readonly<Record<KvName, KvType>> = { f32: 'F32', f16: 'F16', q8: 'Q8_0' }

/** How the weights of one checkpoint are kept. */
export interface Precision {
  readonly kind: 'f32' | 'q8' | 'q4' | 'as-stored'
}

/**
 * What a matrix is for. `layer`: attention and feed-forward of the decoder. `patch`: the first layer of a vision tower,
 * small and sensitive, so it is never quantised here.
 */
export type WeightRole = 'layer' | 'embedding' | 'output' | 'vision' | 'projector' | 'patch'

export function choosePrecision(name: PrecisionName, container: 'safetensors' | 'gguf'): Precision {
  if (name !== 'auto') return { kind: name }
  return { kind: container === 'gguf' ? 'as-stored' : 'q8' }
}

/** With float32 weights float32, so that a trace can be held against others to the last digits. */
export function defaultKv({ kind }: Precision): KvName {
  return kind === 'f32' ? 'f32' : 'f16'
}

/**
 * The type in which a matrix is kept. Quantised files stay as they are, since quantising again only loses; with f32
 * they are decoded. Types without kernels (Q2_K, Q3_K, MXFP4, …) become Q8_0, which adds next to nothing to their error.
 */
export function storedType(type: TensorType, role: WeightRole, { kind }: Precision): MatrixType {
  const isFloat = type === 'F64' || (isMatrixType(type) && isFloatMatrixType(type))
  if (!isFloat) {
    if (kind === 'f32') return 'F32'
    return isMatrixType(type) ? type : 'Q8_0'
  }
  const own: MatrixType = isMatrixType(type) ? type : 'F32'
  if (kind === 'f32' || kind === 'as-stored' || role === 'patch') return own
  return kind === 'q4' && role === 'layer' ? 'Q4_0' : 'Q8_0'
}
