/** Which values are written: lists of them, types, schemas of schemas. */
import { describe, expect, it } from 'vitest'
import { createGrammar, expectTexts, stateBehind } from './schema-texts.case.ts'

describe('values', () => {
  it('of a list, as JSON.stringify writes them', () => {
    expectTexts(
      { enum: ['a', 'ab', 1, 12, null, true, { x: [1] }, 'q"'] },
      ['"a"', '"ab"', '1', '12', 'null', 'true', '{"x":[1]}', '"q\\""'],
      ['"b"', '2', '123', 'false', '{"x": [1]}', '{"x":[]}', '{}'],
    )
    expectTexts({ const: 'x' }, ['"x"'], ['"y"', 'x'])
  })

  it('of a list that satisfy what else is said', () => {
    expectTexts(
      { enum: ['a', 'abc', 3, 7, null], type: ['string', 'integer'], minLength: 2, minimum: 5 },
      ['"abc"', '7'],
      ['"a"', '3', 'null'],
    )
    expectTexts({ enum: ['ab', 'ba'], pattern: '^a' }, ['"ab"'], ['"ba"'])
    expectTexts(
      { enum: [{ a: 1 }, { a: 'x' }, {}], properties: { a: { type: 'string' } }, required: ['a'] },
      ['{"a":"x"}'],
      ['{"a":1}', '{}'],
    )
    expectTexts(
      { enum: [[1], [1, 2], ['a']], items: { type: 'integer' }, maxItems: 1 },
      ['[1]'],
      ['[1,2]', '["a"]'],
    )
    expectTexts({ enum: [4, 5, 6.5], type: 'integer', multipleOf: 2 }, ['4'], ['5', '6.5'])
    expectTexts({ allOf: [{ enum: [1, 2, 3] }, { enum: [2, 3, 4] }], const: 3 }, ['3'], ['2'])
  })

  it('of several types', () => {
    expectTexts({ type: ['integer', 'null'] }, ['1', 'null'], ['1.5', '"a"'])
    expectTexts({ type: ['integer', 'number'] }, ['1.5'], ['"a"'])
    expectTexts(true, ['1', '"a"', 'null', '[1,"a",{"b":[]}]', '{}', 'false'], ['', 'nul', '[', '{"a"}'])
    expectTexts({}, ['1', '[[[]]]'], ['x'])
  })

  it('of the type that is meant where none is named', () => {
    expectTexts({ minLength: 1 }, ['"a"'], ['1', '""'])
    expectTexts({ properties: { a: { minimum: 3 } } }, ['{"a":3}'], ['3', '{"a":2}', '{"a":"x"}'])
  })

  it('may have more digits to come, or end', () => {
    const grammar = createGrammar({ type: 'integer', minimum: 0, maximum: 12 })
    const one = grammar.advance(grammar.start, 0x31)!
    expect([one.canEnd, one.readings.length]).toEqual([true, 1])
    const twelve = grammar.advance(one, 0x32)!
    expect([twelve.canEnd, twelve.readings.length]).toEqual([true, 0])
    expect(grammar.advance(one, 0x33)).toBe(undefined)
  })
})

