/** From a recipe's wishes to the type of each tensor: what rows, runtimes and the source's own type allow. */
import { TENSOR_TYPES, type TensorType } from '../quant/tensor-types.ts'
import { EngineError } from '../shared/errors.ts'
import { namedType, type Recipe, wantedType } from './recipe.ts'
import type { SourceTensor, TensorRole } from './source-model.ts'

export interface PlannedTensor {
  readonly source: SourceTensor
  readonly type: TensorType
  /** Why it is not the type that the recipe asks for. */
  readonly reason?: string
}

/** What takes a type's place where its blocks do not divide a row: as many bits or more in smaller blocks. */
const SMALLER_BLOCKS: Partial<Record<TensorType, TensorType>> = {
  Q4_K: 'Q4_1',
  Q5_K: 'Q5_1',
  Q6_K: 'Q8_0',
}

/** @throws EngineError `option/recipe` when the recipe names a tensor that is not there, or a type it cannot have. */
export function planTensors(tensors: readonly SourceTensor[], recipe: Recipe): PlannedTensor[] {
  return tensors.map((source) => planTensor(source, recipe))
}

function planTensor(source: SourceTensor, recipe: Recipe): PlannedTensor {
  const { name, role, info } = source
  if (!isMatrix(role)) {
    const type = role === 'patch' && recipe.types.vision !== 'F32' ? 'F16' : 'F32'
    const named = namedType(recipe, name)
    if (named === undefined || named === type) return { source, type }
    return { source, type, reason: `${named} is not possible: runtimes take it as ${type} only` }
  }
  const wanted = wantedType(recipe, name, role)
  const bits = bitsPerWeight(wanted)
  if (TENSOR_TYPES[info.type].blockLength > 1 && bitsPerWeight(info.type) <= bits) {
    // Rounding again to as many bits only loses.
    return info.type === wanted
      ? { source, type: wanted }
      : { source, type: info.type, reason: 'is stored so' }
  }
  const columns = source.shape.at(-1) ?? 1
  let type: TensorType = wanted
  while (columns % TENSOR_TYPES[type].blockLength !== 0) type = SMALLER_BLOCKS[type] ?? 'F16'
  if (type === wanted) return { source, type }
  const { blockLength } = TENSOR_TYPES[wanted]
  return { source, type, reason: `rows of ${columns} are not whole blocks of ${blockLength} for ${wanted}` }
}

function isMatrix(role: TensorRole): role is Exclude<TensorRole, 'patch' | 'vector'> {
  return role !== 'patch' && role !== 'vector'
}

export function bitsPerWeight(type: TensorType): number {
  const { blockBytes, blockLength } = TENSOR_TYPES[type]
  return (blockBytes * 8) / blockLength
}

/** A recipe of the user's that names tensors which do not exist is misspelt. */
export function checkRecipeTensors(tensors: readonly SourceTensor[], recipe: Recipe): void {
  for (const rule of recipe.tensors.filter(({ refines }) => refines === undefined)) {
    const single = { ...recipe, tensors: [rule] }
    if (tensors.some(({ name }) => namedType(single, name) !== undefined)) continue
    throw new EngineError('option/recipe', {
      message: `The recipe ${recipe.name} names "${rule.pattern}", but the model has no such tensor.`,
      hint: `Names are as in the file written, for example ${tensors[0]?.name ?? 'token_embd.weight'}.`,
    })
  }
}
