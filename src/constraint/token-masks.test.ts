/** Masks, held against trying every token byte by byte. */
import { describe, expect, it } from 'vitest'
import { createRandom } from '../generation/random.ts'
import { Grammar, type GrammarState } from './grammar-state.ts'
import { SchemaMaker } from './random-schema.case.ts'
import { type CompiledSchema, compileSchema, SchemaConstraint } from './schema-constraint.ts'
import { readVocabulary } from './test-vocabulary.case.ts'
import { maskOf, WordWalks } from './token-masks.ts'
import { MAX_TOKEN_BYTES, TokenTrie } from './token-trie.ts'

const SCHEMAS = 60
const STEPS = 40

function compile(schema: unknown): CompiledSchema | undefined {
  try {
    return compileSchema(schema)
  } catch {
    return undefined // no value satisfies it, which other tests look at
  }
}

describe.each([
  ['smollm', '<|endoftext|>'],
  ['sentence-piece', '</s>'],
])('%s', (name, stop) => {
  const { vocabulary, walks } = readVocabulary(name, stop)

  it('allows the tokens whose bytes may come, and no others', () => {
    let states = 0
    for (let seed = 1000; seed < 1000 + SCHEMAS; seed++) {
      const random = createRandom(seed)
      const compiled = compile(new SchemaMaker(random).make(2))
      if (!compiled) continue
      const grammar = new Grammar(compiled.rootPlace(true))
      const behind = (state: GrammarState, id: number): GrammarState | undefined => {
        let next: GrammarState | undefined = state
        for (const byte of vocabulary[id] ?? []) next = next && grammar.advance(next, byte)
        return next
      }
      let state = grammar.start
      for (let step = 0; step < STEPS && state.readings.length > 0; step++) {
        const expected = [...vocabulary.keys()].filter((id) => {
          const { length = 0 } = vocabulary[id] ?? {}
          return length > 0 && length <= MAX_TOKEN_BYTES && behind(state, id)
        })
        const mask = maskOf(walks, grammar, state)
        const allowed = [...vocabulary.keys()].filter((id) => ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1)
        expect(allowed).toEqual(expected)
        state = behind(state, allowed[Math.floor(random() * allowed.length)]!)!
        states++
      }
    }
    expect(states).toBeGreaterThan(500)
  })
})

/** A vocabulary of all bytes, some texts and a stop token. */
function vocabularyOf(...texts: string[]): { vocabulary: (Uint8Array | undefined)[]; stop: number } {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  const vocabulary = [...bytes, ...texts.map((text) => new TextEncoder().encode(text)), undefined]
  return { vocabulary, stop: vocabulary.length - 1 }
}

function allowedBy(constraint: SchemaConstraint, size: number): number[] {
  const logits = new Float32Array(size)
  constraint.restrict(logits)
  return [...logits.keys()].filter((id) => logits[id] === 0)
}

describe('a constraint', () => {
  function begin(schema: unknown, ...texts: string[]) {
    const { vocabulary, stop } = vocabularyOf(...texts)
    const constraint = new SchemaConstraint(compileSchema(schema), {
      vocabulary,
      walks: new WordWalks(new TokenTrie(vocabulary)),
      stopTokens: new Set([stop]),
      allowsSpace: false,
    })
    return { constraint, stop, size: vocabulary.length + 3, first: 256 }
  }

  it('lets the answer stop where it is whole, and nowhere else', () => {
    const { constraint, stop, size, first } = begin({ type: 'integer', minimum: 5, maximum: 60 }, '5', '6')
    expect(allowedBy(constraint, size)).not.toContain(stop)
    constraint.accept(first)
    expect(constraint.isComplete).toBe(false)
    expect(allowedBy(constraint, size)).toEqual(
      [...'0123456789'].map((digit) => digit.charCodeAt(0)).concat(first, first + 1, stop),
    )
    constraint.accept(first)
    expect(constraint.isComplete).toBe(true)
  })

  it('lets tokens reach over several words, and the same bytes be several tokens', () => {
    const schema = {
      type: 'object',
      properties: { a: { enum: ['x', 'xy'] }, b: { type: 'null' } },
      required: ['a', 'b'],
    }
    const { constraint, size, first } = begin(
      schema,
      '{"a":"x',
      '","b":null}',
      '","b":nul',
      '","c',
      '{"a":"xyz',
      '{"a":"x',
    )
    expect(allowedBy(constraint, size)).toEqual([0x7b, first, first + 5])
    constraint.accept(first)
    expect(allowedBy(constraint, size)).toEqual([0x22, 0x79, first + 1, first + 2])
    constraint.accept(first + 1)
    expect(constraint.isComplete).toBe(true)
  })

  it('comes to an end where a token can be read in a million ways', () => {
    const list = { type: 'array', items: { $ref: '#' } }
    const { constraint, size, first } = begin({ anyOf: [list, list] }, '['.repeat(20), '[[')
    expect(allowedBy(constraint, size)).toEqual([0x5b, first, first + 1])
    for (const id of [first + 1, first, 0x5b]) constraint.accept(id)
    expect(allowedBy(constraint, size)).toEqual([0x5b, 0x5d, first, first + 1])
  })

  it('leaves out tokens longer than it looks ahead', () => {
    const { constraint, size, first } = begin({ type: 'string' }, `"${' '.repeat(31)}`, `"${' '.repeat(32)}`)
    expect(allowedBy(constraint, size)).toEqual([0x22, first])
  })

  it('says so when the vocabulary has no token that may come', () => {
    const vocabulary = [new TextEncoder().encode('"'), new TextEncoder().encode('a'), undefined]
    const constraint = new SchemaConstraint(compileSchema({ const: 'ab' }), {
      vocabulary,
      walks: new WordWalks(new TokenTrie(vocabulary)),
      stopTokens: new Set([2]),
      allowsSpace: false,
    })
    constraint.accept(0)
    constraint.accept(1)
    expect(() => constraint.restrict(new Float32Array(3))).toThrow(
      expect.objectContaining({ code: 'text/vocabulary' }),
    )
    expect(() => constraint.accept(1)).toThrow('Token 1 may not come here.')
  })

  it('keeps answers apart that share a vocabulary', () => {
    const { vocabulary, stop } = vocabularyOf()
    const walks = new WordWalks(new TokenTrie(vocabulary))
    const setting = { vocabulary, walks, stopTokens: new Set([stop]), allowsSpace: false }
    const compiled = compileSchema({ type: 'string', maxLength: 2 })
    const [one, other] = [new SchemaConstraint(compiled, setting), new SchemaConstraint(compiled, setting)]
    for (const id of [0x22, 0x61, 0x61]) one.accept(id)
    expect(allowedBy(one, 257)).toEqual([0x22])
    other.accept(0x22)
    expect(allowedBy(other, 257)).toContain(0x61)
  })
})
