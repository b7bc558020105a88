/** What a schema says, once everything that must hold together is put together. */

export const JSON_TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string'] as const
/** `integer` is a number without a fraction. */
export type JsonType = (typeof JSON_TYPES)[number]

/** A schema and where it stands in the whole, as a JSON pointer: `#/properties/name`. */
export interface SchemaPart {
  readonly schema: unknown
  readonly path: string
}

export interface TextFacts {
  readonly least: number
  readonly most: number
  readonly patterns: readonly { readonly source: string; readonly path: string }[]
}

export interface NumberFacts {
  readonly isInteger: boolean
  /** Inclusive. */
  readonly least: number
  readonly most: number
  readonly divisors: readonly number[]
}

export interface ObjectFacts {
  /** In the order in which they are written. All parts of a property must hold. */
  readonly properties: ReadonlyMap<string, readonly SchemaPart[]>
  readonly required: ReadonlySet<string>
  /** What other properties must be; undefined where nothing is said of them. */
  readonly others: readonly SchemaPart[] | undefined
  readonly least: number
  readonly most: number
}

export interface ArrayFacts {
  readonly first: readonly (readonly SchemaPart[])[]
  /** What elements behind the first ones must be; undefined where nothing is said of them. */
  readonly others: readonly SchemaPart[] | undefined
  readonly least: number
  readonly most: number
}

export interface SchemaFacts {
  readonly types: ReadonlySet<JsonType>
  /** Types that something is said of: what a schema without `type` means. */
  readonly meant: ReadonlySet<JsonType>
  /** The only values there may be. */
  readonly values: readonly unknown[] | undefined
  readonly text: TextFacts
  readonly number: NumberFacts
  readonly object: ObjectFacts
  readonly array: ArrayFacts
}

export const FREE: SchemaFacts = {
  types: new Set(JSON_TYPES),
  meant: new Set(),
  values: undefined,
  text: { least: 0, most: Number.POSITIVE_INFINITY, patterns: [] },
  number: {
    isInteger: false,
    least: Number.NEGATIVE_INFINITY,
    most: Number.POSITIVE_INFINITY,
    divisors: [],
  },
  object: {
    properties: new Map(),
    required: new Set(),
    others: undefined,
    least: 0,
    most: Number.POSITIVE_INFINITY,
  },
  array: { first: [], others: undefined, least: 0, most: Number.POSITIVE_INFINITY },
}

/** Both hold. */
export function mergeFacts(a: SchemaFacts, b: SchemaFacts): SchemaFacts {
  return {
    types: new Set([...a.types].filter((type) => b.types.has(type))),
    meant: new Set([...a.meant, ...b.meant]),
    values: mergeValues(a.values, b.values),
    text: { ...mergeSpans(a.text, b.text), patterns: [...a.text.patterns, ...b.text.patterns] },
    number: {
      ...mergeSpans(a.number, b.number),
      isInteger: a.number.isInteger || b.number.isInteger,
      divisors: [...a.number.divisors, ...b.number.divisors],
    },
    object: mergeObjects(a.object, b.object),
    array: mergeArrays(a.array, b.array),
  }
}

/**
 * The types of values that are written. Schemas that leave out `type` allow any other type too, but nobody means that.
 */
export function writtenTypes({ types, meant, values }: SchemaFacts): ReadonlySet<JsonType> {
  return types.size < JSON_TYPES.length || meant.size === 0 || values ? types : meant
}

/**
 * What properties besides the named ones are written as; undefined where none are. Schemas that name properties and say
 * nothing of others allow any other, but nobody means that.
 */
export function writtenOthers({
  properties,
  required,
  others,
}: ObjectFacts): readonly SchemaPart[] | undefined {
  return others ?? (properties.size === 0 && required.size === 0 ? [] : undefined)
}

interface Span {
  readonly least: number
  readonly most: number
}

function mergeSpans(a: Span, b: Span): Span {
  return { least: Math.max(a.least, b.least), most: Math.min(a.most, b.most) }
}

function mergeValues(
  a: readonly unknown[] | undefined,
  b: readonly unknown[] | undefined,
): readonly unknown[] | undefined {
  if (!a || !b) return a ?? b
  const texts = new Set(b.map(canonicalText))
  return a.filter((value) => texts.has(canonicalText(value)))
}

function mergeObjects(a: ObjectFacts, b: ObjectFacts): ObjectFacts {
  const names = new Set([...a.properties.keys(), ...b.properties.keys()])
  const partsIn = ({ properties, others }: ObjectFacts, name: string): readonly SchemaPart[] =>
    properties.get(name) ?? others ?? []
  return {
    ...mergeSpans(a, b),
    properties: new Map([...names].map((name) => [name, [...partsIn(a, name), ...partsIn(b, name)]])),
    required: new Set([...a.required, ...b.required]),
    others: mergeOthers(a.others, b.others),
  }
}

function mergeArrays(a: ArrayFacts, b: ArrayFacts): ArrayFacts {
  const count = Math.max(a.first.length, b.first.length)
  const partsIn = ({ first, others }: ArrayFacts, index: number): readonly SchemaPart[] =>
    first[index] ?? others ?? []
  return {
    ...mergeSpans(a, b),
    first: Array.from({ length: count }, (_, index) => [...partsIn(a, index), ...partsIn(b, index)]),
    others: mergeOthers(a.others, b.others),
  }
}

function mergeOthers(
  a: readonly SchemaPart[] | undefined,
  b: readonly SchemaPart[] | undefined,
): readonly SchemaPart[] | undefined {
  return a || b ? [...(a ?? []), ...(b ?? [])] : undefined
}

/** The same for equal values: keys in order, numbers as they are. */
export function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalText(one)}`).join()}}`
}

export function typeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonType
}
