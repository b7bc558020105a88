/** Which type each matrix is written in, and how its blocks are fitted. */
import type { TensorType } from '../quant/tensor-types.ts'
import { EngineError } from '../shared/errors.ts'
import { MATRIX_ROLES, type MatrixRole } from './source-model.ts'

/** Types that are written here and that both Onsight and llama.cpp compute with. */
export const RECIPE_TYPES = [
  'F32',
  'F16',
  'BF16',
  'Q8_0',
  'Q6_K',
  'Q5_K',
  'Q5_1',
  'Q5_0',
  'Q4_K',
  'Q4_1',
  'Q4_0',
  'IQ4_NL',
] as const satisfies readonly TensorType[]

export type RecipeType = (typeof RECIPE_TYPES)[number]

export interface TensorRule {
  readonly pattern: string
  readonly type: RecipeType
  /** The role whose type it refines: gone where a file sets that type. Undefined for rules of a file. */
  readonly refines?: MatrixRole
}

export interface Recipe {
  readonly name: string
  readonly types: Readonly<Record<MatrixRole, RecipeType>>
  /** Tensors by name, `*` standing for any characters; the last one that fits counts. */
  readonly tensors: readonly TensorRule[]
  /** Whether scales are searched for the least squared error, or read off the largest element of a block. */
  readonly search: boolean
}

function uniform(name: string, type: RecipeType): Recipe {
  const types = Object.fromEntries(MATRIX_ROLES.map((role) => [role, type])) as Recipe['types']
  return { name, types, tensors: [], search: false }
}

/**
 * By name. `q8` and `q4` are plain rounding throughout. `mixed`: 4 bits for the decoder's layers, 8 for the rest, but 6
 * where measurements show no difference. `small`: 4 bits for the vision tower as well, which wants calibration. What
 * each loses is in docs/quantisation.md.
 */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  f16: uniform('f16', 'F16'),
  q8: uniform('q8', 'Q8_0'),
  q4: uniform('q4', 'Q4_0'),
  mixed: {
    name: 'mixed',
    types: {
      attention: 'Q4_0',
      feedForward: 'Q4_0',
      embedding: 'Q8_0',
      output: 'Q8_0',
      vision: 'Q8_0',
      projector: 'Q8_0',
    },
    tensors: [
      { pattern: 'v.blk.*.ffn_down.weight', type: 'Q6_K', refines: 'vision' },
      { pattern: 'mm.*.weight', type: 'Q6_K', refines: 'projector' },
    ],
    search: true,
  },
  small: {
    name: 'small',
    types: {
      attention: 'Q4_0',
      feedForward: 'Q4_0',
      embedding: 'Q8_0',
      output: 'Q8_0',
      vision: 'Q4_0',
      projector: 'Q6_K',
    },
    tensors: [],
    search: true,
  },
}

const FIELDS = ['name', 'base', 'types', 'tensors', 'search']

/**
 * A recipe from a JSON file: `{"base": "mixed", "types": {"vision": "Q5_1"}, "tensors": {"blk.0.*": "Q6_K"}}`.
 * What it leaves out is as in the recipe `base`, by default `mixed`.
 *
 * @throws EngineError `option/recipe` naming file, field, what was expected and what was found.
 */
export function parseRecipe(value: unknown, file: string): Recipe {
  const fields = requireFields(value, file, '')
  for (const key of Object.keys(fields)) {
    if (!FIELDS.includes(key))
      throw recipeError(`${file}: there is no field "${key}"; fields are ${FIELDS.join(', ')}.`)
  }
  const base = findRecipe(fields['base'] ?? 'mixed', `${file}: "base"`)
  const types: Record<MatrixRole, RecipeType> = { ...base.types }
  const ownTypes = requireFields(fields['types'] ?? {}, file, 'types')
  for (const [role, type] of Object.entries(ownTypes)) {
    if (!(MATRIX_ROLES as readonly string[]).includes(role)) {
      throw recipeError(`${file}: "types" has no "${role}"; expected ${MATRIX_ROLES.join(', ')}.`)
    }
    types[role as MatrixRole] = requireType(type, `${file}: "types.${role}"`)
  }
  const tensors = Object.entries(requireFields(fields['tensors'] ?? {}, file, 'tensors')).map(
    ([pattern, type]) => ({
      pattern,
      type: requireType(type, `${file}: "tensors" → "${pattern}"`),
    }),
  )
  const search = fields['search'] ?? base.search
  if (typeof search !== 'boolean') throw recipeError(`${file}: "search" should be true or false.`)
  const name = fields['name'] ?? file
  if (typeof name !== 'string') throw recipeError(`${file}: "name" should be a text.`)
  const kept = base.tensors.filter(({ refines }) => refines !== undefined && !(refines in ownTypes))
  return { name, types, tensors: [...kept, ...tensors], search }
}

/** @throws EngineError `option/recipe` when there is none of this name. */
export function findRecipe(name: unknown, where = 'The recipe'): Recipe {
  const recipe = typeof name === 'string' && Object.hasOwn(RECIPES, name) ? RECIPES[name] : undefined
  if (recipe) return recipe
  throw recipeError(
    `${where}: expected one of ${Object.keys(RECIPES).join(', ')}, found ${JSON.stringify(name) ?? 'nothing'}.`,
  )
}

/** The type that a recipe wants for a matrix. */
export function wantedType(recipe: Recipe, name: string, role: MatrixRole): RecipeType {
  return namedType(recipe, name) ?? recipe.types[role]
}

/** The type that the recipe's list of tensors names for this one. */
export function namedType(recipe: Recipe, name: string): RecipeType | undefined {
  return recipe.tensors.findLast(({ pattern }) => matches(pattern, name))?.type
}

/** Without a regular expression, whose time could grow beyond measure with the stars of a pattern. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return pattern === name
  if (!name.startsWith(first)) return false
  const last = rest.pop() ?? ''
  let from = first.length
  for (const part of rest) {
    const at = name.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return name.length - last.length >= from && name.endsWith(last)
}

function requireFields(value: unknown, file: string, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>
  }
  throw recipeError(`${file}${field && `: "${field}"`}: expected a JSON object.`)
}

function requireType(value: unknown, where: string): RecipeType {
  if ((RECIPE_TYPES as readonly unknown[]).includes(value)) return value as RecipeType
  throw recipeError(
    `${where}: the type ${JSON.stringify(value) ?? 'nothing'} cannot be written and run; expected one of ${RECIPE_TYPES.join(', ')}.`,
  )
}

function recipeError(message: string): EngineError {
  return new EngineError('option/recipe', {
    message,
    hint: 'docs/quantisation.md describes recipes and their files.',
  })
}
