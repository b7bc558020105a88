/** From shapes of values to places: how JSON is written, with at most one space behind a comma or a colon. */
import { type Alternative, Place, word } from './grammar.ts'
import { type Lexeme, literals, textLexeme } from './lexeme.ts'
import { unescapedContent } from './string-content.ts'
import type { ArrayShape, Member, ObjectShape, Shape, ValueNode } from './value-shapes.ts'

/** The place of a whole value. @param allowsSpace A space may come before it. */
export function createRootPlace(node: ValueNode, { allowsSpace }: { readonly allowsSpace: boolean }): Place {
  const writer = new ValueWriter()
  const root = writer.placeOf(node)
  if (!allowsSpace) return root
  return new Place(() => [...root.alternatives, word(SPACE, [root])])
}

const SPACE = literals([' '])
const COMMA = literals([',', ', '])
const COLON = literals([':', ': '])
const OPEN_OBJECT = literals(['{'])
const CLOSE_OBJECT = literals(['}'])
const EMPTY_OBJECT = literals(['{}'])
const OPEN_ARRAY = literals(['['])
const CLOSE_ARRAY = literals([']'])
const EMPTY_ARRAY = literals(['[]'])

class ValueWriter {
  readonly #places = new Map<ValueNode, Place>()

  placeOf(node: ValueNode): Place {
    let place = this.#places.get(node)
    if (!place) {
      place = new Place(() => node.shapes.flatMap((shape) => this.#alternativesOf(shape)))
      this.#places.set(node, place)
    }
    return place
  }

  #alternativesOf(shape: Shape): readonly Alternative[] {
    switch (shape.kind) {
      case 'word':
        return [word(shape.lexeme)]
      case 'object':
        return new ObjectWriter(shape, this).alternatives(0, 0, NO_NAMES)
      case 'array':
        return new ArrayWriter(shape, this).alternatives(0)
    }
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()

class ObjectWriter {
  readonly #shape: ObjectShape
  readonly #values: ValueWriter
  readonly #places = new Map<string, Place>()
  readonly #lexemes = new Map<string, Lexeme>()
  readonly #declared: ReadonlySet<string>

  constructor(shape: ObjectShape, values: ValueWriter) {
    this.#shape = shape
    this.#values = values
    this.#declared = new Set(shape.members.map(({ name }) => bytesOf(name)))
  }

  /**
   * @param next The first member that has not been written or passed over.
   * @param count Members written.
   * @param names Of other members that were written; they come after the named ones.
   */
  alternatives(next: number, count: number, names: ReadonlySet<string>): Alternative[] {
    const { members, others, least, most } = this.#shape
    const list: Alternative[] = []
    const rest = members.slice(next)
    const needed = rest.filter(({ isRequired }) => isRequired).length
    for (const [index, member] of rest.entries()) {
      const after = rest.slice(index + 1)
      const neededAfter = after.filter(({ isRequired }) => isRequired).length
      const mayBeWritten = count + 1 + neededAfter <= most
      const leavesEnough = others !== undefined || count + 1 + after.length >= least
      if (mayBeWritten && leavesEnough) list.push(this.#member(member, next + index, count))
      if (member.isRequired) break
    }
    if (others && needed === 0 && count < most) list.push(this.#other(others, count, names))
    if (needed === 0 && count >= least) list.push(word(count === 0 ? EMPTY_OBJECT : CLOSE_OBJECT))
    return list
  }

  #member({ name, node }: Member, index: number, count: number): Alternative {
    const follow = [this.#placeAt(index + 1, count + 1), this.#values.placeOf(node)]
    return word(this.#nameLexeme(name, count === 0), follow, node.height + 1)
  }

  #placeAt(next: number, count: number): Place {
    const { least, most } = this.#shape
    // Beyond the limits only the first member differs from the others.
    const counted = most === Number.POSITIVE_INFINITY ? Math.min(count, Math.max(1, least)) : count
    const key = `${next} ${counted}`
    let place = this.#places.get(key)
    if (!place) {
      place = new Place(() => this.alternatives(next, counted, NO_NAMES))
      this.#places.set(key, place)
    }
    return place
  }

  #nameLexeme(name: string, isFirst: boolean): Lexeme {
    const key = `${isFirst} ${name}`
    let lexeme = this.#lexemes.get(key)
    if (!lexeme) {
      const quoted = JSON.stringify(name)
      const starts = isFirst ? ['{'] : [',', ', ']
      lexeme = literals(starts.flatMap((start) => [`${start}${quoted}:`, `${start}${quoted}: `]))
      this.#lexemes.set(key, lexeme)
    }
    return lexeme
  }

  /** A member with a name that is not yet taken. */
  #other(node: ValueNode, count: number, names: ReadonlySet<string>): Alternative {
    const height = node.height + 1
    const name: Alternative = {
      lexeme: freeName(),
      height,
      tracksText: true,
      follow: (text) => {
        const written = text.slice(1, -1)
        if (names.has(written) || this.#declared.has(written)) return undefined
        const after = new Place(() =>
          this.alternatives(this.#shape.members.length, count + 1, new Set([...names, written])),
        )
        return [new Place(() => [word(COLON, [after, this.#values.placeOf(node)], height)])]
      },
    }
    return word(count === 0 ? OPEN_OBJECT : COMMA, [new Place(() => [name])], height)
  }
}

let knownName: Lexeme | undefined

/** Made when first needed: few schemas have names that they do not say. */
function freeName(): Lexeme {
  knownName ??= textLexeme(unescapedContent(), { least: 0, most: Number.POSITIVE_INFINITY }) as Lexeme
  return knownName
}

/** The UTF-8 of a text, each byte as one character. */
function bytesOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')
}

class ArrayWriter {
  readonly #shape: ArrayShape
  readonly #values: ValueWriter
  readonly #places = new Map<number, Place>()

  constructor(shape: ArrayShape, values: ValueWriter) {
    this.#shape = shape
    this.#values = values
  }

  /** @param count Elements written. */
  alternatives(count: number): Alternative[] {
    const { first, others, least, most } = this.#shape
    const list: Alternative[] = []
    const node = first[count] ?? others
    if (node && count < most) {
      const follow = [this.#placeAt(count + 1), this.#values.placeOf(node)]
      list.push(word(count === 0 ? OPEN_ARRAY : COMMA, follow, node.height + 1))
    }
    if (count >= least) list.push(word(count === 0 ? EMPTY_ARRAY : CLOSE_ARRAY))
    return list
  }

  #placeAt(count: number): Place {
    const { first, least, most } = this.#shape
    const limit = Math.max(1, least, first.length)
    const counted = most === Number.POSITIVE_INFINITY ? Math.min(count, limit) : count
    let place = this.#places.get(counted)
    if (!place) {
      place = new Place(() => this.alternatives(counted))
      this.#places.set(counted, place)
    }
    return place
  }
}
