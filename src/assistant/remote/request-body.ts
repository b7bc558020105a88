/** Options of an answer as fields of a chat completions request. */
import type { GenerationOptions } from '../../engine/types.ts'
import { EngineError } from '../../shared/errors.ts'

/** Fields that are not OpenAI's own are those of llama.cpp and vLLM; endpoints that do not know them say so. */
const FIELDS: Readonly<Partial<Record<keyof GenerationOptions, string>>> = {
  maxTokens: 'max_tokens',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  minP: 'min_p',
  repetitionPenalty: 'repetition_penalty',
  seed: 'seed',
  stop: 'stop',
}

/** Not part of the request. */
const OWN: ReadonlySet<string> = new Set(['signal', 'detail'])

export type RequestBody = Readonly<Record<string, unknown>>

/** Throws `remote/unsupported-option` for options that only models on the device have. */
export function generationFields(options: GenerationOptions): RequestBody {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || OWN.has(name)) continue
    if (name === 'responseSchema') {
      fields['response_format'] = {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: value, strict: true },
      }
      continue
    }
    const field = FIELDS[name as keyof GenerationOptions]
    if (field === undefined) {
      throw new EngineError('remote/unsupported-option', {
        message: `The option "${name}" works only for models on this device.`,
        hint: `Leave it out, or ask a local model. Remote ones take ${Object.keys(FIELDS).join(', ')}.`,
        field: name,
      })
    }
    fields[field] = value
  }
  return fields
}

/** OpenAI's newer models refuse the older of the two names that the limit has. */
export function withNewerLimit({ max_tokens: limit, ...body }: RequestBody): RequestBody {
  return { ...body, max_completion_tokens: limit }
}

export function asksForNewerLimit(body: RequestBody, status: number, text: string): boolean {
  return status === 400 && body['max_tokens'] !== undefined && text.includes('max_completion_tokens')
}
