/** Checks on shapes and places of tensors that both file formats share. */
import { TENSOR_TYPES, type TensorType } from '../quant/tensor-types.ts'
import { EngineError } from '../shared/errors.ts'
import type { TensorInfo } from './tensor-info.ts'

/**
 * Bytes of a tensor with this shape, with every dimension checked.
 *
 * @param label Where the shape stands, for messages: `model.gguf: tensor "output.weight"`.
 * @throws EngineError `format/bad-shape`, `format/row-not-whole-blocks`.
 */
export function tensorByteLength(label: string, type: TensorType, shape: readonly number[]): number {
  let elementCount = 1
  for (const dim of shape) {
    if (!Number.isSafeInteger(dim) || dim < 0) {
      throw badShape(label, shape, `dimensions from 0 to 2^53-1`)
    }
    // Checked before the product, because a zero further on must not hide an overflow.
    if (dim > 0) elementCount *= dim
    if (!Number.isSafeInteger(elementCount)) throw badShape(label, shape, 'at most 2^53-1 elements')
  }
  const { blockLength, blockBytes } = TENSOR_TYPES[type]
  const rowLength = shape.at(-1) ?? 1
  if (rowLength % blockLength !== 0) {
    throw new EngineError('format/row-not-whole-blocks', {
      message: `${label}: type ${type} needs rows of a multiple of ${blockLength} elements, found ${rowLength} (shape [${shape.join(', ')}]).`,
      hint: 'The file is damaged or was written by a faulty converter; fetch or convert it again.',
    })
  }
  if (shape.includes(0)) return 0
  const byteLength = (elementCount / blockLength) * blockBytes
  if (!Number.isSafeInteger(byteLength)) throw badShape(label, shape, 'at most 2^53-1 bytes')
  return byteLength
}

function badShape(label: string, shape: readonly number[], expected: string): EngineError {
  return new EngineError('format/bad-shape', {
    message: `${label}: expected ${expected}, found shape [${shape.join(', ')}].`,
    hint: 'The file is damaged; fetch it again.',
  })
}

/**
 * Refuses tensors of one file that share bytes.
 *
 * @throws EngineError `format/tensors-overlap` naming both.
 */
export function checkNoOverlap(fileName: string, tensors: Iterable<TensorInfo>): void {
  const sorted = [...tensors]
    .filter((tensor) => tensor.byteLength > 0)
    .sort((a, b) => a.byteOffset - b.byteOffset)
  let previous: TensorInfo | undefined
  for (const tensor of sorted) {
    if (previous !== undefined && tensor.byteOffset < previous.byteOffset + previous.byteLength) {
      throw new EngineError('format/tensors-overlap', {
        message: `${fileName}: tensor "${tensor.name}" starts at byte ${tensor.byteOffset}, inside tensor "${previous.name}" (bytes ${previous.byteOffset} to ${previous.byteOffset + previous.byteLength}).`,
        hint: 'The file is damaged; fetch it again.',
      })
    }
    previous = tensor
  }
}
