import { EngineError } from '../shared/errors.ts'

/** Larger than any size in a published configuration (vocabularies reach 262,144; contexts 10 million). */
export const MAX_COUNT = 2 ** 28

/**
 * Reads the fields of one JSON object of a model's configuration. Messages name the file and the whole path of the
 * field, what was expected and what was found.
 */
export class ConfigFields {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #file: string
  readonly #path: string

  constructor(value: unknown, file: string, path = '') {
    this.#file = file
    this.#path = path
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new EngineError('config/not-an-object', {
        message: `${file}${path && `: "${path}"`}: expected a JSON object, found ${describe(value)}.`,
        hint: 'Fetch the file again from the model repository.',
      })
    }
    this.#values = value as Readonly<Record<string, unknown>>
  }

  /** As it stands there, for whoever checks it. */
  value(key: string): unknown {
    return this.#values[key] ?? undefined
  }

  has(key: string): boolean {
    return this.#values[key] !== undefined && this.#values[key] !== null
  }

  /** A nested object; `fallback` stands in where the field is missing. */
  object(key: string, fallback?: object): ConfigFields {
    return new ConfigFields(
      this.#values[key] ?? fallback,
      this.#file,
      this.#path ? `${this.#path}.${key}` : key,
    )
  }

  /** A whole number of at least 1. */
  count(key: string, fallback?: number): number {
    return this.#read(key, fallback, `a whole number from 1 to ${MAX_COUNT}`, (value) =>
      Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_COUNT
        ? (value as number)
        : undefined,
    )
  }

  integer(key: string, fallback?: number): number {
    return this.#read(key, fallback, 'a whole number', (value) =>
      Number.isInteger(value) ? (value as number) : undefined,
    )
  }

  /** A finite number above 0. */
  positive(key: string, fallback?: number): number {
    return this.#read(key, fallback, 'a number above 0', (value) =>
      Number.isFinite(value) && (value as number) > 0 ? (value as number) : undefined,
    )
  }

  boolean(key: string, fallback?: boolean): boolean {
    return this.#read(key, fallback, 'true or false', (value) =>
      typeof value === 'boolean' ? value : undefined,
    )
  }

  string(key: string, fallback?: string): string {
    return this.#read(key, fallback, 'a text', (value) => (typeof value === 'string' ? value : undefined))
  }

  /** One of `table`'s names, as its value. */
  choice<Value>(key: string, table: Readonly<Record<string, Value>>, fallback: string): Value {
    const name = this.string(key, fallback)
    if (Object.hasOwn(table, name)) return table[name] as Value
    throw this.error(key, `one of ${Object.keys(table).join(', ')}`, name)
  }

  error(key: string, expected: string, found: unknown = this.#values[key]): EngineError {
    return new EngineError('config/bad-field', {
      message: `${this.#file}: "${this.#path ? `${this.#path}.` : ''}${key}": expected ${expected}, found ${describe(found)}.`,
      hint:
        found === undefined || found === null
          ? 'The configuration is incomplete; fetch it again from the model repository.'
          : 'This kind of model is not supported, or its configuration is damaged.',
    })
  }

  #read<Value>(
    key: string,
    fallback: Value | undefined,
    expected: string,
    accept: (value: unknown) => Value | undefined,
  ): Value {
    const value = this.#values[key] ?? fallback
    const accepted = accept(value)
    if (accepted === undefined) throw this.error(key, expected, value)
    return accepted
  }
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}
