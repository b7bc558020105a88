import { EngineError } from '../shared/errors.ts'

/** Reading fields of parsed JSON whose shape nobody has checked yet. `where` is what a message calls the value: "tokenizer.json: model". */

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a value is, for messages: `"text"`, `12`, `null`, `an array of 3`, `an object`, `nothing`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

/** Why something failed, for messages; JavaScript's own reasons may quote a whole expression. */
export function describeCause(cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return reason.length > 300 ? `${reason.slice(0, 150)} … ${reason.slice(-150)}` : reason
}

export function fieldError(where: string, expected: string, found: unknown): EngineError {
  return new EngineError('text/invalid-field', {
    message: `${where} should be ${expected}, found ${describeValue(found)}.`,
    hint: 'The file is damaged or was written for another program; fetch the model again.',
  })
}

export function requireObject(value: unknown, where: string): JsonObject {
  if (!isJsonObject(value)) throw fieldError(where, 'an object', value)
  return value
}

export function requireArray(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw fieldError(where, 'an array', value)
  return value
}

export function requireString(value: unknown, where: string): string {
  if (typeof value !== 'string') throw fieldError(where, 'a string', value)
  return value
}

/** `fallback` where the field is missing or null. */
export function optionalBoolean(value: unknown, where: string, fallback: boolean): boolean {
  if (value === undefined || value === null) return fallback
  if (typeof value !== 'boolean') throw fieldError(where, 'true or false', value)
  return value
}
