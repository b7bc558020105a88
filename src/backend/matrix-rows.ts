/** How many bytes a matrix row takes in ggml's own blocks: the layout of raw rows in files and buffers. */

import { TENSOR_TYPES } from '../quant/tensor-types.ts'
import { EngineError } from '../shared/errors.ts'
import type { MatrixType } from './ops.ts'

/**
 * Bytes of one raw row. Q8_0 and Q4_0 rows may end inside a block, since `encodeRows` fills them with zeros;
 * other types store whole blocks only.
 *
 * @throws EngineError `backend/partial-block` when the columns do not fill the type's blocks.
 */
export function rawRowByteLength(type: MatrixType, columns: number): number {
  const { blockLength, blockBytes } = TENSOR_TYPES[type]
  if (columns % blockLength !== 0 && type !== 'Q8_0' && type !== 'Q4_0') {
    throw new EngineError('backend/partial-block', {
      message: `A ${type} row holds blocks of ${blockLength}; expected columns to be a multiple of that, found ${columns}.`,
      hint: 'Encode the matrix as Q8_0 or Q4_0, whose last block may be filled up, or keep it in F16.',
    })
  }
  return Math.ceil(columns / blockLength) * blockBytes
}
