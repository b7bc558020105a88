/** The JSON Schema that answers are to satisfy, from a file. */
import { readFile } from 'node:fs/promises'
import type { GenerationOptions, JsonSchema } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import { findFile } from './pictures.ts'

/** Read, and checked before a model is loaded. Throws `option/schema`. */
export async function loadSchema(
  path: string | undefined,
): Promise<Pick<GenerationOptions, 'responseSchema'>> {
  if (path === undefined) return {}
  await findFile(path)
  const text = await readFile(path, 'utf8')
  let responseSchema: JsonSchema
  try {
    responseSchema = JSON.parse(text)
  } catch (cause) {
    throw new EngineError('option/schema', {
      message: `${path} is not valid JSON: ${(cause as Error).message}`,
      hint: 'docs/structured-output.md describes schemas.',
      cause,
    })
  }
  const { compileSchema } = await import('../constraint/schema-constraint.ts')
  compileSchema(responseSchema)
  return { responseSchema }
}
