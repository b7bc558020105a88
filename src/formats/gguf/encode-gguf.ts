/** Writing GGUF version 3: the header alone for converters that stream their tensors, or a whole file in memory. */
import { TENSOR_TYPES, type TensorType } from '../../quant/tensor-types.ts'
import { EngineError } from '../../shared/errors.ts'
import { MAX_GGUF_ALIGNMENT, MAX_GGUF_DIMS } from '../limits.ts'
import { tensorByteLength } from '../tensor-layout.ts'
import { ByteWriter } from './byte-writer.ts'
import { encodeTypedValue } from './encode-value.ts'
import type { GgufFile } from './load-gguf.ts'
import { ALIGNMENT_KEY, DEFAULT_ALIGNMENT } from './parse-header.ts'
import type { GgufValue, GgufValueType } from './value-types.ts'

export interface GgufEntry {
  readonly type: GgufValueType
  readonly value: GgufValue
}

export interface GgufTensorPlan {
  readonly name: string
  readonly type: TensorType
  /** Outermost first, at most four. */
  readonly shape: readonly number[]
}

export interface GgufPlan<Tensor extends GgufTensorPlan = GgufTensorPlan> {
  /** Written in this order. `general.quantization_version` is added when blocks are stored and it is missing. */
  readonly metadata: ReadonlyMap<string, GgufEntry>
  readonly tensors: readonly Tensor[]
  /** Default: the metadata's `general.alignment`, or 32. Another value is recorded in the metadata. */
  readonly alignment?: number
}

export interface GgufTensorData extends GgufTensorPlan {
  /** Stored form, `byteLengthOf` bytes. */
  readonly data: Uint8Array
}

export interface EncodedGgufHeader {
  /** Up to the first byte of tensor data, padding included. */
  readonly bytes: Uint8Array
  /** For each tensor of the plan its first byte, from the start of the data. Gaps between are zeros. */
  readonly tensorOffsets: readonly number[]
  /** Of the data with the padding of the last tensor. */
  readonly dataByteLength: number
}

const MAGIC = 0x46554747
const VERSION = 3
/** ggml stores names in 64 bytes with a terminator. */
const MAX_NAME_BYTES = 63
const QUANTIZATION_VERSION_KEY = 'general.quantization_version'
const QUANTIZATION_VERSION = 2

/** The metadata of a file that was read, in the form that writing takes. */
export function metadataEntries(gguf: Pick<GgufFile, 'metadata' | 'valueTypes'>): Map<string, GgufEntry> {
  const entries = new Map<string, GgufEntry>()
  for (const [key, value] of gguf.metadata) {
    const type = gguf.valueTypes.get(key)
    if (type !== undefined) entries.set(key, { type, value })
  }
  return entries
}

/**
 * A whole file in memory.
 *
 * @throws EngineError as `encodeGgufHeader`, and `format/size-mismatch` for data of another length than its shape.
 */
export function encodeGguf(plan: GgufPlan<GgufTensorData>): Uint8Array {
  const header = encodeGgufHeader(plan)
  const file = new Uint8Array(header.bytes.byteLength + header.dataByteLength)
  file.set(header.bytes)
  for (const [index, { name, type, shape, data }] of plan.tensors.entries()) {
    const expected = tensorByteLength(`tensor "${name}"`, type, shape)
    if (data.byteLength !== expected) {
      throw new EngineError('format/size-mismatch', {
        message: `Tensor "${name}": shape [${shape.join(', ')}] of ${type} takes ${expected} bytes, found ${data.byteLength}.`,
      })
    }
    file.set(data, header.bytes.byteLength + (header.tensorOffsets[index] as number))
  }
  return file
}

/**
 * Everything in front of the tensor data, and where each tensor's data belongs.
 *
 * @throws EngineError `format/bad-alignment`, `format/bad-name`, `format/duplicate-name`, `format/bad-shape`,
 *   `format/unsupported-tensor-type`, `format/row-not-whole-blocks`, `format/bad-metadata-value`.
 */
