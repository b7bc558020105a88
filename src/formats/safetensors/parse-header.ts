/**
 * The JSON header of a safetensors file. As strict as the reference reader (huggingface/safetensors
 * `safetensors/src/tensor.rs`): tensors fill the data without gaps or overlap, nothing follows them.
 */
import type { TensorType } from '../../quant/tensor-types.ts'
import { EngineError } from '../../shared/errors.ts'
import { MAX_SAFETENSORS_DIMS, MAX_TENSORS } from '../limits.ts'
import { tensorByteLength } from '../tensor-layout.ts'
import { isSafetensorsType, SAFETENSORS_TYPE_NAMES } from './dtypes.ts'
import { findDuplicateKey } from './duplicate-keys.ts'

export interface SafetensorsEntry {
  readonly name: string
  readonly type: TensorType
  readonly shape: readonly number[]
  /** From the start of the data, right behind the header. */
  readonly relativeOffset: number
  readonly byteLength: number
}

/** The one header key that is not a tensor: strings for people. */
export const METADATA_KEY = '__metadata__'

const DAMAGED_HINT = 'The file is damaged; fetch it again.'

/**
 * Parses the header text.
 *
 * @param dataByteLength Bytes behind the header.
 * @returns Tensors in the order of their data.
 * @throws EngineError `format/…` naming the file and field.
 */
export function parseSafetensorsHeader(
  fileName: string,
  header: Uint8Array,
  dataByteLength: number,
): SafetensorsEntry[] {
  const records = parseJsonObject(fileName, header)
  if (records.length > MAX_TENSORS) {
    throw new EngineError('format/limit-exceeded', {
      message: `${fileName}: the header lists ${records.length} tensors; expected at most ${MAX_TENSORS}.`,
      hint: DAMAGED_HINT,
    })
  }
  const entries = records
    .filter(([name]) => name !== METADATA_KEY)
    .map(([name, record]) => parseEntry(fileName, name, record, dataByteLength))
  entries.sort((a, b) => a.relativeOffset - b.relativeOffset || a.byteLength - b.byteLength)
  checkCoverage(fileName, entries, dataByteLength)
  return entries
}

function parseJsonObject(fileName: string, header: Uint8Array): [string, unknown][] {
  let value: unknown
  let duplicateKey: string | undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(header)
    value = JSON.parse(text)
    duplicateKey = findDuplicateKey(text)
  } catch (cause) {
    throw new EngineError('format/bad-json', {
      message: `${fileName}: the header (bytes 8 to ${8 + header.byteLength}) is not JSON: ${(cause as Error).message}.`,
      hint: DAMAGED_HINT,
      cause,
    })
  }
  if (duplicateKey !== undefined) {
    throw new EngineError('format/duplicate-name', {
      message: `${fileName}: "${duplicateKey}" appears twice in the header; expected each name once.`,
      hint: DAMAGED_HINT,
    })
  }
  if (!isRecord(value)) {
    throw new EngineError('format/bad-header', {
      message: `${fileName}: the header is ${describe(value)}; expected an object of tensors.`,
      hint: DAMAGED_HINT,
    })
  }
  return Object.entries(value)
}

function parseEntry(
  fileName: string,
  name: string,
  record: unknown,
  dataByteLength: number,
): SafetensorsEntry {
  const label = `${fileName}: tensor "${name}"`
  if (!isRecord(record)) throw badField(label, 'its entry', 'an object', record)
  const { dtype, shape, data_offsets: offsets } = record
  if (typeof dtype !== 'string') throw badField(label, 'dtype', 'a string', dtype)
  if (!isSafetensorsType(dtype)) {
    throw new EngineError('format/unsupported-tensor-type', {
      message: `${label} has dtype ${dtype}; expected one of ${SAFETENSORS_TYPE_NAMES}.`,
      hint: 'Take the checkpoint in F32, F16 or BF16; it is quantised on loading.',
    })
  }
  if (!isCountList(shape) || shape.length > MAX_SAFETENSORS_DIMS) {
    throw badField(label, 'shape', `a list of at most ${MAX_SAFETENSORS_DIMS} whole numbers`, shape)
  }
  if (!isCountList(offsets) || offsets.length !== 2) {
    throw badField(label, 'data_offsets', 'two whole numbers', offsets)
  }
  const [start, end] = offsets as [number, number]
  const byteLength = tensorByteLength(label, dtype, shape)
  if (end - start !== byteLength) {
    throw new EngineError('format/size-mismatch', {
      message: `${label}: shape [${shape.join(', ')}] of ${dtype} takes ${byteLength} bytes, but data_offsets [${start}, ${end}] span ${end - start}.`,
      hint: DAMAGED_HINT,
    })
  }
  if (end > dataByteLength) {
    throw new EngineError('format/tensor-out-of-bounds', {
      message: `${label} ends at byte ${end} of the data, but the file has ${dataByteLength} bytes of data.`,
      hint: 'The download looks incomplete; fetch the file again.',
    })
  }
  return { name, type: dtype, shape, relativeOffset: start, byteLength }
}

function checkCoverage(fileName: string, entries: readonly SafetensorsEntry[], dataByteLength: number): void {
  let previous: SafetensorsEntry | undefined
  let covered = 0
  for (const entry of entries) {
    if (entry.relativeOffset !== covered) {
      const isOverlap = entry.relativeOffset < covered
      const where = previous === undefined ? 'the start of the data' : `the end of tensor "${previous.name}"`
      throw new EngineError(isOverlap ? 'format/tensors-overlap' : 'format/gap-in-data', {
        message: `${fileName}: tensor "${entry.name}" starts at byte ${entry.relativeOffset} of the data; expected ${covered}, ${where}.`,
        hint: DAMAGED_HINT,
      })
    }
    covered += entry.byteLength
    previous = entry
  }
  if (covered !== dataByteLength) {
    throw new EngineError('format/trailing-bytes', {
      message: `${fileName}: the tensors take ${covered} bytes, but ${dataByteLength} bytes follow the header.`,
      hint: DAMAGED_HINT,
    })
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCountList(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0)
}

function badField(label: string, field: string, expected: string, found: unknown): EngineError {
  return new EngineError('format/bad-header', {
    message: `${label}: ${field} is ${describe(found)}; expected ${expected}.`,
    hint: DAMAGED_HINT,
  })
}

// Enough to recognise a value, short enough for a line. Nested values are not written out: they may be too deep.
const MAX_SHOWN_ITEMS = 10
const MAX_SHOWN_LENGTH = 80

function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (isRecord(value)) return 'an object'
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_SHOWN_ITEMS).map((item) => (isNested(item) ? '…' : JSON.stringify(item)))
    if (value.length > MAX_SHOWN_ITEMS) items.push('…')
    return shorten(`[${items.join(',')}]`)
  }
  return shorten(JSON.stringify(value))
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`
}
