/** Metadata of GGUF files as sizes of a model, within the same bounds as the fields of `config.json`. */
import type { GgufFile } from '../formats/gguf/load-gguf.ts'
import { requireCount, requireNumber } from '../formats/gguf/metadata.ts'
import { EngineError } from '../shared/errors.ts'
import { MAX_COUNT } from './config-fields.ts'

type Metadata = Pick<GgufFile, 'metadata' | 'valueTypes' | 'source'>

/** A whole number of at least 1. */
export function requireSize(gguf: Metadata, key: string): number {
  const value = requireCount(gguf, key)
  if (value >= 1 && value <= MAX_COUNT) return value
  throw fieldError(gguf, key, `a whole number from 1 to ${MAX_COUNT}`, value)
}

/** A finite number above 0. */
export function requirePositive(gguf: Metadata, key: string): number {
  const value = requireNumber(gguf, key)
  if (Number.isFinite(value) && value > 0) return value
  throw fieldError(gguf, key, 'a number above 0', value)
}

export function fieldError(gguf: Metadata, key: string, expected: string, found: unknown): EngineError {
  return new EngineError('config/bad-field', {
    message: `${gguf.source.name}: "${key}": expected ${expected}, found ${String(found)}.`,
    hint: 'The file is damaged or of a kind that is not supported.',
  })
}
