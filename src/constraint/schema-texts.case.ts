/** Texts, held against schemas byte by byte. */
import { expect } from 'vitest'
import { Grammar, type GrammarState } from './grammar-state.ts'
import { compileSchema } from './schema-constraint.ts'

export function createGrammar(schema: unknown, allowsSpace = false): Grammar {
  return new Grammar(compileSchema(schema).rootPlace(allowsSpace))
}

/** Whether a text may be the whole answer. */
export function createReader(schema: unknown, allowsSpace = false): (text: string) => boolean {
  const grammar = createGrammar(schema, allowsSpace)
  return (text) => stateBehind(grammar, new TextEncoder().encode(text))?.canEnd ?? false
}

/** Undefined where a byte may not come. */
export function stateBehind(grammar: Grammar, bytes: Iterable<number>): GrammarState | undefined {
  let state: GrammarState | undefined = grammar.start
  for (const byte of bytes) state = state && grammar.advance(state, byte)
  return state
}

export function expectTexts(schema: unknown, valid: readonly string[], invalid: readonly string[]): void {
  const reads = createReader(schema)
  expect(
    valid.filter((text) => !reads(text)),
    'refused',
  ).toEqual([])
  expect(invalid.filter(reads), 'taken').toEqual([])
}
