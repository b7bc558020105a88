/** Writing small safetensors files in memory: traces, test fixtures. */
import { TENSOR_TYPES, type TensorType } from '../../quant/tensor-types.ts'
import { EngineError } from '../../shared/errors.ts'
import { tensorByteLength } from '../tensor-layout.ts'
import { isSafetensorsType, SAFETENSORS_TYPE_NAMES } from './dtypes.ts'
import { METADATA_KEY } from './parse-header.ts'

export interface SafetensorsTensor {
  readonly name: string
  readonly type: TensorType
  /** Outermost first. */
  readonly shape: readonly number[]
  /** Little-endian elements, row by row. */
  readonly data: Uint8Array
}

/** The header is padded with spaces, so that the data starts at a multiple of this many bytes. */
const HEADER_ALIGNMENT = 8

/**
 * A whole file. Tensors are ordered as the reference writer does, wide elements first and then by name, so that
 * each is aligned to its element size.
 *
 * @param metadata Strings for people, kept under `__metadata__`.
 * @throws EngineError `format/unsupported-tensor-type`, `format/size-mismatch`, `format/duplicate-name`,
 *   `format/bad-name`, `format/bad-shape`.
 */
export function writeSafetensors(
  tensors: readonly SafetensorsTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const ordered = [...tensors].sort(
    (a, b) => elementBytes(b) - elementBytes(a) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  )
  const records: [string, unknown][] = Object.keys(metadata).length > 0 ? [[METADATA_KEY, metadata]] : []
  const names = new Set<string>()
  let dataByteLength = 0
  for (const tensor of ordered) {
    checkTensor(tensor, names)
    const start = dataByteLength
    dataByteLength += tensor.data.byteLength
    const record = { dtype: tensor.type, shape: tensor.shape, data_offsets: [start, dataByteLength] }
    records.push([tensor.name, record])
  }
  const header = encodeHeader(records)
  const file = new Uint8Array(header.byteLength + dataByteLength)
  file.set(header)
  let at = header.byteLength
  for (const { data } of ordered) {
    file.set(data, at)
    at += data.byteLength
  }
  return file
}

// Joined by hand: an object would put names that look like whole numbers first.
function encodeHeader(records: readonly [string, unknown][]): Uint8Array {
  const json = `{${records.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
  const text = new TextEncoder().encode(json)
  const paddedLength = Math.ceil(text.byteLength / HEADER_ALIGNMENT) * HEADER_ALIGNMENT
  const header = new Uint8Array(8 + paddedLength).fill(0x20, 8 + text.byteLength)
  new DataView(header.buffer).setBigUint64(0, BigInt(paddedLength), true)
  header.set(text, 8)
  return header
}

function elementBytes({ type }: SafetensorsTensor): number {
  return TENSOR_TYPES[type].blockBytes
}

function checkTensor({ name, type, shape, data }: SafetensorsTensor, names: Set<string>): void {
  if (!isSafetensorsType(type)) {
    throw new EngineError('format/unsupported-tensor-type', {
      message: `Tensor "${name}" has type ${type}; safetensors holds ${SAFETENSORS_TYPE_NAMES}.`,
      hint: 'Decode it to F32 first.',
    })
  }
  if (name === METADATA_KEY) {
    throw new EngineError('format/bad-name', { message: `A tensor cannot be named "${METADATA_KEY}".` })
  }
  if (names.has(name)) {
    throw new EngineError('format/duplicate-name', { message: `Tensor "${name}" is given twice.` })
  }
  names.add(name)
  const expected = tensorByteLength(`tensor "${name}"`, type, shape)
  if (data.byteLength !== expected) {
    throw new EngineError('format/size-mismatch', {
      message: `Tensor "${name}": shape [${shape.join(', ')}] of ${type} takes ${expected} bytes, found ${data.byteLength}.`,
    })
  }
}
