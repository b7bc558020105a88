/** Recipes as the command line names them: a name, or a JSON file. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { findRecipe, parseRecipe, type Recipe } from '../convert/recipe.ts'
import { EngineError } from '../shared/errors.ts'
import { findFile } from './pictures.ts'

export async function loadRecipe(name: string): Promise<Recipe> {
  if (!name.endsWith('.json')) return findRecipe(name)
  await findFile(name)
  const text = await readFile(name, 'utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new EngineError('option/recipe', {
      message: `${name} is not valid JSON: ${(cause as Error).message}`,
      hint: 'docs/quantisation.md describes recipes and their files.',
    })
  }
  const recipe = parseRecipe(value, name)
  return recipe.name === name ? { ...recipe, name: basename(name, '.json') } : recipe
}
