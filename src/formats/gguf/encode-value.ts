/** One metadata value of a GGUF header, checked against the type it is to have. */
import { EngineError } from '../../shared/errors.ts'
import type { ByteWriter } from './byte-writer.ts'
import {
  ARRAY_TYPE_ID,
  type GgufArray,
  type GgufScalarType,
  type GgufValue,
  type GgufValueType,
  SCALAR_TYPE_BY_ID,
} from './value-types.ts'

const INTEGER_RANGES: Partial<Record<GgufScalarType, readonly [number, number]>> = {
  u8: [0, 0xff],
  i8: [-0x80, 0x7f],
  u16: [0, 0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  i32: [-0x8000_0000, 0x7fff_ffff],
}

const TYPED_ARRAYS = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
} as const

/**
 * Writes the type id and the value.
 *
 * @throws EngineError `format/bad-metadata-value` when the value is not of this type.
 */
export function encodeTypedValue(
  writer: ByteWriter,
  key: string,
  type: GgufValueType,
  value: GgufValue,
): void {
  if (type.endsWith('[]')) {
    writer.u32(ARRAY_TYPE_ID)
    encodeArray(writer, key, type.slice(0, -2) as GgufScalarType | 'array', value)
    return
  }
  const scalarType = type as GgufScalarType
  writer.u32(scalarTypeId(key, scalarType))
  encodeScalar(writer, key, scalarType, value)
}

function scalarTypeId(key: string, type: GgufScalarType): number {
  const id = SCALAR_TYPE_BY_ID.indexOf(type)
  if (id === -1) throw badValue(key, type, 'a known type', type)
  return id
}

function encodeScalar(writer: ByteWriter, key: string, type: GgufScalarType, value: unknown): void {
  switch (type) {
    case 'bool':
      if (typeof value !== 'boolean') throw badValue(key, type, 'true or false', value)
      writer.u8(value ? 1 : 0)
      break
    case 'string':
      encodeString(writer, key, value)
      break
    case 'f32':
    case 'f64':
      if (typeof value !== 'number') throw badValue(key, type, 'a number', value)
      writer[type](value)
      break
    case 'u64':
    case 'i64':
      writer[type](checkLongInteger(key, type, value))
      break
    default: {
      const [min, max] = INTEGER_RANGES[type] ?? [0, 0]
      if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
        throw badValue(key, type, `a whole number from ${min} to ${max}`, value)
      }
      writer[type](value)
    }
  }
}

function encodeString(writer: ByteWriter, key: string, value: unknown): void {
  // A lone surrogate has no UTF-8 form and would turn into another character.
  if (typeof value !== 'string' || /\p{Surrogate}/u.test(value)) {
    throw badValue(key, 'string', 'well-formed text', value)
  }
  writer.string(value)
}

function checkLongInteger(key: string, type: 'u64' | 'i64', value: unknown): bigint {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) {
    const long = BigInt(value as number | bigint)
    const wrapped = type === 'u64' ? BigInt.asUintN(64, long) : BigInt.asIntN(64, long)
    if (long === wrapped) return long
  }
  throw badValue(key, type, 'a 64-bit whole number (as a bigint beyond 2^53)', value)
}

function encodeArray(
  writer: ByteWriter,
  key: string,
  elementType: GgufScalarType | 'array',
  value: unknown,
): void {
  const elementTypeId = elementType === 'array' ? ARRAY_TYPE_ID : scalarTypeId(key, elementType)
  writer.u32(elementTypeId)
  if (elementType === 'array' || elementType === 'string' || elementType === 'bool') {
    if (!Array.isArray(value)) throw badValue(key, `${elementType}[]`, 'a plain array', value)
    writer.u64(value.length)
    for (const element of value) {
      if (elementType === 'array') encodeArray(writer, key, elementTypeOf(key, element), element)
      else encodeScalar(writer, key, elementType, element)
    }
    return
  }
  const arrayClass = TYPED_ARRAYS[elementType]
  if (!(value instanceof arrayClass)) throw badValue(key, `${elementType}[]`, `a ${arrayClass.name}`, value)
  writer.u64(value.length)
  writer.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
}

/** The element type that an inner array has by its content. An empty plain array becomes one of strings. */
function elementTypeOf(key: string, array: GgufArray): GgufScalarType | 'array' {
  for (const [type, arrayClass] of Object.entries(TYPED_ARRAYS)) {
    if (array instanceof arrayClass) return type as keyof typeof TYPED_ARRAYS
  }
  if (!Array.isArray(array)) throw badValue(key, 'array[]', 'arrays inside', array)
  const first: unknown = array[0]
  if (typeof first === 'boolean') return 'bool'
  return typeof first === 'object' ? 'array' : 'string'
}

function badValue(key: string, type: string, expected: string, found: unknown): EngineError {
  const shown = typeof found === 'string' ? JSON.stringify(found) : String(found)
  return new EngineError('format/bad-metadata-value', {
    message: `Metadata key "${key}" of type ${type}: expected ${expected}, found ${shown.slice(0, 80)}.`,
  })
}
