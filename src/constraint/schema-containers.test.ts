/** How objects and lists are written. */
import { describe, expect, it } from 'vitest'
import { createReader, expectTexts } from './schema-texts.case.ts'

const NAMED = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'boolean' } } }

describe('objects', () => {
  it('have their properties in order, optional ones left out', () => {
    expectTexts(
      { ...NAMED, required: ['b'] },
      ['{"a":1,"b":true}', '{"b":false}', '{"a": 1, "b": true}', '{"a":1, "b":true}'],
      [
        '{}',
        '{"a":1}',
        '{"b":true,"a":1}',
        '{"a":1,"a":2,"b":true}',
        '{"b":1}',
        '{"a":1,,"b":true}',
        '{,"b":true}',
        '{"b":true,}',
      ],
    )
  })

  it('have no more white space than one space behind a comma or a colon', () => {
    expectTexts(
      NAMED,
      ['{}', '{"a": 1}'],
      [
        ' {}',
        '{ }',
        '{} ',
        '{"a":  1}',
        '{"a" :1}',
        '{"a":1 }',
        '{ "a":1}',
        '{"a":\n1}',
        '{"a":1,  "b":true}',
      ],
    )
    expect(createReader(NAMED, true)(' {"a":1}')).toBe(true)
    expect(createReader(NAMED, true)('  {}')).toBe(false)
  })

  it('have other properties where the schema says what these are, or names none', () => {
    expectTexts(NAMED, [], ['{"c":1}', '{"a":1,"c":1}'])
    expectTexts({ ...NAMED, additionalProperties: false }, ['{"a":1}'], ['{"c":1}'])
    expectTexts(
      { ...NAMED, additionalProperties: { type: 'null' } },
      ['{"c":null}', '{"a":1,"c":null, "d": null}', '{"":null}', '{"猫":null}'],
      [
        '{"c":1}',
        '{"c":null,"a":1}',
        '{"a":null}',
        '{"c":null,"c":null}',
        '{"c":null,"b":null}',
        '{"c\\n":null}',
      ],
    )
    expectTexts({ type: 'object' }, ['{}', '{"a":[1,{"b":"c"}],"b":null}'], ['{"a":1,"a":2}', '[]'])
    expectTexts({ ...NAMED, additionalProperties: true }, ['{"a":1,"c":[]}'], ['{"a":"x"}'])
  })

  it('have as many as the schema says', () => {
    expectTexts({ ...NAMED, minProperties: 1 }, ['{"a":1}', '{"b":true}', '{"a":1,"b":true}'], ['{}'])
    expectTexts({ ...NAMED, maxProperties: 1 }, ['{}', '{"a":1}', '{"b":true}'], ['{"a":1,"b":true}'])
    expectTexts({ ...NAMED, minProperties: 2 }, ['{"a":1,"b":true}'], ['{}', '{"a":1}', '{"b":true}'])
    expectTexts(
      { ...NAMED, required: ['b'], maxProperties: 1 },
      ['{"b":true}'],
      ['{"a":1}', '{"a":1,"b":true}'],
    )
    expectTexts(
      { type: 'object', additionalProperties: { type: 'null' }, minProperties: 2, maxProperties: 3 },
      ['{"a":null,"b":null}', '{"a":null,"b":null,"c":null}'],
      ['{}', '{"a":null}', '{"a":null,"b":null,"c":null,"d":null}'],
    )
  })

  it('have required properties that only `required` names', () => {
    expectTexts(
      { type: 'object', required: ['x'] },
      ['{"x":1}', '{"x":[]}'],
      ['{}', '{"y":1}', '{"x":1,"y":1}'],
    )
    expectTexts(
      { type: 'object', required: ['x'], additionalProperties: { type: 'null' } },
      ['{"x":null}', '{"x":null,"y":null}'],
      ['{"x":1}', '{"y":null,"x":null}'],
    )
  })

  it('may have strange names', () => {
    // Paths of these parts, written one after the other, would look the same.
    expectTexts(
      {
        type: 'object',
        properties: {
          'x #': { properties: { y: { const: 1 } } },
          z: { allOf: [{ $ref: '#/properties/x' }, { $ref: '#/properties/y' }] },
          x: true,
          y: { const: 2 },
        },
      },
      ['{"x #":{"y":1},"z":2}'],
      ['{"x #":{"y":2}}', '{"z":1}'],
    )
    expectTexts(
      { properties: { 'a"b': {}, 'c\n': {}, größe: {}, '\u2028': {} }, type: 'object' },
      ['{"a\\"b":1}', '{"c\\n":1}', '{"größe":1}', '{"\u2028":1}'],
      ['{"a"b":1}', '{"gr\\u00f6ße":1}'],
    )
  })
})

describe('lists', () => {
  it('have elements of their kind, as many as the schema says', () => {
    const items = { type: 'boolean' }
    expectTexts(
      { type: 'array', items },
      ['[]', '[true]', '[true,false, true]'],
      ['[1]', '[true,]', '[,true]', '[ true]', '[true false]'],
    )
    expectTexts(
      { type: 'array', items, minItems: 1, maxItems: 2 },
      ['[true]', '[true,true]'],
      ['[]', '[true,true,true]'],
    )
    expectTexts({ type: 'array', items: false }, ['[]'], ['[1]'])
    expectTexts({ type: 'array', maxItems: 0 }, ['[]'], ['[1]'])
    const reads = createReader({ type: 'array', items, minItems: 2000, maxItems: 3000 })
    const list = (count: number): string => `[${Array.from({ length: count }, () => 'true').join()}]`
    expect([1999, 2000, 3000, 3001].map((count) => reads(list(count)))).toEqual([false, true, true, false])
  })

  it('have first elements of their own kinds', () => {
    const first = [{ type: 'string' }, { type: 'integer' }]
    expectTexts({ type: 'array', prefixItems: first }, ['[]', '["a"]', '["a",1]'], ['[1]', '["a",1,2]'])
    expectTexts({ type: 'array', prefixItems: first, minItems: 2 }, ['["a",1]'], ['[]', '["a"]'])
    expectTexts(
      { type: 'array', prefixItems: first, items: { type: 'null' } },
      ['["a",1,null,null]'],
      ['["a",null]', '["a",1,1]'],
    )
    expectTexts({ type: 'array', prefixItems: first, items: false }, ['["a",1]'], ['["a",1,1]'])
    expectTexts(
      { type: 'array', items: first, additionalItems: { type: 'null' } },
      ['["a",1,null]'],
      ['["a",1,1]'],
    )
    expectTexts({ type: 'array', prefixItems: [{ type: 'null' }, false] }, ['[]', '[null]'], ['[null,1]'])
  })
})
