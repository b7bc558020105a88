/**
 * The header of a GGUF file, version 2 or 3, little-endian: everything before the tensor data.
 * Pure: the caller brings the bytes. Layout: ggml-org/ggml `docs/gguf.md`.
 */
import type { TensorType } from '../../quant/tensor-types.ts'
import { EngineError } from '../../shared/errors.ts'
import { createWrongKindError } from '../content-kind.ts'
import { requireGgmlType } from '../ggml-type.ts'
import {
  MAX_GGUF_ALIGNMENT,
  MAX_GGUF_DIMS,
  MAX_GGUF_KEY_BYTES,
  MAX_GGUF_KEYS,
  MAX_GGUF_TENSOR_NAME_BYTES,
  MAX_TENSORS,
} from '../limits.ts'
import { tensorByteLength } from '../tensor-layout.ts'
import { HeaderCursor } from './header-cursor.ts'
import { type ElementBudget, parseTypedValue } from './parse-value.ts'
import type { GgufValue, GgufValueType } from './value-types.ts'

export const DEFAULT_ALIGNMENT = 32
export const ALIGNMENT_KEY = 'general.alignment'

export interface GgufTensorEntry {
  readonly name: string
  readonly type: TensorType
  /** Outermost first. */
  readonly shape: readonly number[]
  /** From the start of the data section. */
  readonly relativeOffset: number
  readonly byteLength: number
}

export interface GgufHeader {
  readonly version: 2 | 3
  readonly alignment: number
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly valueTypes: ReadonlyMap<string, GgufValueType>
  readonly tensors: ReadonlyMap<string, GgufTensorEntry>
  /** Where the tensor data starts in the file. */
  readonly dataOffset: number
}

// A tensor record without its name: name length, axis count, one axis, type, offset.
const MIN_TENSOR_RECORD_BYTES = 8 + 4 + 8 + 4 + 8
// A key/value pair: key length, type, one byte.
const MIN_KEY_RECORD_BYTES = 8 + 4 + 1

/**
 * Parses the header from the first bytes of a file.
 *
 * @param onDuplicate Is told of names that appear twice, of which the first counts. Default: they are thrown.
 * @throws MoreBytesNeeded when `bytes` ends inside the header although the file goes on.
 * @throws EngineError `format/…` naming the file and field.
 */
export function parseGgufHeader(
  fileName: string,
  bytes: Uint8Array,
  fileByteLength: number,
  onDuplicate: (error: EngineError) => void = (error) => {
    throw error
  },
): GgufHeader {
  const cursor = new HeaderCursor(fileName, bytes, fileByteLength)
  const version = parseMagicAndVersion(cursor, bytes)
  const tensorCount = cursor.count('tensor count', MAX_TENSORS)
  const keyCount = cursor.count('key count', MAX_GGUF_KEYS)
  checkCount(cursor, 'keys', keyCount, MIN_KEY_RECORD_BYTES)
  checkCount(cursor, 'tensors', tensorCount, MIN_TENSOR_RECORD_BYTES)

  const metadata = new Map<string, GgufValue>()
  const valueTypes = new Map<string, GgufValueType>()
  const budget: ElementBudget = { used: 0 }
  for (let i = 0; i < keyCount; i++) {
    const key = cursor.string(`key ${i}`, MAX_GGUF_KEY_BYTES)
    const { type, value } = parseTypedValue(cursor, `key "${key}"`, budget)
    if (metadata.has(key)) {
      onDuplicate(duplicate(fileName, 'key', key))
      continue
    }
    metadata.set(key, value)
    valueTypes.set(key, type)
  }

  const alignment = parseAlignment(fileName, metadata)
  const tensors = new Map<string, GgufTensorEntry>()
  for (let i = 0; i < tensorCount; i++) {
    const tensor = parseTensorEntry(cursor, i, alignment)
    if (tensors.has(tensor.name)) onDuplicate(duplicate(fileName, 'tensor', tensor.name))
    else tensors.set(tensor.name, tensor)
  }
  const dataOffset = Math.ceil(cursor.offset / alignment) * alignment
  return { version, alignment, metadata, valueTypes, tensors, dataOffset }
}

