/** Reads the fields of a request's JSON. What is wrong is named by its path, as the client wrote it. */
import { EngineError } from '../shared/errors.ts'

/** Longest value shown in a message. */
const MAX_SHOWN = 60

export interface NumberRange {
  readonly least: number
  readonly most: number
  readonly isWhole?: boolean
}

/** An object of the request. Clients write `null` for what they leave out, so it counts as left out. */
export class RequestFields {
  readonly #object: Readonly<Record<string, unknown>>
  readonly #path: string

  /** @param path Of the object; empty for the body itself. */
  constructor(value: unknown, path = '') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalidValue(path || 'the body', 'an object', value)
    }
    this.#object = value as Readonly<Record<string, unknown>>
    this.#path = path
  }

  get names(): readonly string[] {
    return Object.keys(this.#object).filter((name) => this.has(name))
  }

  pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined
  }

  raw(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? (this.#object[name] ?? undefined) : undefined
  }

  text(name: string): string | undefined {
    const value = this.raw(name)
    if (value === undefined || typeof value === 'string') return value
    throw invalidValue(this.pathOf(name), 'a text', value)
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    const found = choices.find((choice) => choice === value)
    if (found !== undefined) return found
    throw invalidValue(this.pathOf(name), `one of ${choices.join(', ')}`, value)
  }

  flag(name: string): boolean {
    const value = this.raw(name) ?? false
    if (typeof value === 'boolean') return value
    throw invalidValue(this.pathOf(name), 'true or false', value)
  }

  number(name: string, { least, most, isWhole = false }: NumberRange): number | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    const isAllowed = typeof value === 'number' && value >= least && value <= most
    if (isAllowed && (!isWhole || Number.isInteger(value))) return value
    const kind = isWhole ? 'a whole number' : 'a number'
    throw invalidValue(this.pathOf(name), `${kind} from ${least} to ${most}`, value)
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.raw(name)
    if (value === undefined || Array.isArray(value)) return value as readonly unknown[] | undefined
    throw invalidValue(this.pathOf(name), 'a list', value)
  }

  object(name: string): RequestFields | undefined {
    const value = this.raw(name)
    return value === undefined ? undefined : new RequestFields(value, this.pathOf(name))
  }
}

export function invalidValue(field: string, expected: string, found: unknown): EngineError {
  return new EngineError('server/invalid-value', {
    message: `${field}: expected ${expected}, found ${show(found)}.`,
    field,
  })
}

export function unsupportedField(field: string, why: string, hint?: string): EngineError {
  return new EngineError('server/unsupported-parameter', {
    message: `${field}: ${why}`,
    field,
    ...(hint !== undefined && { hint }),
  })
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) {
    return `an object with ${Object.keys(value).slice(0, 5).join(', ').slice(0, MAX_SHOWN) || 'nothing in it'}`
  }
  const text = JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text
}
