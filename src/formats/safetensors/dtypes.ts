/** Element types of safetensors by their names in the file; the engine's names are the same. */
import type { TensorType } from '../../quant/tensor-types.ts'

const DTYPES: ReadonlySet<string> = new Set<TensorType>([
  'BOOL',
  'U8',
  'I8',
  'I16',
  'F16',
  'BF16',
  'I32',
  'F32',
  'F64',
  'I64',
])

/** True for a type that a safetensors file can hold and this engine knows. */
export function isSafetensorsType(name: string): name is TensorType {
  return DTYPES.has(name)
}

export const SAFETENSORS_TYPE_NAMES: string = [...DTYPES].join(', ')
