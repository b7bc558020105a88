/** The keywords of one schema, read and checked. Everything that is not supported is refused by its path. */
import { EngineError } from '../shared/errors.ts'
import { FORMATS, formatPattern } from './formats.ts'
import {
  FREE,
  JSON_TYPES,
  type JsonType,
  mergeFacts,
  type SchemaFacts,
  type SchemaPart,
  typeOf,
} from './schema-facts.ts'

export type Keywords = Readonly<Record<string, unknown>>

/** Say nothing about which values are valid. */
const ANNOTATIONS: readonly string[] = [
  '$schema',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentMediaType',
  'contentEncoding',
]
/** Values of one enum, each of which is compared with what else is said. Long real ones have some thousand. */
const MAX_VALUES = 10_000
/** Read by whoever puts schemas together. */
const COMBINING: readonly string[] = ['$ref', 'allOf', 'anyOf', 'oneOf']
const HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    nullable: 'Write "type": ["string", "null"].',
    not: 'Say what is allowed instead.',
    patternProperties: 'Name the properties, or use additionalProperties.',
    uniqueItems: 'Leave it out, and check the answer.',
  }),
)

export function schemaError(path: string, what: string, hint?: string): EngineError {
  return new EngineError('option/schema', {
    message: `The schema's ${path} ${what}.`,
    field: path,
    ...(hint !== undefined && { hint }),
  })
}

/** Puts the path before what went wrong inside. */
export function atPath<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!EngineError.isInstance(error) || error.field !== undefined) throw error
    throw schemaError(path, error.message, error.hint)
  }
}

export function pathOf(path: string, ...names: readonly (string | number)[]): string {
  const escaped = (name: string | number): string => String(name).replaceAll('~', '~0').replaceAll('/', '~1')
  return [path, ...names.map(escaped)].join('/')
}

/** Undefined for the schema `false`, which nothing satisfies. */
export function readKeywords({ schema, path }: SchemaPart): Keywords | undefined {
  if (schema === true) return {}
  if (schema === false) return undefined
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as Keywords
  throw schemaError(path, `must be an object, true or false; found ${show(schema)}`)
}

/** Schemas in a list of `keyword`, which must not be empty. */
export function readParts(keywords: Keywords, path: string, keyword: string): SchemaPart[] | undefined {
  const value = keywords[keyword]
  if (value === undefined) return undefined
  const place = pathOf(path, keyword)
  if (!Array.isArray(value) || value.length === 0) {
    throw schemaError(place, `must be a list of schemas that is not empty; found ${show(value)}`)
  }
  return value.map((schema, index) => ({ schema, path: pathOf(place, index) }))
}

/** What the keywords say by themselves; those that combine schemas are not looked at. */
export function factsOf(keywords: Keywords, path: string): SchemaFacts {
  return new KeywordReader(keywords, path).read()
}

type Reader = (value: unknown, place: string) => void

class KeywordReader {
  readonly #keywords: Keywords
  readonly #path: string
  #facts: SchemaFacts = FREE

  constructor(keywords: Keywords, path: string) {
    this.#keywords = keywords
    this.#path = path
  }

