/** Kinds of values that a schema allows, as trees of nodes; nodes without any finite value are cut off. */
import { combine, type Dfa } from './dfa.ts'
import { type Lexeme, literals, textLexeme } from './lexeme.ts'
import { numberLexeme } from './number-lexeme.ts'
import { keyOf, type SchemaSource } from './schema-alternatives.ts'
import {
  type ArrayFacts,
  type JsonType,
  type ObjectFacts,
  type SchemaFacts,
  type SchemaPart,
  writtenOthers,
  writtenTypes,
} from './schema-facts.ts'
import { atPath, schemaError } from './schema-keywords.ts'
import { freeContent, patternContent } from './string-content.ts'

export interface Member {
  readonly name: string
  readonly node: ValueNode
  readonly isRequired: boolean
}

export interface ObjectShape {
  readonly kind: 'object'
  members: readonly Member[]
  others: ValueNode | undefined
  readonly least: number
  readonly most: number
}

export interface ArrayShape {
  readonly kind: 'array'
  first: readonly ValueNode[]
  others: ValueNode | undefined
  readonly least: number
  most: number
}

export type Shape = { readonly kind: 'word'; readonly lexeme: Lexeme } | ObjectShape | ArrayShape

export interface ValueNode {
  shapes: readonly Shape[]
  /** Levels of values within each other that a value needs at least; infinite where there is no value. */
  height: number
}

/** Different values of a schema. Large ones, of whole interfaces, have some thousand. */
const MAX_NODES = 5000
/** Numbers in the tables of all automata together: some seconds of work. Real schemas have tens of thousands. */
const MAX_WORK = 2 ** 21
/** Lists of values and tables of lengths are made so many times faster than patterns. */
const EASY_SHARE = 1 / 16
const ANYTHING: SchemaPart = { schema: true, path: 'true' }

/** Throws `option/schema`, also when no value satisfies the schema. */
export function buildShapes(source: SchemaSource, root: SchemaPart): ValueNode {
  const builder = new ShapeBuilder(source)
  const node = builder.nodeOf([root])
  builder.finish()
  if (node.height === Number.POSITIVE_INFINITY) throw schemaError(root.path, 'has no value that satisfies it')
  return node
}

class ShapeBuilder {
  readonly #source: SchemaSource
  readonly #nodes = new Map<string, ValueNode>()
  #work = 0
  readonly #made = new Set<Dfa>()
  readonly #open: { readonly node: ValueNode; readonly parts: readonly SchemaPart[] }[] = []

  constructor(source: SchemaSource) {
    this.#source = source
  }

