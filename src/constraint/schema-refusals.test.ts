import { describe, expect, it } from 'vitest'
import { compileSchema } from './schema-constraint.ts'
import { expectTexts } from './schema-texts.case.ts'

describe('refused by name', () => {
  it.each(
    [
      [{ properties: { x: { not: {} } } }, "The schema's #/properties/x/not is not supported."],
      [{ patternProperties: {} }, "The schema's #/patternProperties is not supported."],
      [{ type: 'object', if: {} }, "The schema's #/if is not supported."],
      [{ items: { uniqueItems: true } }, "The schema's #/items/uniqueItems is not supported."],
      [{ anyOf: [{ type: 'null' }, { contains: {} }] }, "The schema's #/anyOf/1/contains is not supported."],
      [{ unevaluatedProperties: false }, "The schema's #/unevaluatedProperties is not supported."],
      [
        { properties: { 'a/b~': { nullable: true } } },
        "The schema's #/properties/a~1b~0/nullable is not supported.",
      ],
      [{ constructor: 1 }, "The schema's #/constructor is not supported."],
      [{ multipleOf: 0.01 }, "The schema's #/multipleOf is supported for whole numbers only."],
      [{ format: 'iri' }, `The schema's #/format "iri" is not supported.`],
      [{ pattern: '\\b' }, "The schema's #/pattern \\b, the edge of a word, is not supported in patterns."],
      [
        { type: 'text' },
        `The schema's #/type must be one of null, boolean, object, array, number, string, integer, or a list of these; found "text".`,
      ],
      [{ minLength: -1 }, "The schema's #/minLength must be a whole number of at least 0; found -1."],
      [{ minimum: '1' }, `The schema's #/minimum must be a number; found "1".`],
      [{ exclusiveMinimum: true }, "The schema's #/exclusiveMinimum must be a number; found true."],
      [
        { enum: Array.from({ length: 10_001 }, (_, value) => value) },
        "The schema's #/enum has more than 10000 values.",
      ],
      [{ enum: [] }, "The schema's #/enum must be a list that is not empty; found []."],
      [{ required: 'a' }, `The schema's #/required must be a list of names; found "a".`],
      [{ properties: [] }, "The schema's #/properties must be an object; found []."],
      [{ items: 3 }, "The schema's #/items must be an object, true or false; found 3."],
      [{ anyOf: {} }, "The schema's #/anyOf must be a list of schemas that is not empty; found {}."],
      [
        { $ref: 'other.json' },
        `The schema's #/$ref is supported for pointers into the schema, such as "#/$defs/name", only.`,
      ],
      [{ $ref: '#/$defs/x' }, `The schema's #/$ref points to "#/$defs/x", where there is nothing.`],
      [{ $ref: '#/__proto__' }, `The schema's #/$ref points to "#/__proto__", where there is nothing.`],
      [{ $ref: '#' }, "The schema's # refers to itself."],
      [{ anyOf: [{ $ref: '#' }, { type: 'null' }] }, "The schema's # refers to itself."],
      [
        { oneOf: [{ type: 'integer' }, { type: 'number' }] },
        "The schema's #/oneOf is supported only where a value fits one schema at most; a value of the one at 0 may fit that at 1.",
      ],
      [
        {
          oneOf: [
            { required: ['a'], properties: { a: {} } },
            { required: ['b'], properties: { a: {}, b: {} } },
          ],
        },
        "The schema's #/oneOf is supported only where a value fits one schema at most; a value of the one at 1 may fit that at 0.",
      ],
      [
        { oneOf: [{ enum: [1, 2] }, { enum: [2, 3] }] },
        "The schema's #/oneOf is supported only where a value fits one schema at most; a value of the one at 0 may fit that at 1.",
      ],
      [false, "The schema's # has no value that satisfies it."],
      [{ type: 'string', minLength: 3, maxLength: 2 }, "The schema's # has no value that satisfies it."],
      [
        { type: 'string', pattern: '^(aa)+$', minLength: 3, maxLength: 3 },
        "The schema's # has no value that satisfies it.",
      ],
      [{ allOf: [{ type: 'string' }, { type: 'null' }] }, "The schema's # has no value that satisfies it."],
      [
        { type: 'object', required: ['a'], additionalProperties: false },
        "The schema's # has no value that satisfies it.",
      ],
      [
        { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] },
        "The schema's # has no value that satisfies it.",
      ],
      [
        { type: 'array', prefixItems: [{}, false], minItems: 2 },
        "The schema's # has no value that satisfies it.",
      ],
      [
        { type: 'object', properties: { a: {} }, minProperties: 2 },
        "The schema's # has no value that satisfies it.",
      ],
      [{ const: 1, type: 'string' }, "The schema's # has no value that satisfies it."],
      [
        { type: 'array', items: {}, minItems: 3, maxItems: 2 },
        "The schema's # has no value that satisfies it.",
      ],
      [3, "The schema's # must be an object, true or false; found 3."],
      [null, "The schema's # must be an object, true or false; found null."],
      [[], "The schema's # must be an object, true or false; found []."],
      [undefined, 'The schema must be an object, true or false.'],
      [() => {}, 'The schema must be an object, true or false.'],
      [{ const: 1n }, 'The schema cannot be written as JSON.'],
      [{ description: 'x'.repeat(2 ** 20) }, 'The schema has 1048594 characters; at most 1048576 are taken.'],
      [nested(300), 'The schema has more than 200 levels.'],
      [nested(100_000), 'The schema cannot be written as JSON.'],
      [
        { allOf: Array.from({ length: 12 }, () => ({ anyOf: [{ minimum: 1 }, { maximum: 5 }] })) },
        "The schema's # has more than 2000 combinations of alternatives.",
      ],
    ].map(([schema, message]) => [message, schema] as const),
  )('%s', (message, schema) => {
    expect(() => compileSchema(schema)).toThrow(expect.objectContaining({ code: 'option/schema', message }))
  })

  it('but not what says nothing', () => {
    expectTexts(
      {
        $schema: 'x',
        $id: 'y',
        $comment: '',
        title: '',
        description: '',
        default: 1,
        examples: [],
        deprecated: false,
        readOnly: true,
        'x-order': 1,
        uniqueItems: false,
        const: 1,
      },
      ['1'],
      ['2'],
    )
  })
})

it('refuses patterns that would keep the machine busy', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `p${index}`,
      { type: 'string', pattern: `^.{0,${300 + index}}$` },
    ]),
  )
  expect(() => compileSchema({ type: 'object', properties })).toThrow(
    /^The schema's #\/properties\/p\d+ makes the schema too much work\.$/,
  )
})

it('takes long lists of values', () => {
  const values = Array.from({ length: 1500 }, (_, index) => `value ${index}`)
  expectTexts({ enum: values }, ['"value 0"', '"value 1499"'], ['"value 1500"', '"value"'])
})

function nested(levels: number): object {
  let schema: object = {}
  for (let level = 0; level < levels; level++) schema = { items: schema }
  return schema
}