describe('combined schemas', () => {
  it('allOf: what all say', () => {
    expectTexts(
      {
        allOf: [
          { properties: { a: { type: 'integer' } }, required: ['a'] },
          { properties: { b: { type: 'null' }, a: { maximum: 5 } } },
        ],
      },
      ['{"a":1}', '{"a":5,"b":null}'],
      ['{"b":null}', '{"a":6}', '{}'],
    )
    expectTexts(
      { allOf: [{ properties: { a: {} }, additionalProperties: false }, { properties: { a: {}, b: {} } }] },
      ['{}', '{"a":1}'],
      ['{"b":1}'],
    )
    expectTexts(
      {
        allOf: [
          { type: 'string', pattern: '^a' },
          { pattern: 'z$', maxLength: 3 },
        ],
      },
      ['"az"', '"abz"'],
      ['"a"', '"abcz"'],
    )
    expectTexts(
      {
        allOf: [{ prefixItems: [{ type: 'integer' }] }, { items: { minimum: 3 } }],
        type: 'array',
        maxItems: 1,
      },
      ['[3]', '[]'],
      ['[2]'],
    )
  })

  it('anyOf: what one says, with what stands beside it', () => {
    expectTexts(
      {
        type: 'object',
        properties: { k: { type: 'string' } },
        anyOf: [{ required: ['k'] }, { properties: { n: { type: 'null' } }, required: ['n'] }],
      },
      ['{"k":"x"}', '{"n":null}', '{"k":"x","n":null}'],
      ['{}', '{"k":1}'],
    )
    expectTexts(
      { anyOf: [{ type: 'integer' }, { type: 'string', maxLength: 1 }, { type: 'string', pattern: '^zz$' }] },
      ['1', '"a"', '"zz"'],
      ['"za"', 'null'],
    )
    expectTexts({ anyOf: [{ const: 1 }, false] }, ['1'], ['2'])
  })

  it('oneOf: where no value can satisfy two', () => {
    const kind = (name: string, more: object): object => ({
      type: 'object',
      properties: { kind: { const: name }, ...more },
      required: ['kind'],
    })
    expectTexts(
      { oneOf: [kind('a', { n: { type: 'integer' } }), kind('b', { s: { type: 'string' } })] },
      ['{"kind":"a","n":1}', '{"kind":"b","s":"x"}', '{"kind":"b"}'],
      ['{"kind":"a","s":"x"}', '{"kind":"c"}'],
    )
    expectTexts({ oneOf: [{ type: 'string' }, { type: 'null' }] }, ['"a"', 'null'], ['1'])
    expectTexts({ oneOf: [{ minimum: 0, maximum: 3 }, { minimum: 4 }], type: 'integer' }, ['3', '4'], ['-1'])
    expectTexts(
      { oneOf: [{ maxLength: 1 }, { minLength: 2, maxLength: 3 }], type: 'string' },
      ['"a"', '"abc"'],
      ['"abcd"'],
    )
    expectTexts({ oneOf: [{ const: 'a' }, { enum: ['b', 'c'] }] }, ['"a"', '"c"'], ['"d"'])
    expectTexts(
      {
        oneOf: [
          { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false },
          { type: 'object', properties: { b: {} }, required: ['b'], additionalProperties: false },
        ],
      },
      ['{"a":1}', '{"b":1}'],
      ['{}'],
    )
  })

  it('references, also to themselves', () => {
    const tree = {
      $defs: {
        node: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
          },
          required: ['name'],
        },
      },
      $ref: '#/$defs/node',
    }
    expectTexts(
      tree,
      ['{"name":"a"}', '{"name":"a","children":[{"name":"b","children":[]},{"name":"c"}]}'],
      ['{"name":"a","children":[{}]}', '{}'],
    )
    expectTexts(
      { type: 'object', properties: { next: { $ref: '#' } } },
      ['{}', '{"next":{"next":{}}}'],
      ['{"next":1}'],
    )
    expectTexts({ definitions: { 'a/b~c d': { const: 1 } }, $ref: '#/definitions/a~1b~0c%20d' }, ['1'], ['2'])
    expectTexts(
      {
        $defs: { a: { type: 'integer' } },
        properties: { x: { $ref: '#/$defs/a', minimum: 2 } },
        type: 'object',
      },
      ['{"x":2}'],
      ['{"x":1}', '{"x":"a"}'],
    )
    expectTexts(
      {
        $defs: { base: { required: ['a'] }, b: { allOf: [{ $ref: '#/$defs/base' }] } },
        allOf: [{ $ref: '#/$defs/base' }, { $ref: '#/$defs/b' }],
        properties: { a: { type: 'null' } },
      },
      ['{"a":null}'],
      ['{}'],
    )
  })

  it('may allow the same in many ways', () => {
    const list = { type: 'array', items: { $ref: '#' } }
    const grammar = createGrammar({ anyOf: [list, list, { const: 1 }] })
    const levels = 40
    const state = stateBehind(grammar, new TextEncoder().encode('['.repeat(levels)))
    expect(state?.readings.length).toBe(2048)
    expect(
      stateBehind(grammar, new TextEncoder().encode(`${'['.repeat(levels)}1${']'.repeat(levels)}`))?.canEnd,
    ).toBe(true)
  })

  it('end before they are too deep for a parser', () => {
    const grammar = createGrammar({ type: 'array', items: { $ref: '#' } })
    let state = grammar.start
    let levels = 0
    for (let next: typeof state | undefined = state; next; next = grammar.advance(state, 0x5b)) {
      state = next
      levels++
    }
    expect(levels).toBe(65)
    expect(grammar.advance(state, 0x5d)).toBeDefined()
  })
})
