/** Types of GGUF metadata values, their ids and sizes (ggml-org/ggml `docs/gguf.md`). */

/** Arrays of numbers are typed arrays; the rest are plain arrays. */
export type GgufArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array
  | BigUint64Array
  | BigInt64Array
  | readonly boolean[]
  | readonly string[]
  | readonly GgufArray[]

/** 64-bit integers are numbers where a number holds them exactly, else bigints. */
export type GgufValue = number | bigint | boolean | string | GgufArray

export type GgufScalarType =
  | 'u8'
  | 'i8'
  | 'u16'
  | 'i16'
  | 'u32'
  | 'i32'
  | 'f32'
  | 'bool'
  | 'string'
  | 'u64'
  | 'i64'
  | 'f64'

/** `u32`, `string[]` and so on; `array[]` is an array of arrays. */
export type GgufValueType = GgufScalarType | `${GgufScalarType | 'array'}[]`

export const ARRAY_TYPE_ID = 9

/** Position = id in the file. */
export const SCALAR_TYPE_BY_ID: readonly (GgufScalarType | undefined)[] = [
  'u8',
  'i8',
  'u16',
  'i16',
  'u32',
  'i32',
  'f32',
  'bool',
  'string',
  undefined,
  'u64',
  'i64',
  'f64',
]

/** Bytes in the file; a string has at least its 8-byte length. */
export const MIN_SCALAR_BYTES: Readonly<Record<GgufScalarType, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  bool: 1,
  string: 8,
  u64: 8,
  i64: 8,
  f64: 8,
}

/** Element type, count and at least nothing more. */
export const MIN_ARRAY_BYTES = 12
