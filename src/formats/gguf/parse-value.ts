/** One metadata value of a GGUF header. */
import { EngineError } from '../../shared/errors.ts'
import { MAX_GGUF_ARRAY_DEPTH, MAX_GGUF_ARRAY_ELEMENTS, MAX_GGUF_STRING_BYTES } from '../limits.ts'
import type { HeaderCursor } from './header-cursor.ts'
import {
  ARRAY_TYPE_ID,
  type GgufArray,
  type GgufScalarType,
  type GgufValue,
  type GgufValueType,
  MIN_ARRAY_BYTES,
  MIN_SCALAR_BYTES,
  SCALAR_TYPE_BY_ID,
} from './value-types.ts'

/** Array elements read so far in this file, against `MAX_GGUF_ARRAY_ELEMENTS`. */
export interface ElementBudget {
  used: number
}

/** Reads the type id and the value behind it. `field` names the key in messages. */
export function parseTypedValue(
  cursor: HeaderCursor,
  field: string,
  budget: ElementBudget,
): { type: GgufValueType; value: GgufValue } {
  const typeId = cursor.u32(`type of ${field}`)
  if (typeId === ARRAY_TYPE_ID) return parseArray(cursor, field, budget, 1)
  const type = scalarType(cursor, typeId, field)
  return { type, value: parseScalar(cursor, type, field) }
}

function scalarType(cursor: HeaderCursor, typeId: number, field: string): GgufScalarType {
  const type = SCALAR_TYPE_BY_ID[typeId]
  if (type === undefined) {
    throw new EngineError('format/unknown-value-type', {
      message: `${cursor.fileName}: ${field} has value type ${typeId}, expected 0 to 12.`,
      hint: 'The file is damaged or newer than this reader; fetch it again.',
    })
  }
  return type
}

function parseScalar(
  cursor: HeaderCursor,
  type: GgufScalarType,
  field: string,
): number | bigint | boolean | string {
  switch (type) {
    case 'bool':
      return parseBool(cursor, field)
    case 'string':
      return cursor.string(field, MAX_GGUF_STRING_BYTES)
    default:
      return cursor[type](field)
  }
}

function parseBool(cursor: HeaderCursor, field: string): boolean {
  const byte = cursor.u8(field)
  if (byte > 1) {
    throw new EngineError('format/bad-bool', {
      message: `${cursor.fileName}: ${field} is a bool with the value ${byte}, expected 0 or 1.`,
      hint: 'The file is damaged; fetch it again.',
    })
  }
  return byte === 1
}

function parseArray(
  cursor: HeaderCursor,
  field: string,
  budget: ElementBudget,
  depth: number,
): { type: GgufValueType; value: GgufArray } {
  if (depth > MAX_GGUF_ARRAY_DEPTH) {
    throw new EngineError('format/limit-exceeded', {
      message: `${cursor.fileName}: ${field} nests arrays deeper than ${MAX_GGUF_ARRAY_DEPTH}.`,
      hint: 'The file is damaged; fetch it again.',
    })
  }
  const elementTypeId = cursor.u32(`element type of ${field}`)
  const elementType = elementTypeId === ARRAY_TYPE_ID ? 'array' : scalarType(cursor, elementTypeId, field)
  const length = cursor.count(`array length of ${field}`, MAX_GGUF_ARRAY_ELEMENTS - budget.used)
  budget.used += length
  // Before anything is allocated for it: a count that the rest of the file cannot hold.
  const minBytes = length * (elementType === 'array' ? MIN_ARRAY_BYTES : MIN_SCALAR_BYTES[elementType])
  if (minBytes > cursor.remaining) {
    throw new EngineError('format/truncated', {
      message: `${cursor.fileName}: ${field} has ${length} elements, at least ${minBytes} bytes, but only ${cursor.remaining} bytes follow in the file.`,
      hint: 'The download looks incomplete; fetch the file again.',
    })
  }
  return { type: `${elementType}[]`, value: parseElements(cursor, elementType, length, field, budget, depth) }
}

function parseElements(
  cursor: HeaderCursor,
  elementType: GgufScalarType | 'array',
  length: number,
  field: string,
  budget: ElementBudget,
  depth: number,
): GgufArray {
  const copy = (): ArrayBuffer => cursor.copy(length * MIN_SCALAR_BYTES[elementType as GgufScalarType], field)
  switch (elementType) {
    case 'u8':
      return new Uint8Array(copy())
    case 'i8':
      return new Int8Array(copy())
    case 'u16':
      return new Uint16Array(copy())
    case 'i16':
      return new Int16Array(copy())
    case 'u32':
      return new Uint32Array(copy())
    case 'i32':
      return new Int32Array(copy())
    case 'f32':
      return new Float32Array(copy())
    case 'u64':
      return new BigUint64Array(copy())
    case 'i64':
      return new BigInt64Array(copy())
    case 'f64':
      return new Float64Array(copy())
    case 'bool':
      return parseEach(length, field, (element) => parseBool(cursor, element))
    case 'string':
      return cursor.strings(length, field, MAX_GGUF_STRING_BYTES)
    case 'array':
      return parseEach(length, field, (element) => parseArray(cursor, element, budget, depth + 1).value)
  }
}

function parseEach<T>(length: number, field: string, parse: (element: string) => T): T[] {
  const values: T[] = []
  for (let i = 0; i < length; i++) values.push(parse(`element ${i} of ${field}`))
  return values
}
