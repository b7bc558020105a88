/** What follows from facts: whether a value satisfies them, and whether values of one kind never satisfy another. */
import { stepDfa } from './dfa.ts'
import {
  canonicalText,
  type JsonType,
  type ObjectFacts,
  type SchemaFacts,
  type SchemaPart,
  typeOf,
  writtenOthers,
  writtenTypes,
} from './schema-facts.ts'
import { atPath } from './schema-keywords.ts'
import { patternContent } from './string-content.ts'

/** Who knows the facts of parts. */
export interface Facts {
  alternativesOf(parts: readonly SchemaPart[]): readonly SchemaFacts[]
}

export function satisfies(value: unknown, facts: SchemaFacts, known: Facts): boolean {
  const type = typeOf(value)
  if (!facts.types.has(type)) return false
  if (facts.values && !facts.values.some((one) => canonicalText(one) === canonicalText(value))) return false
  const fits = (one: unknown, parts: readonly SchemaPart[]): boolean =>
    known.alternativesOf(parts).some((alternative) => satisfies(one, alternative, known))
  switch (type) {
    case 'string':
      return isText(value as string, facts.text)
    case 'number':
      return isNumber(value as number, facts.number)
    case 'object': {
      const { properties, required, others } = facts.object
      const entries = Object.entries(value as object)
      return (
        isWithin(entries.length, facts.object) &&
        [...required].every((name) => Object.hasOwn(value as object, name)) &&
        entries.every(([name, one]) => fits(one, properties.get(name) ?? others ?? []))
      )
    }
    case 'array': {
      const { first, others } = facts.array
      const items = value as readonly unknown[]
      return (
        isWithin(items.length, facts.array) &&
        items.every((one, index) => fits(one, first[index] ?? others ?? []))
      )
    }
    default:
      return true
  }
}

function isWithin(
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
): boolean {
  return value >= least && value <= most
}

function isText(value: string, text: SchemaFacts['text']): boolean {
  const written = new TextEncoder().encode(JSON.stringify(value).slice(1, -1))
  return (
    isWithin([...value].length, text) &&
    text.patterns.every(({ source, path }) => {
      const content = atPath(path, () => patternContent(source))
      let state = 0
      for (const byte of written) state = content && state >= 0 ? stepDfa(content, state, byte) : -1
      return content !== undefined && state >= 0 && content.accepts[state] === 1
    })
  )
}

function isNumber(value: number, number: SchemaFacts['number']): boolean {
  return (
    isWithin(value, number) &&
    (!number.isInteger || Number.isInteger(value)) &&
    number.divisors.every((divisor) => value % divisor === 0)
  )
}

/** Properties within properties that are looked at: schemas that contain themselves have no end. */
const MAX_DEPTH = 4

/** Whether no value that is written for `written` satisfies `other`. False also where that cannot be told. */
export function excludes(written: SchemaFacts, other: SchemaFacts, known: Facts, depth = 0): boolean {
  if (written.values) return written.values.every((value) => !satisfies(value, other, known))
  const shared = [...writtenTypes(written)].filter((type) => other.types.has(type))
  return shared.every((type) => excludesType(type, written, other, known, depth))
}

function excludesType(
  type: JsonType,
  written: SchemaFacts,
  other: SchemaFacts,
  known: Facts,
  depth: number,
): boolean {
  const values = other.values?.filter((value) => typeOf(value) === type)
  if (values?.every((value) => !satisfies(value, written, known))) return true
  const partsExclude = (mine: readonly SchemaPart[], others: readonly SchemaPart[]): boolean =>
    depth < MAX_DEPTH &&
    known
      .alternativesOf(mine)
      .every((one) =>
        known.alternativesOf(others).every((alternative) => excludes(one, alternative, known, depth + 1)),
      )
  switch (type) {
    case 'string':
      return isApart(written.text, other.text)
    case 'number':
      return isApart(written.number, other.number)
    case 'array':
      return (
        isApart(written.array, other.array) ||
        (written.array.least > 0 && partsExclude(firstOf(written.array), firstOf(other.array)))
      )
    case 'object':
      return (
        isApart(written.object, other.object) ||
        [...other.object.required].some((name) => !mayHave(written.object, name)) ||
        [...written.object.required].some((name) =>
          partsExclude(partsOf(written.object, name), partsOf(other.object, name)),
        )
      )
    default:
      return false
  }
}

interface Span {
  readonly least: number
  readonly most: number
}

function isApart(a: Span, b: Span): boolean {
  return a.most < b.least || b.most < a.least
}

function firstOf({ first, others }: SchemaFacts['array']): readonly SchemaPart[] {
  return first[0] ?? others ?? []
}

function partsOf({ properties, others }: ObjectFacts, name: string): readonly SchemaPart[] {
  return properties.get(name) ?? others ?? []
}

function mayHave(object: ObjectFacts, name: string): boolean {
  return object.properties.has(name) || object.required.has(name) || writtenOthers(object) !== undefined
}