function parseMagicAndVersion(cursor: HeaderCursor, bytes: Uint8Array): 2 | 3 {
  const { fileName } = cursor
  const isGguf = bytes.length >= 4 && new TextDecoder('latin1').decode(bytes.subarray(0, 4)) === 'GGUF'
  if (!isGguf) throw createWrongKindError(fileName, 'a GGUF file', bytes)
  cursor.u32('magic')
  const version = cursor.u32('version')
  if (version === 2 || version === 3) return version
  const isSwapped = (version & 0xffff) === 0 && version !== 0
  throw new EngineError('format/unsupported-version', {
    message: isSwapped
      ? `${fileName}: the file is big-endian GGUF; expected little-endian.`
      : `${fileName}: GGUF version ${version}; expected 2 or 3.`,
    hint:
      isSwapped || version === 1
        ? 'Convert the model again with a current converter, or take another file of it.'
        : 'The file is damaged or newer than this reader.',
  })
}

function checkCount(cursor: HeaderCursor, what: string, count: number, minRecordBytes: number): void {
  if (count * minRecordBytes <= cursor.remaining) return
  throw new EngineError('format/truncated', {
    message: `${cursor.fileName}: the header announces ${count} ${what}, at least ${count * minRecordBytes} bytes, but only ${cursor.remaining} bytes follow in the file.`,
    hint: 'The download looks incomplete; fetch the file again.',
  })
}

function parseAlignment(fileName: string, metadata: ReadonlyMap<string, GgufValue>): number {
  const value = metadata.get(ALIGNMENT_KEY) ?? DEFAULT_ALIGNMENT
  const isPowerOfTwo = typeof value === 'number' && Number.isInteger(Math.log2(value)) && value >= 1
  if (!isPowerOfTwo || value > MAX_GGUF_ALIGNMENT) {
    throw new EngineError('format/bad-alignment', {
      message: `${fileName}: ${ALIGNMENT_KEY} is ${String(value)}; expected a power of two from 1 to ${MAX_GGUF_ALIGNMENT}.`,
      hint: 'The file is damaged; fetch it again.',
    })
  }
  return value
}

function parseTensorEntry(cursor: HeaderCursor, index: number, alignment: number): GgufTensorEntry {
  const name = cursor.string(`name of tensor ${index}`, MAX_GGUF_TENSOR_NAME_BYTES)
  const field = `tensor "${name}"`
  const label = `${cursor.fileName}: ${field}`
  const dimCount = cursor.u32(`dimension count of ${field}`)
  if (dimCount > MAX_GGUF_DIMS) {
    throw new EngineError('format/limit-exceeded', {
      message: `${label} has ${dimCount} dimensions; expected at most ${MAX_GGUF_DIMS}.`,
      hint: 'The file is damaged; fetch it again.',
    })
  }
  const shape: number[] = []
  for (let axis = 0; axis < dimCount; axis++) {
    // The file has the fastest axis first.
    shape.unshift(cursor.count(`dimension ${axis} of ${field}`, Number.MAX_SAFE_INTEGER))
  }
  const type = requireGgmlType(cursor.u32(`type of ${field}`), label)
  const byteLength = tensorByteLength(label, type, shape)
  const relativeOffset = cursor.count(`offset of ${field}`, Number.MAX_SAFE_INTEGER)
  if (relativeOffset % alignment !== 0) {
    throw new EngineError('format/misaligned-tensor', {
      message: `${label} starts at byte ${relativeOffset} of the data; expected a multiple of the alignment ${alignment}.`,
      hint: 'The file is damaged or was written by a faulty converter; fetch or convert it again.',
    })
  }
  return { name, type, shape, relativeOffset, byteLength }
}

function duplicate(fileName: string, what: string, name: string): EngineError {
  return new EngineError('format/duplicate-name', {
    message: `${fileName}: ${what} "${name}" appears twice; expected each once.`,
    hint: 'The file is damaged; fetch it again.',
  })
}
