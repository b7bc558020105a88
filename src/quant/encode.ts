/**
 * Float32 to stored blocks, the inverse of `decodeBlocks` up to rounding. Without calibration data.
 * F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0 and Q5_1 are bit-equal to the Python `gguf` package.
 */
import { EngineError } from '../shared/errors.ts'
import { encodeQ40, encodeQ41, encodeQ50, encodeQ51, encodeQ80 } from './encode-blocks32.ts'
import { encodeIq4Nl, encodeQ4K, encodeQ5K, encodeQ6K } from './encode-fitted.ts'
import { encodeBfloat16s, encodeHalves } from './half.ts'
import { byteLengthOf, TENSOR_TYPES, type TensorType } from './tensor-types.ts'

type Encoder = (values: Float32Array, out: Uint8Array) => void

const ENCODERS: Partial<Record<TensorType, Encoder>> = {
  F32: (values, out) => out.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength)),
  F16: encodeHalves,
  BF16: encodeBfloat16s,
  Q8_0: encodeQ80,
  Q4_0: encodeQ40,
  Q4_1: encodeQ41,
  Q5_0: encodeQ50,
  Q5_1: encodeQ51,
  IQ4_NL: encodeIq4Nl,
  Q4_K: encodeQ4K,
  Q5_K: encodeQ5K,
  Q6_K: encodeQ6K,
}

/** True when `encodeBlocks` knows the type. */
export function isEncodable(type: TensorType): boolean {
  return ENCODERS[type] !== undefined
}

/**
 * Encodes whole blocks into fresh bytes.
 *
 * @param values Their number is a multiple of the type's block length. Infinities and NaN pass through F32, F16
 *   and BF16 only; values beyond the range of F16 become infinities there.
 * @throws EngineError `format/unsupported-tensor-type` for a type without an encoder, `format/partial-block`,
 *   `format/value-not-finite`, `format/value-out-of-range` when a block scale does not fit 16 bits.
 */
export function encodeBlocks(type: TensorType, values: Float32Array): Uint8Array {
  const encode = ENCODERS[type]
  if (encode === undefined) {
    throw new EngineError('format/unsupported-tensor-type', {
      message: `Tensor type ${type} cannot be written; expected one of ${Object.keys(ENCODERS).join(', ')}.`,
      hint: 'Choose one of these types.',
    })
  }
  const out = new Uint8Array(byteLengthOf(type, values.length))
  if (TENSOR_TYPES[type].blockLength > 1) checkFinite(type, values)
  encode(values, out)
  return out
}

function checkFinite(type: TensorType, values: Float32Array): void {
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue
    throw new EngineError('format/value-not-finite', {
      message: `${type} stores finite values only; element ${i} is ${values[i]}.`,
      hint: 'The checkpoint is damaged, or this tensor must stay in F32.',
    })
  }
}
