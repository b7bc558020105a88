/** Looks at the values of one tensor: all of them, or stretches from several places. */
import type { TensorInfo } from '../formats/tensor-info.ts'
import { decodeBlocks, isDecodable } from '../quant/decode.ts'
import { halfAt } from '../quant/half.ts'
import { TENSOR_TYPES, type TensorType } from '../quant/tensor-types.ts'
import { strips } from './matrix-sample.ts'

export interface TensorProbe {
  /** Elements that were looked at. */
  readonly elements: number
  readonly notFinite: number
  readonly zeros: number
  readonly ones: number
  /** Largest absolute value among the finite ones. */
  readonly largest: number
  /** Blocks whose scale no quantiser writes. */
  readonly badScales: number
  /** Equal for tensors whose bytes are equal where they were looked at. */
  readonly fingerprint: number
  readonly isConstant: boolean
  readonly bytesRead: number
}

/** Bytes read at a time: fast on disks, small in memory. */
const PIECE_BYTES = 2 ** 20
/** A block's scale is its largest element over 7 to 127; weights stay below 10,000. */
const MAX_SCALE = 256

/** Where the 16-bit scales of a block stand, in bytes from its start (ggml-org/ggml `src/ggml-common.h`). */
const SCALE_PLACES: Readonly<Partial<Record<TensorType, readonly number[]>>> = {
  Q4_0: [0],
  Q4_1: [0, 2],
  Q5_0: [0],
  Q5_1: [0, 2],
  Q8_0: [0],
  Q2_K: [80, 82],
  Q3_K: [108],
  Q4_K: [0, 2],
  Q5_K: [0, 2],
  Q6_K: [208],
  IQ4_NL: [0],
  IQ4_XS: [0],
}

/** The scale of these is a power of two in one byte, of which the largest means "not a number". */
const EXPONENT_SCALES: ReadonlySet<TensorType> = new Set(['MXFP4'])

/** Whether the values of a tensor can be looked at: types with a decoder that hold weights. */
export function canProbe({ type, byteLength }: TensorInfo): boolean {
  return isDecodable(type) && byteLength > 0 && !/^(I8|I16|I32|U8|BOOL)$/.test(type)
}

/** @param maxBytes How much is read at most; whole blocks, at least one of each of the `places`. */
export async function probeTensor(
  tensor: TensorInfo,
  maxBytes: number,
  places: number,
): Promise<GrowingProbe> {
  const probe = new GrowingProbe(tensor.type)
  const { blockBytes } = TENSOR_TYPES[tensor.type]
  const blocks = tensor.byteLength / blockBytes
  const wanted = Math.min(blocks, Math.max(places, Math.floor(maxBytes / blockBytes)))
  const pieceBlocks = Math.max(1, Math.floor(PIECE_BYTES / blockBytes))
  for (const { first, count } of strips(blocks, wanted, places)) {
    for (let done = 0; done < count; done += pieceBlocks) {
      const bytes = new Uint8Array(Math.min(pieceBlocks, count - done) * blockBytes)
      await tensor.source.readInto(bytes, tensor.byteOffset + (first + done) * blockBytes)
      probe.add(bytes)
    }
  }
  return probe
}

/** What is learned of a tensor from the bytes it is shown: whole blocks, in any number of pieces. */
export class GrowingProbe implements TensorProbe {
  readonly #type: TensorType
  #first: number | undefined
  elements = 0
  notFinite = 0
  zeros = 0
  ones = 0
  largest = 0
  badScales = 0
  fingerprint = 0x811c9dc5
  isConstant = true
  bytesRead = 0

  constructor(type: TensorType) {
    this.#type = type
  }

  add(bytes: Uint8Array): void {
    this.bytesRead += bytes.byteLength
    this.#addFingerprint(bytes)
    this.#addScales(bytes)
    const { blockBytes, blockLength } = TENSOR_TYPES[this.#type]
    const values = new Float32Array((bytes.byteLength / blockBytes) * blockLength)
    decodeBlocks(this.#type, bytes, values)
    this.#first ??= values[0]
    let { zeros, ones, notFinite, largest } = this
    let isConstant = this.isConstant
    for (const value of values) {
      if (value === 0) zeros++
      else if (value === 1) ones++
      if (value !== this.#first) isConstant = false
      const size = Math.abs(value)
      if (size > largest && size !== Number.POSITIVE_INFINITY) largest = size
      else if (!(size < Number.POSITIVE_INFINITY)) notFinite++
    }
    Object.assign(this, { zeros, ones, notFinite, largest, isConstant })
    this.elements += values.length
  }

  /** FNV-1a over 32-bit words, which is enough to tell tensors of one file apart. */
  #addFingerprint(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let hash = this.fingerprint
    for (let at = 0; at + 4 <= bytes.byteLength; at += 4)
      hash = Math.imul(hash ^ view.getUint32(at, true), 0x01000193)
    this.fingerprint = hash >>> 0
  }

  #addScales(bytes: Uint8Array): void {
    const { blockBytes } = TENSOR_TYPES[this.#type]
    if (EXPONENT_SCALES.has(this.#type)) {
      for (let at = 0; at < bytes.byteLength; at += blockBytes) if (bytes[at] === 0xff) this.badScales++
      return
    }
    const places = SCALE_PLACES[this.#type] ?? []
    for (let at = 0; at < bytes.byteLength; at += blockBytes) {
      // The comparison is false for what is not a number.
      if (places.some((place) => !(Math.abs(halfAt(bytes, at + place)) <= MAX_SCALE))) this.badScales++
    }
  }
}