export function encodeGgufHeader(plan: GgufPlan): EncodedGgufHeader {
  const alignment = plannedAlignment(plan)
  const metadata = completeMetadata(plan, alignment)
  const writer = new ByteWriter()
  writer.u32(MAGIC)
  writer.u32(VERSION)
  writer.u64(plan.tensors.length)
  writer.u64(metadata.size)
  for (const [key, { type, value }] of metadata) {
    if (key === '') throw badName('metadata key', key, 'a name')
    writer.string(key)
    encodeTypedValue(writer, key, type, value)
  }
  const names = new Set<string>()
  const tensorOffsets: number[] = []
  let dataByteLength = 0
  for (const tensor of plan.tensors) {
    checkTensor(tensor, names)
    tensorOffsets.push(dataByteLength)
    encodeTensorRecord(writer, tensor, dataByteLength)
    const byteLength = tensorByteLength(`tensor "${tensor.name}"`, tensor.type, tensor.shape)
    dataByteLength += Math.ceil(byteLength / alignment) * alignment
  }
  writer.padTo(alignment)
  return { bytes: writer.finish(), tensorOffsets, dataByteLength }
}

function encodeTensorRecord(writer: ByteWriter, tensor: GgufTensorPlan, offset: number): void {
  writer.string(tensor.name)
  writer.u32(tensor.shape.length)
  for (const dim of tensor.shape.toReversed()) writer.u64(dim)
  writer.u32(ggmlIdOf(tensor))
  writer.u64(offset)
}

function plannedAlignment({ alignment, metadata }: GgufPlan): number {
  const recorded = metadata.get(ALIGNMENT_KEY)?.value
  const chosen = alignment ?? recorded ?? DEFAULT_ALIGNMENT
  const isPowerOfTwo = typeof chosen === 'number' && chosen >= 1 && Number.isInteger(Math.log2(chosen))
  if (!isPowerOfTwo || chosen > MAX_GGUF_ALIGNMENT) {
    throw badAlignment(`${String(chosen)}; expected a power of two up to ${MAX_GGUF_ALIGNMENT}`)
  }
  if (recorded !== undefined && recorded !== chosen) {
    throw badAlignment(`${chosen}, but the metadata says ${String(recorded)}`)
  }
  return chosen
}

function badAlignment(found: string): EngineError {
  return new EngineError('format/bad-alignment', { message: `The alignment is ${found}.` })
}

function completeMetadata(plan: GgufPlan, alignment: number): Map<string, GgufEntry> {
  const metadata = new Map(plan.metadata)
  if (alignment !== DEFAULT_ALIGNMENT) metadata.set(ALIGNMENT_KEY, { type: 'u32', value: alignment })
  const storesBlocks = plan.tensors.some(({ type }) => TENSOR_TYPES[type].blockLength > 1)
  if (storesBlocks && !metadata.has(QUANTIZATION_VERSION_KEY)) {
    metadata.set(QUANTIZATION_VERSION_KEY, { type: 'u32', value: QUANTIZATION_VERSION })
  }
  return metadata
}

function checkTensor({ name, shape }: GgufTensorPlan, names: Set<string>): void {
  const byteLength = new TextEncoder().encode(name).byteLength
  if (byteLength === 0 || byteLength > MAX_NAME_BYTES) {
    throw badName('tensor', name, `1 to ${MAX_NAME_BYTES} bytes of UTF-8`)
  }
  if (names.has(name)) {
    throw new EngineError('format/duplicate-name', { message: `Tensor "${name}" is given twice.` })
  }
  names.add(name)
  if (shape.length > MAX_GGUF_DIMS) {
    throw new EngineError('format/bad-shape', {
      message: `Tensor "${name}" has ${shape.length} dimensions; GGUF holds at most ${MAX_GGUF_DIMS}.`,
    })
  }
}

function badName(what: string, name: string, expected: string): EngineError {
  return new EngineError('format/bad-name', {
    message: `The ${what} name ${JSON.stringify(name)} cannot be written; expected ${expected}.`,
  })
}

function ggmlIdOf({ name, type }: GgufTensorPlan): number {
  const id = TENSOR_TYPES[type].ggmlId
  if (id === undefined) {
    throw new EngineError('format/unsupported-tensor-type', {
      message: `Tensor "${name}" has type ${type}, which GGUF cannot hold.`,
      hint: 'Convert it to F32 or I32.',
    })
  }
  return id
}
