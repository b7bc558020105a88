import { describe, expect, it } from 'vitest'
import { findRecipe, parseRecipe, wantedType } from './recipe.ts'

describe('parseRecipe', () => {
  it('changes what it names and keeps the rest of its base', () => {
    const recipe = parseRecipe(
      { base: 'q8', types: { vision: 'Q5_1' }, tensors: { 'blk.0.*': 'Q6_K' } },
      'a.json',
    )
    expect(recipe).toEqual({
      name: 'a.json',
      types: { ...findRecipe('q8').types, vision: 'Q5_1' },
      tensors: [{ pattern: 'blk.0.*', type: 'Q6_K' }],
      search: false,
    })
  })

  it('drops what a base refines where the file sets the role itself', () => {
    const name = 'v.blk.3.ffn_down.weight'
    expect(wantedType(findRecipe('mixed'), name, 'vision')).toBe('Q6_K')
    expect(wantedType(parseRecipe({}, 'a.json'), name, 'vision')).toBe('Q6_K')
    expect(wantedType(parseRecipe({ types: { vision: 'Q5_0' } }, 'a.json'), name, 'vision')).toBe('Q5_0')
  })

  it.each([
    [[], 'a.json: expected a JSON object.'],
    [{ typs: {} }, 'a.json: there is no field "typs"; fields are name, base, types, tensors, search.'],
    [{ base: 'q9' }, 'a.json: "base": expected one of f16, q8, q4, mixed, small, found "q9".'],
    [
      { types: { eyes: 'F16' } },
      'a.json: "types" has no "eyes"; expected attention, feedForward, embedding, output, vision, projector.',
    ],
    [
      { types: { vision: 'Q2_K' } },
      'a.json: "types.vision": the type "Q2_K" cannot be written and run; expected one of F32, F16, BF16, Q8_0, Q6_K, Q5_K, Q5_1, Q5_0, Q4_K, Q4_1, Q4_0, IQ4_NL.',
    ],
    [{ tensors: { 'a*': 4 } }, /^a\.json: "tensors" → "a\*": the type 4 cannot be written and run/],
    [{ search: 'yes' }, 'a.json: "search" should be true or false.'],
  ])('refuses %j', (value, message) => {
    expect(() => parseRecipe(value, 'a.json')).toThrow(message)
  })
})

describe('patterns of tensors', () => {
  const typeOf = (pattern: string, name: string) =>
    wantedType(parseRecipe({ base: 'f16', tensors: { [pattern]: 'Q4_0' } }, 'a.json'), name, 'vision')

  it.each([
    ['blk.1.attn_q.weight', 'blk.1.attn_q.weight', 'Q4_0'],
    ['blk.1.attn_q.weight', 'blk.11.attn_q.weight', 'F16'],
    ['*.attn_q.*', 'blk.1.attn_q.weight', 'Q4_0'],
    ['blk.*', 'v.blk.1.ln1.weight', 'F16'],
    ['a*a', 'a', 'F16'],
    ['a*b*c', 'aXbYc', 'Q4_0'],
    ['a*b*b', 'ab', 'F16'],
    ['*', 'anything', 'Q4_0'],
  ])('%s on %s', (pattern, name, type) => {
    expect(typeOf(pattern, name)).toBe(type)
  })

  it('the last one that fits counts', () => {
    const recipe = parseRecipe({ tensors: { 'blk.*': 'Q5_0', 'blk.0.*': 'Q8_0' } }, 'a.json')
    expect(wantedType(recipe, 'blk.0.x', 'attention')).toBe('Q8_0')
    expect(wantedType(recipe, 'blk.1.x', 'attention')).toBe('Q5_0')
  })
})
