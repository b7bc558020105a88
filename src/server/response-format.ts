/** Answers of a given structure, as routes ask for them. */
import type { GenerationOptions, JsonSchema } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import { invalidValue, type RequestFields, unsupportedField } from './request-fields.ts'

const TYPES = ['text', 'json_object', 'json_schema'] as const

export interface ResponseFormat {
  /** As the routes describe it in their answers. */
  readonly described: { readonly type: (typeof TYPES)[number] }
  readonly generation: Pick<GenerationOptions, 'responseSchema'>
  /** Where the schema stands in the request, for messages. */
  readonly schemaField: string | undefined
}

const PLAIN: ResponseFormat = { described: { type: 'text' }, generation: {}, schemaField: undefined }
/** What OpenAI takes as the name of a schema. */
const NAME = /^[\w-]{1,64}$/

/**
 * @param format The field that says so; undefined where there is none.
 * @param stop The request's stop texts, which could cut JSON anywhere.
 * @param wrapper Field around the schema; none where it stands beside the type.
 */
export function parseResponseFormat(
  format: RequestFields | undefined,
  stop: GenerationOptions['stop'],
  wrapper?: string,
): ResponseFormat {
  if (!format) return PLAIN
  const type = format.choice('type', TYPES)
  if (type === undefined) throw invalidValue(format.pathOf('type'), `one of ${TYPES.join(', ')}`, type)
  if (type === 'text') return PLAIN
  if (stop && stop.length > 0) {
    throw unsupportedField('stop', `could cut an answer of type ${type}.`, 'Leave out one of them.')
  }
  const holder = type === 'json_schema' && wrapper !== undefined ? format.object(wrapper) : format
  if (!holder) throw invalidValue(format.pathOf(wrapper ?? ''), 'an object with a schema', undefined)
  const name = nameOf(holder)
  holder.flag('strict') // answers always satisfy the schema
  const schemaField = holder.pathOf('schema')
  const schema = holder.raw('schema') ?? (type === 'json_object' ? { type: 'object' } : undefined)
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || Array.isArray(schema))) {
    throw invalidValue(schemaField, 'a JSON Schema', schema)
  }
  return {
    described: { type, ...(type === 'json_schema' && { name, schema, strict: true }) },
    generation: { responseSchema: schema as JsonSchema },
    schemaField,
  }
}

function nameOf(holder: RequestFields): string {
  const name = holder.text('name') ?? 'answer'
  if (NAME.test(name)) return name
  throw invalidValue(holder.pathOf('name'), 'up to 64 letters, digits, dashes and underscores', name)
}

/** Puts the schema's place in the request into what is wrong with it. */
export function locateSchemaError(error: unknown, schemaField: string | undefined): unknown {
  if (!EngineError.isInstance(error) || error.code !== 'option/schema' || schemaField === undefined)
    return error
  return new EngineError('option/schema', {
    message: `${schemaField}: ${error.message}`,
    field: schemaField,
    ...(error.hint !== undefined && { hint: error.hint }),
  })
}
