/**
 * From schemas that must all hold to the facts of which one must: references followed, `allOf` merged, `anyOf` and
 * `oneOf` multiplied out.
 */
import type { EngineError } from '../shared/errors.ts'
import { FREE, mergeFacts, type SchemaFacts, type SchemaPart, writtenTypes } from './schema-facts.ts'
import { factsOf, type Keywords, pathOf, readKeywords, readParts, schemaError } from './schema-keywords.ts'
import { excludes, satisfies } from './schema-logic.ts'

/** Alternatives of a whole schema, all its values together: real ones have tens. */
const MAX_ALTERNATIVES = 2000

interface Choice {
  readonly kind: 'anyOf' | 'oneOf'
  readonly path: string
  readonly branches: readonly Visit[]
}

/** A part on its way, with the parts that led to it without a value in between. */
interface Visit {
  readonly part: SchemaPart
  readonly ancestors: readonly string[]
}

export class SchemaSource {
  readonly #root: unknown
  readonly #known = new Map<string, readonly SchemaFacts[]>()
  #count = 0

  constructor(root: unknown) {
    this.#root = root
  }

  /** Facts of which one holds for every value that satisfies all parts; none when nothing does. Throws `option/schema`. */
  alternativesOf(parts: readonly SchemaPart[]): readonly SchemaFacts[] {
    const key = keyOf(parts)
    const known = this.#known.get(key)
    if (known) return known
    const visits = parts.map((part) => ({ part, ancestors: [] }))
    const alternatives = this.#collect(FREE, visits, [])
    this.#known.set(key, alternatives)
    return alternatives
  }

  #collect(before: SchemaFacts, visits: readonly Visit[], choicesBefore: readonly Choice[]): SchemaFacts[] {
    let facts = before
    const queue = [...visits]
    const seen = new Set<string>()
    const choices = [...choicesBefore]
    for (const { part, ancestors } of queue) {
      const { path } = part
      if (ancestors.includes(path)) throw schemaError(path, 'refers to itself')
      if (seen.has(path)) continue
      seen.add(path)
      const keywords = readKeywords(part)
      if (!keywords) return []
      facts = mergeFacts(facts, factsOf(keywords, path))
      const visit = (next: SchemaPart): Visit => ({ part: next, ancestors: [...ancestors, path] })
      const reference = keywords['$ref']
      if (reference !== undefined) queue.push(visit(this.#resolve(reference, pathOf(path, '$ref'))))
      queue.push(...(readParts(keywords, path, 'allOf') ?? []).map(visit))
      for (const kind of ['anyOf', 'oneOf'] as const) {
        const branches = readParts(keywords, path, kind)?.map(visit)
        if (branches) choices.push({ kind, path: pathOf(path, kind), branches })
      }
    }
    return this.#multiply(facts, choices)
  }

  #multiply(facts: SchemaFacts, choices: readonly Choice[]): SchemaFacts[] {
    const [choice, ...others] = choices
    if (!choice) {
      this.#count++
      if (this.#count > MAX_ALTERNATIVES) throw tooManyAlternatives()
      return this.#leaf(facts)
    }
    return choice.branches.flatMap((branch, index) => {
      const alternatives = this.#collect(facts, [branch], others)
      if (choice.kind === 'oneOf') this.#checkExclusive(alternatives, choice, index)
      return alternatives
    })
  }

  #leaf(facts: SchemaFacts): SchemaFacts[] {
    if (writtenTypes(facts).size === 0) return []
    if (!facts.values) return [facts]
    const { values, ...rest } = facts
    const left = values.filter((value) => satisfies(value, { ...rest, values: undefined }, this))
    return left.length === 0 ? [] : [{ ...facts, values: left }]
  }

  /** A value that satisfies two branches of `oneOf` is invalid, so none may be written. */
  #checkExclusive(alternatives: readonly SchemaFacts[], { path, branches }: Choice, index: number): void {
    for (const [other, { part }] of branches.entries()) {
      if (other === index) continue
      const others = this.alternativesOf([part])
      if (alternatives.every((facts) => others.every((one) => excludes(facts, one, this)))) continue
      throw schemaError(
        path,
        `is supported only where a value fits one schema at most; a value of the one at ${index} may fit that at ${other}`,
        'Use anyOf, or give each a required property with a const of its own.',
      )
    }
  }

  #resolve(reference: unknown, path: string): SchemaPart {
    if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) {
      throw schemaError(path, `is supported for pointers into the schema, such as "#/$defs/name", only`)
    }
    let schema = this.#root
    const names = reference.split('/').slice(1).map(unescapePointer)
    for (const name of names) {
      const isThere = typeof schema === 'object' && schema !== null && Object.hasOwn(schema, name)
      if (!isThere) throw schemaError(path, `points to "${reference}", where there is nothing`)
      schema = (schema as Keywords)[name]
    }
    return { schema, path: pathOf('#', ...names) }
  }
}

export function keyOf(parts: readonly SchemaPart[]): string {
  return JSON.stringify(parts.map(({ path }) => path))
}

function unescapePointer(name: string): string {
  const decoded = /%[0-9A-Fa-f]{2}/.test(name) ? decodePercents(name) : name
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~')
}

function decodePercents(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name // then it is not found
  }
}

function tooManyAlternatives(): EngineError {
  return schemaError('#', `has more than ${MAX_ALTERNATIVES} combinations of alternatives`, 'Simplify anyOf.')
}
