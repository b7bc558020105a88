/** Schemas of all supported kinds, made up from a seed. */

export type JsonSchema = Record<string, unknown> | boolean

const NAMES = ['a', 'name', 'größe', '名前', 'x/y~z', 'a"b', 'id', 'tags', 'note', 'kind']
const TEXTS = ['yes', 'no', 'maybe', '', 'a "quote"', 'zeile\nzwei', '猫', '👍 ok', '\\', 'yes yes']
const PATTERNS = [
  '^[A-Z]{2}-[0-9]{3}$',
  '^(?:cat|dog|horse)s?$',
  '[0-9]',
  '^.{2,5}$',
  '^[^a-z]*$',
  'ab|cd',
  '^\\w+\\s\\w+$',
  '^(?!no)[a-z]{1,4}$',
  '^[\\u4e00-\\u9fff]{1,4}$',
  '^"?[^"]?\\n?$',
  '^\\p{Lu}\\p{Ll}*$',
]
const FORMATS = ['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid']

export class SchemaMaker {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  /** A schema that most often has values. @param depth Levels of values within each other. */
  make(depth: number): JsonSchema {
    const kind = this.#below(depth > 0 ? 12 : 6)
    switch (kind) {
      case 0:
        return {
          enum: [
            ...this.#some(TEXTS),
            ...this.#pick<readonly unknown[]>([[], [1, null], [{ a: [1] }, 12, 123]]),
          ],
        }
      case 1:
        return { const: this.#pick([...TEXTS, 0, 1.5, true, null, { k: [1, 'x'] }]) }
      case 2:
        return { type: this.#pick(['boolean', 'null', ['string', 'null'], ['integer', 'boolean']]) }
      case 3:
        return this.#number()
      case 4:
      case 5:
        return this.#text()
      case 6:
      case 7:
        return this.#array(depth)
      case 8:
        return { anyOf: [this.make(depth - 1), this.make(depth - 1), this.#object(depth)] }
      case 9:
        return { allOf: [this.#object(depth), this.#object(depth)] }
      case 10:
        return {
          oneOf: ['one', 'two'].map((kind) => ({
            type: 'object',
            properties: { kind: { const: kind }, value: this.make(depth - 1) },
            required: ['kind'],
          })),
        }
      default:
        return this.#object(depth)
    }
  }

  #number(): JsonSchema {
    const isInteger = this.#below(2) === 0
    const bound = (): number => {
      const value = (this.#random() - 0.5) * 10 ** this.#below(6)
      return isInteger ? Math.round(value) : Number(value.toFixed(this.#below(4)))
    }
    const [low, high] = [bound(), bound()].sort((a, b) => a - b) as [number, number]
    const low1 = this.#below(3) === 0 ? { [this.#pick(['minimum', 'exclusiveMinimum'])]: low } : {}
    const high1 = this.#below(3) === 0 ? { [this.#pick(['maximum', 'exclusiveMaximum'])]: high + 2 } : {}
    const divisor = this.#below(6) === 0 ? { multipleOf: this.#pick([2, 3, 5, 7, 100]) } : {}
    return { type: isInteger ? 'integer' : 'number', ...low1, ...high1, ...divisor }
  }

  #text(): JsonSchema {
    const least = this.#below(4)
    const lengths = this.#pick([
      {},
      { maxLength: this.#below(12) },
      { minLength: least, maxLength: least + this.#below(40) },
    ])
    switch (this.#below(4)) {
      case 0:
        return { type: 'string', pattern: this.#pick(PATTERNS), ...this.#pick([{}, lengths]) }
      case 1:
        return { type: 'string', format: this.#pick(FORMATS) }
      default:
        return { type: 'string', ...lengths }
    }
  }

  #array(depth: number): JsonSchema {
    const least = this.#below(3)
    const first = this.#below(4) === 0 ? { prefixItems: [this.make(depth - 1), this.make(depth - 1)] } : {}
    const rest = this.#below(5) === 0 ? {} : { items: this.make(depth - 1) }
    return { type: 'array', ...first, ...rest, minItems: least, maxItems: least + this.#below(4) }
  }

  #object(depth: number): JsonSchema {
    const names = this.#some(NAMES)
    const properties = Object.fromEntries(names.map((name) => [name, this.make(depth - 1)]))
    const others = this.#pick([
      {},
      {},
      { additionalProperties: false },
      { additionalProperties: { type: 'integer', minimum: 0, maximum: 9 } },
    ])
    const counts = this.#pick([{}, {}, { minProperties: 1 }, { maxProperties: names.length }])
    const required = names.filter(() => this.#below(2) === 0)
    return { type: 'object', properties, required, ...others, ...counts }
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item
  }

  #some<Item>(items: readonly Item[]): Item[] {
    return [this.#pick(items), ...items.filter(() => this.#below(4) === 0)].filter(
      (item, index, all) => all.indexOf(item) === index,
    )
  }
}
