import { type TensorType, tensorTypeFromGgmlId, WITHDRAWN_GGML_TYPES } from '../quant/tensor-types.ts'
import { EngineError } from '../shared/errors.ts'

/**
 * The type with this id in a file of ggml's.
 *
 * @param label Which tensor has it, for messages: `model.gguf: tensor "output.weight"`.
 * @throws EngineError `format/unsupported-tensor-type`.
 */
export function requireGgmlType(typeId: number, label: string): TensorType {
  const info = tensorTypeFromGgmlId(typeId)
  if (info !== undefined) return info.name
  const withdrawn = WITHDRAWN_GGML_TYPES.get(typeId)
  throw new EngineError('format/unsupported-tensor-type', {
    message:
      withdrawn === undefined
        ? `${label} has the unknown type id ${typeId}.`
        : `${label} has type ${withdrawn}, which ggml has withdrawn.`,
    hint: 'Take a file of the same model in another quantisation, for example Q4_K_M or Q8_0.',
  })
}
