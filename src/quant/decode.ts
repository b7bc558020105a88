/**
 * Stored blocks to float32: the scalar reference that kernels are held against, and the way in for types that
 * have no kernel. Bit-equal to the Python `gguf` package's dequantisation.
 */
import { EngineError } from '../shared/errors.ts'
import {
  decodeIq4Nl,
  decodeMxfp4,
  decodeQ40,
  decodeQ41,
  decodeQ50,
  decodeQ51,
  decodeQ80,
} from './decode-blocks32.ts'
import {
  decodeIq4Xs,
  decodeQ2K,
  decodeQ3K,
  decodeQ4K,
  decodeQ5K,
  decodeQ6K,
  decodeQ8K,
} from './decode-blocks256.ts'
import { decodeBfloat16s, decodeHalves } from './half.ts'
import { byteLengthOf, type TensorType } from './tensor-types.ts'

type Decoder = (bytes: Uint8Array, out: Float32Array) => void

const DECODERS: Partial<Record<TensorType, Decoder>> = {
  F32: (bytes, out) => new Uint8Array(out.buffer, out.byteOffset, out.byteLength).set(bytes),
  F16: decodeHalves,
  BF16: decodeBfloat16s,
  F64: viewDecoder(8, (view, at) => view.getFloat64(at, true)),
  I8: viewDecoder(1, (view, at) => view.getInt8(at)),
  I16: viewDecoder(2, (view, at) => view.getInt16(at, true)),
  I32: viewDecoder(4, (view, at) => view.getInt32(at, true)),
  U8: viewDecoder(1, (view, at) => view.getUint8(at)),
  BOOL: viewDecoder(1, (view, at) => (view.getUint8(at) === 0 ? 0 : 1)),
  Q4_0: decodeQ40,
  Q4_1: decodeQ41,
  Q5_0: decodeQ50,
  Q5_1: decodeQ51,
  Q8_0: decodeQ80,
  Q2_K: decodeQ2K,
  Q3_K: decodeQ3K,
  Q4_K: decodeQ4K,
  Q5_K: decodeQ5K,
  Q6_K: decodeQ6K,
  Q8_K: decodeQ8K,
  IQ4_NL: decodeIq4Nl,
  IQ4_XS: decodeIq4Xs,
  MXFP4: decodeMxfp4,
}

function viewDecoder(elementBytes: number, read: (view: DataView, at: number) => number): Decoder {
  return (bytes, out) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let i = 0; i < out.length; i++) out[i] = read(view, i * elementBytes)
  }
}

/** True when `decodeBlocks` knows the type. */
export function isDecodable(type: TensorType): boolean {
  return DECODERS[type] !== undefined
}

/**
 * Decodes whole blocks. `bytes` may start at any address; integers beyond 2^24 are rounded to float32.
 *
 * @param out Its length is the number of elements, a multiple of the type's block length.
 * @throws EngineError `format/unsupported-tensor-type` for a type without a decoder,
 *   `format/wrong-byte-length` when `bytes` does not hold exactly `out.length` elements.
 */
export function decodeBlocks(type: TensorType, bytes: Uint8Array, out: Float32Array): void {
  const decode = DECODERS[type]
  if (decode === undefined) {
    throw new EngineError('format/unsupported-tensor-type', {
      message: `Tensor type ${type} cannot be decoded; expected one of ${Object.keys(DECODERS).join(', ')}.`,
      hint: 'Use a file of the same model in another quantisation, for example Q4_K_M or Q8_0.',
    })
  }
  const expected = byteLengthOf(type, out.length)
  if (bytes.byteLength !== expected) {
    throw new EngineError('format/wrong-byte-length', {
      message: `${out.length} elements of type ${type} take ${expected} bytes, found ${bytes.byteLength}.`,
    })
  }
  decode(bytes, out)
}
