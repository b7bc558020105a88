import { EngineError } from '../shared/errors.ts'
import type { Normalization } from './normalize.ts'

/** A parsed JSON file and how a person would recognise it. */
export interface JsonFile {
  name: string
  value: unknown
}

/** 4096 is the largest edge that the reference itself lets through; larger ones come from damaged files. */
export const MAX_EDGE = 4096

/** Typed access to an object of a JSON file; null counts as missing, as it does in the reference. */
export class SettingsFields {
  readonly #file: string
  readonly #path: string
  readonly #values: Record<string, unknown>

  constructor(file: string, path: string, value: unknown) {
    this.#file = file
    this.#path = path
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new EngineError('config/invalid-value', {
        message: `${file}: expected a JSON object${path && ` in "${path.slice(0, -1)}"`}, found ${show(value)}.`,
        hint: 'Take the file from the repository of the model.',
      })
    }
    this.#values = value as Record<string, unknown>
  }

  where(key: string): string {
    return `${this.#file}: "${this.#path}${key}"`
  }

  fail(key: string, expected: string): never {
    throw new EngineError('config/invalid-value', {
      message: `${this.where(key)}: expected ${expected}, found ${show(this.raw(key))}.`,
      hint: 'Take the file from the repository of the model.',
    })
  }

  raw(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined
  }

  has(key: string): boolean {
    return (this.raw(key) ?? undefined) !== undefined
  }

  isNumber(key: string): boolean {
    return typeof this.raw(key) === 'number'
  }

  child(key: string): SettingsFields | undefined {
    return this.has(key) ? new SettingsFields(this.#file, `${this.#path}${key}.`, this.raw(key)) : undefined
  }

  text(key: string): string | undefined {
    if (!this.has(key)) return undefined
    const value = this.raw(key)
    return typeof value === 'string' ? value : this.fail(key, 'text')
  }

  flag(key: string, fallback: boolean): boolean {
    if (!this.has(key)) return fallback
    const value = this.raw(key)
    return typeof value === 'boolean' ? value : this.fail(key, 'true or false')
  }

  edge(key: string, fallback: number): number {
    if (!this.has(key)) return fallback
    const value = this.raw(key)
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_EDGE
    return fits ? value : this.fail(key, `a whole number of pixels from 1 to ${MAX_EDGE}`)
  }

  count(key: string): number | undefined {
    if (!this.has(key)) return undefined
    const value = this.raw(key)
    const fits = typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
    return fits ? value : this.fail(key, 'a whole number of at least 1')
  }

  positive(key: string, fallback: number): number {
    if (!this.has(key)) return fallback
    const value = this.raw(key)
    return isFiniteNumber(value) && value > 0 ? value : this.fail(key, 'a number above 0')
  }

  /** Three numbers, or one that stands for all three. */
  triple(key: string, fallback: Normalization['mean']): Normalization['mean'] {
    if (!this.has(key)) return fallback
    const value = this.raw(key)
    if (isFiniteNumber(value)) return [value, value, value]
    const [red, green, blue, ...more] = Array.isArray(value) ? (value as unknown[]) : []
    if (!isFiniteNumber(red) || !isFiniteNumber(green) || !isFiniteNumber(blue) || more.length > 0) {
      return this.fail(key, 'three numbers')
    }
    return [red, green, blue]
  }

  deviations(key: string, fallback: Normalization['std']): Normalization['std'] {
    const values = this.triple(key, fallback)
    return values.every((value) => value > 0) ? values : this.fail(key, 'three numbers above 0')
  }
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/** A value short enough for a message. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
