import { EngineError } from '../shared/errors.ts'
import { floatToHalf } from './half.ts'

/**
 * Stores a block's scale or minimum as a little-endian half.
 *
 * @throws EngineError `format/value-out-of-range` when it does not fit: the block would decode to infinities.
 */
export function storeHalf(value: number, out: Uint8Array, at: number): void {
  const half = floatToHalf(value)
  if ((half & 0x7c00) === 0x7c00) {
    throw new EngineError('format/value-out-of-range', {
      message: `A block needs the scale or minimum ${value}; expected a magnitude of at most 65504 (16-bit float).`,
      hint: 'Keep this tensor in F32 or BF16.',
    })
  }
  out[at] = half
  out[at + 1] = half >>> 8
}
