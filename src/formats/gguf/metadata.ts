/**
 * Typed access to GGUF metadata. A missing or differently typed key is a `config/…` error that names the file,
 * the key, what was expected and what was found.
 */
import { EngineError } from '../../shared/errors.ts'
import type { GgufFile } from './load-gguf.ts'
import type { GgufValue } from './value-types.ts'

type Metadata = Pick<GgufFile, 'metadata' | 'valueTypes' | 'source'>

/** @throws EngineError `config/missing-key`, `config/wrong-type`. */
export function requireString(gguf: Metadata, key: string): string {
  return requireValue(gguf, key, 'a string', isString)
}

/**
 * Any number, also an integer stored as u64.
 *
 * @throws EngineError `config/missing-key`, `config/wrong-type`.
 */
export function requireNumber(gguf: Metadata, key: string): number {
  return requireValue(gguf, key, 'a number', isNumber)
}

/**
 * A whole number from 0 on, such as a count or an id.
 *
 * @throws EngineError `config/missing-key`, `config/wrong-type`.
 */
export function requireCount(gguf: Metadata, key: string): number {
  return requireValue(gguf, key, 'a whole number from 0 on', isCount)
}

/** @throws EngineError `config/missing-key`, `config/wrong-type`. */
export function requireBoolean(gguf: Metadata, key: string): boolean {
  return requireValue(gguf, key, 'a bool', isBoolean)
}

/** @throws EngineError `config/missing-key`, `config/wrong-type`. */
export function requireStrings(gguf: Metadata, key: string): readonly string[] {
  return requireValue(gguf, key, 'a list of strings', isStringList)
}

/**
 * A list of numbers of any type except 64-bit integers, as plain numbers.
 *
 * @throws EngineError `config/missing-key`, `config/wrong-type`.
 */
export function requireNumbers(gguf: Metadata, key: string): number[] {
  return Array.from(requireValue(gguf, key, 'a list of numbers', isNumberList))
}

/** @throws EngineError `config/missing-key`, `config/wrong-type`. */
export function requireBooleans(gguf: Metadata, key: string): readonly boolean[] {
  return requireValue(gguf, key, 'a list of bools', isBooleanList)
}

/**
 * The same accessors for keys that may be absent: `optional(gguf, key, requireNumber)`. A key that is there with a
 * wrong type is still an error.
 */
export function optional<T>(
  gguf: Metadata,
  key: string,
  require: (gguf: Metadata, key: string) => T,
): T | undefined {
  return gguf.metadata.has(key) ? require(gguf, key) : undefined
}

function requireValue<T extends GgufValue>(
  gguf: Metadata,
  key: string,
  expected: string,
  accepts: (value: GgufValue) => value is T,
): T {
  const value = gguf.metadata.get(key)
  if (value === undefined) {
    throw new EngineError('config/missing-key', {
      message: `${gguf.source.name}: metadata key "${key}" is missing; expected ${expected}.`,
      hint: 'Convert the model again with a current converter, or take another file of it.',
    })
  }
  if (!accepts(value)) {
    throw new EngineError('config/wrong-type', {
      message: `${gguf.source.name}: metadata key "${key}" is ${describeValue(gguf, key, value)}; expected ${expected}.`,
      hint: 'Convert the model again with a current converter, or take another file of it.',
    })
  }
  return value
}

// Enough to recognise a value in one line.
const MAX_SHOWN_LENGTH = 60

function describeValue(gguf: Metadata, key: string, value: GgufValue): string {
  const type = gguf.valueTypes.get(key) ?? typeof value
  if (typeof value === 'object') return `${type} of length ${value.length}`
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return `${text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`} (${type})`
}

type NumberArray = Extract<GgufValue, ArrayLike<number>>

function isString(value: GgufValue): value is string {
  return typeof value === 'string'
}

function isNumber(value: GgufValue): value is number {
  return typeof value === 'number'
}

function isCount(value: GgufValue): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isBoolean(value: GgufValue): value is boolean {
  return typeof value === 'boolean'
}

function isStringList(value: GgufValue): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isBooleanList(value: GgufValue): value is readonly boolean[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'boolean')
}

function isNumberList(value: GgufValue): value is NumberArray {
  return ArrayBuffer.isView(value) && !(value instanceof BigInt64Array || value instanceof BigUint64Array)
}
