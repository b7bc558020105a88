/** Whatever is given as a schema is understood or refused; nothing else happens. */
import { expect, it } from 'vitest'
import { createRandom } from '../generation/random.ts'
import { EngineError } from '../shared/errors.ts'
import { SchemaMaker } from './random-schema.case.ts'
import { compileSchema } from './schema-constraint.ts'

const ROUNDS = 600

const STRANGE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  -0,
  '',
  'x',
  '#',
  '#/properties',
  '#/properties/a',
  '^(',
  '[z-a]',
  [],
  {},
  [1, 'a'],
  [{}],
  ['string', 'string'],
  { $ref: '#' },
  { type: 'array', items: { $ref: '#' }, minItems: 1 },
  { not: {} },
]
const KEYWORDS =
  'type enum const minLength maxLength pattern format minimum maximum exclusiveMinimum multipleOf properties required additionalProperties minProperties items prefixItems additionalItems minItems maxItems allOf anyOf oneOf $ref $defs title'.split(
    ' ',
  )

it('made-up schemas with strange parts', () => {
  let understood = 0
  let refused = 0
  for (let seed = 0; seed < ROUNDS; seed++) {
    const random = createRandom(seed)
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
    const schema = JSON.parse(JSON.stringify({ root: new SchemaMaker(random).make(2) })) as { root: unknown }
    for (let change = 0; change <= seed % 3; change++) {
      const objects: Record<string, unknown>[] = []
      const queue: unknown[] = [schema.root]
      for (const value of queue) {
        if (typeof value !== 'object' || value === null) continue
        objects.push(value as Record<string, unknown>)
        queue.push(...Object.values(value))
      }
      const target = pick(objects)
      const name = pick([...Object.keys(target), pick(KEYWORDS)])
      target[name] = structuredClone(pick(STRANGE))
    }
    try {
      compileSchema(schema.root)
      understood++
    } catch (error) {
      if (!EngineError.isInstance(error)) console.error(JSON.stringify(schema.root))
      expect(error).toMatchObject({
        code: 'option/schema',
        message: expect.stringMatching(/^The schema's #/),
      })
      refused++
    }
  }
  expect(understood).toBeGreaterThan(100)
  expect(refused).toBeGreaterThan(100)
})