  nodeOf(parts: readonly SchemaPart[]): ValueNode {
    const wanted = parts.length === 0 ? [ANYTHING] : parts
    const key = keyOf(wanted)
    const known = this.#nodes.get(key)
    if (known) return known
    if (this.#nodes.size === MAX_NODES) throw schemaError('#', `has more than ${MAX_NODES} different values`)
    const node: ValueNode = { shapes: [], height: Number.POSITIVE_INFINITY }
    this.#nodes.set(key, node)
    this.#open.push({ node, parts: wanted })
    return node
  }

  /** Fills in all nodes, then cuts off what no finite value has. */
  finish(): void {
    for (const { node, parts } of this.#open) {
      node.shapes = this.#source.alternativesOf(parts).flatMap((facts) => this.#shapesOf(facts, parts))
    }
    const nodes = this.#open.map(({ node }) => node)
    for (let changes = true; changes; ) {
      changes = false
      for (const node of nodes) {
        const height = Math.min(Number.POSITIVE_INFINITY, ...node.shapes.map(heightOf))
        if (height < node.height) {
          node.height = height
          changes = true
        }
      }
    }
    for (const node of nodes) {
      node.shapes = node.shapes.filter((shape) => heightOf(shape) < Number.POSITIVE_INFINITY)
      for (const shape of node.shapes) prune(shape)
    }
  }

  #shapesOf(facts: SchemaFacts, parts: readonly SchemaPart[]): Shape[] {
    const path = parts.at(-1)?.path ?? '#'
    const shapes: Shape[] = []
    const add = (lexeme: Lexeme | undefined): void => {
      if (!lexeme) return
      this.#account(lexeme, path)
      shapes.push({ kind: 'word', lexeme })
    }
    if (facts.values) {
      const texts = [...new Set(facts.values.map((value) => JSON.stringify(value)))]
      add(atPath(path, () => literals(texts)))
      return shapes
    }
    const types = writtenTypes(facts)
    const names = [...(types.has('null') ? ['null'] : []), ...(types.has('boolean') ? ['true', 'false'] : [])]
    if (names.length > 0) add(literals(names))
    const makers: Readonly<Partial<Record<JsonType, () => void>>> = {
      string: () => add(textOf(facts, path)),
      number: () => add(atPath(path, () => numberLexeme(facts.number))),
      object: () => shapes.push(this.#objectOf(facts.object)),
      array: () => shapes.push(this.#arrayOf(facts.array)),
    }
    for (const type of types) makers[type]?.()
    return shapes
  }

  #account({ dfa, lengths, isEasy }: Lexeme, path: string): void {
    if (!this.#made.has(dfa)) this.#work += dfa.table.length * (isEasy ? EASY_SHARE : 1)
    this.#made.add(dfa)
    this.#work += (lengths?.size ?? 0) * EASY_SHARE
    if (this.#work > MAX_WORK) {
      throw schemaError(
        path,
        'makes the schema too much work',
        'Use fewer or simpler patterns, and shorter lists.',
      )
    }
  }

  #objectOf(facts: ObjectFacts): ObjectShape {
    const { properties, required, others, least, most } = facts
    const unnamed = [...required].filter((name) => !properties.has(name))
    const named = [
      ...properties,
      ...unnamed.map((name): [string, readonly SchemaPart[]] => [name, others ?? []]),
    ]
    const members = named.map(([name, parts]) => ({
      name,
      node: this.nodeOf(parts),
      isRequired: required.has(name),
    }))
    const rest = writtenOthers(facts)
    return { kind: 'object', members, others: rest && this.nodeOf(rest), least, most }
  }

  #arrayOf({ first, others, least, most }: ArrayFacts): ArrayShape {
    const rest = others ?? (first.length === 0 ? [] : undefined)
    return {
      kind: 'array',
      first: first.map((parts) => this.nodeOf(parts)),
      others: rest && this.nodeOf(rest),
      least,
      most,
    }
  }
}

function textOf({ text }: SchemaFacts, path: string): Lexeme | undefined {
  let content: Dfa | undefined
  for (const pattern of text.patterns) {
    const next = atPath(pattern.path, () => patternContent(pattern.source))
    if (!next) return undefined
    const before: Dfa | undefined = content
    content = before ? atPath(pattern.path, () => combine(before, next, 'both')) : next
    if (!content) return undefined
  }
  const all = content ?? freeContent()
  return atPath(path, () => textLexeme(all, text))
}

function heightOf(shape: Shape): number {
  switch (shape.kind) {
    case 'word':
      return 0
    case 'object':
      return heightOfObject(shape)
    case 'array':
      return heightOfArray(shape)
  }
}

function isPossible(node: ValueNode | undefined): node is ValueNode {
  return node !== undefined && node.height < Number.POSITIVE_INFINITY
}

function heightOfObject({ members, others, least, most }: ObjectShape): number {
  const required = members.filter(({ isRequired }) => isRequired)
  const possible = members.filter(({ node }) => isPossible(node))
  const room = isPossible(others) ? Number.POSITIVE_INFINITY : possible.length
  const isImpossible = required.some(({ node }) => !isPossible(node))
  if (isImpossible || least > most || required.length > most || room < least) return Number.POSITIVE_INFINITY
  // With a least count, optional members may have to be written, whichever are left.
  const needed =
    required.length < least ? [...possible.map(({ node }) => node), others] : required.map(({ node }) => node)
  return needed.reduce((height, node) => (isPossible(node) ? Math.max(height, node.height + 1) : height), 0)
}

function heightOfArray({ first, others, least, most }: ArrayShape): number {
  if (least > most) return Number.POSITIVE_INFINITY
  const needed = [...first.slice(0, least), ...(least > first.length ? [others] : [])]
  return needed.reduce(
    (height, node) => Math.max(height, (node ? node.height : Number.POSITIVE_INFINITY) + 1),
    0,
  )
}

function prune(shape: Shape): void {
  if (shape.kind === 'object') {
    shape.members = shape.members.filter(({ node }) => isPossible(node))
    if (!isPossible(shape.others)) shape.others = undefined
  }
  if (shape.kind === 'array') {
    const impossible = shape.first.findIndex((node) => !isPossible(node))
    if (impossible >= 0) shape.first = shape.first.slice(0, impossible)
    if (impossible >= 0 || !isPossible(shape.others)) shape.others = undefined
    if (!shape.others) shape.most = Math.min(shape.most, shape.first.length)
  }
}