  read(): SchemaFacts {
    for (const [name, value] of Object.entries(this.#keywords)) {
      if (value === undefined || ANNOTATIONS.includes(name) || COMBINING.includes(name)) continue
      if (name.startsWith('x-') || (name === '$id' && this.#path === '#')) continue
      const place = pathOf(this.#path, name)
      const reader = Object.hasOwn(this.#readers, name) ? this.#readers[name] : undefined
      if (!reader) throw schemaError(place, 'is not supported', HINTS.get(name))
      reader(value, place)
      const type = TYPE_OF_KEYWORD[name]
      if (type) this.#facts = { ...this.#facts, meant: new Set([...this.#facts.meant, type]) }
    }
    return this.#facts
  }

  readonly #readers: Readonly<Record<string, Reader>> = {
    type: (value, place) => this.#readType(value, place),
    enum: (value, place) => {
      if (!Array.isArray(value) || value.length === 0) throw wrong(place, 'a list that is not empty', value)
      if (value.length > MAX_VALUES) throw schemaError(place, `has more than ${MAX_VALUES} values`)
      this.#add({ values: value })
    },
    const: (value) => this.#add({ values: [value] }),
    minLength: (value, place) => this.#limit('text', 'least', count(value, place)),
    maxLength: (value, place) => this.#limit('text', 'most', count(value, place)),
    pattern: (value, place) => this.#addPattern(text(value, place), place),
    format: (value, place) => {
      const pattern = formatPattern(text(value, place))
      if (pattern === undefined) {
        throw schemaError(place, `"${value}" is not supported`, `Formats are ${FORMATS.join(', ')}.`)
      }
      this.#addPattern(pattern, place)
    },
    minimum: (value, place) => this.#limit('number', 'least', number(value, place)),
    maximum: (value, place) => this.#limit('number', 'most', number(value, place)),
    exclusiveMinimum: (value, place) => this.#limit('number', 'least', neighbour(number(value, place), 1)),
    exclusiveMaximum: (value, place) => this.#limit('number', 'most', neighbour(number(value, place), -1)),
    multipleOf: (value, place) => {
      const divisor = number(value, place)
      // Validators divide doubles, whose quotients are hardly ever whole.
      if (!Number.isInteger(divisor) || divisor < 1)
        throw schemaError(place, 'is supported for whole numbers only')
      this.#addTo('number', { isInteger: true, divisors: [divisor] })
    },
    properties: (value, place) => {
      const parts = Object.entries(record(value, place)).map(
        ([name, schema]) => [name, [{ schema, path: pathOf(place, name) }]] as const,
      )
      this.#addTo('object', { properties: new Map(parts) })
    },
    required: (value, place) => {
      if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
        throw wrong(place, 'a list of names', value)
      }
      this.#addTo('object', { required: new Set<string>(value) })
    },
    additionalProperties: (schema, path) => this.#addTo('object', { others: [{ schema, path }] }),
    minProperties: (value, place) => this.#limit('object', 'least', count(value, place)),
    maxProperties: (value, place) => this.#limit('object', 'most', count(value, place)),
    prefixItems: () => this.#addFirst('prefixItems'),
    items: (schema, path) => {
      // Drafts up to 2019 named the first elements so.
      if (Array.isArray(schema)) this.#addFirst('items')
      else this.#addTo('array', { others: [{ schema, path }] })
    },
    additionalItems: (schema, path) => {
      if (Array.isArray(this.#keywords['items'])) this.#addTo('array', { others: [{ schema, path }] })
    },
    minItems: (value, place) => this.#limit('array', 'least', count(value, place)),
    maxItems: (value, place) => this.#limit('array', 'most', count(value, place)),
    uniqueItems: (value, place) => {
      if (value === true) throw schemaError(place, 'is not supported', HINTS.get('uniqueItems'))
      if (value !== false) throw wrong(place, 'true or false', value)
    },
  }

  #add(facts: Partial<SchemaFacts>): void {
    this.#facts = mergeFacts(this.#facts, { ...FREE, ...facts })
  }

  /** Parts of one schema stand beside each other: what is said of other properties is not said of the named ones. */
  #addTo<Kind extends 'text' | 'number' | 'object' | 'array'>(
    kind: Kind,
    facts: Partial<SchemaFacts[Kind]>,
  ): void {
    this.#facts = { ...this.#facts, [kind]: { ...this.#facts[kind], ...facts } }
  }

  #limit(kind: 'text' | 'number' | 'object' | 'array', end: 'least' | 'most', value: number): void {
    const before = this.#facts[kind][end]
    this.#addTo(kind, { [end]: end === 'least' ? Math.max(before, value) : Math.min(before, value) })
  }

  #addPattern(source: string, path: string): void {
    const { patterns } = this.#facts.text
    this.#addTo('text', { patterns: [...patterns, { source, path }] })
  }

  #addFirst(keyword: string): void {
    const parts = readParts(this.#keywords, this.#path, keyword) ?? []
    this.#addTo('array', { first: parts.map((part) => [part]) })
  }

  #readType(value: unknown, place: string): void {
    const names = Array.isArray(value) ? value : [value]
    const types = new Set<JsonType>()
    for (const name of names) {
      if (name === 'integer') types.add('number')
      else if (JSON_TYPES.includes(name)) types.add(name)
      else throw wrong(place, `one of ${[...JSON_TYPES, 'integer'].join(', ')}, or a list of these`, value)
    }
    this.#add({ types })
    if (names.includes('integer') && !names.includes('number')) this.#addTo('number', { isInteger: true })
  }
}

/** What keywords that speak of values of one type only are about. */
const TYPE_OF_KEYWORD: Readonly<Record<string, JsonType>> = {
  minLength: 'string',
  maxLength: 'string',
  pattern: 'string',
  format: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  minProperties: 'object',
  maxProperties: 'object',
  prefixItems: 'array',
  items: 'array',
  minItems: 'array',
  maxItems: 'array',
}

function wrong(place: string, expected: string, found: unknown): EngineError {
  return schemaError(place, `must be ${expected}; found ${show(found)}`)
}

function text(value: unknown, place: string): string {
  if (typeof value === 'string') return value
  throw wrong(place, 'a text', value)
}

function number(value: unknown, place: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw wrong(place, 'a number', value)
}

function count(value: unknown, place: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw wrong(place, 'a whole number of at least 0', value)
}

function record(value: unknown, place: string): Keywords {
  if (typeOf(value) === 'object') return value as Keywords
  throw wrong(place, 'an object', value)
}

/** The next double in a direction, so that exclusive bounds become inclusive ones. */
function neighbour(value: number, direction: 1 | -1): number {
  if (value === 0) return direction * Number.MIN_VALUE
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigInt64(0)
  view.setBigInt64(0, bits + (value > 0 === direction > 0 ? 1n : -1n))
  return view.getFloat64(0)
}

/** Longest value shown in a message. */
const MAX_SHOWN = 60

function show(value: unknown): string {
  const shown = JSON.stringify(value) ?? String(value)
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN - 3)}...` : shown
}
