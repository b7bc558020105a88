/** The body of a chat completion. */
import type { GenerationOptions } from '../engine/types.ts'
import type { AnswerRequest, RequestTurn } from './answer-request.ts'
import { type PartNames, parseContent, parseText } from './content-parts.ts'
import { invalidValue, RequestFields, unsupportedField } from './request-fields.ts'
import { parseResponseFormat } from './response-format.ts'
import { MAX_TOP_LOGPROBS, parseMaxTokens, parseSampling, SAMPLING_FIELDS } from './sampling-fields.ts'
import { refuseUnsupported } from './unsupported-fields.ts'

const TAKEN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'response_format',
  'logprobs',
  'top_logprobs',
  ...SAMPLING_FIELDS,
]
const PARTS: PartNames = { text: ['text'], picture: 'image_url' }
const ROLES = ['system', 'developer', 'user', 'assistant'] as const

export function parseChatRequest(body: unknown): AnswerRequest {
  const fields = new RequestFields(body)
  refuseUnsupported(fields, TAKEN)
  const turns = (fields.list('messages') ?? []).map((message, index) =>
    parseMessage(new RequestFields(message, `messages[${index}]`)),
  )
  const sampling = parseSampling(fields)
  const format = parseResponseFormat(fields.object('response_format'), sampling.stop, 'json_schema')
  return {
    model: fields.text('model'),
    ...splitTurns(turns, 'messages'),
    generation: {
      ...sampling,
      ...parseMaxTokens(fields, ['max_completion_tokens', 'max_tokens']),
      ...parseLogprobs(fields),
      ...format.generation,
    },
    format,
    isPlain: false,
    isStream: fields.flag('stream'),
    includesUsage: fields.object('stream_options')?.flag('include_usage') ?? false,
  }
}

/** `top_logprobs` needs `logprobs`, which alone asks for the tokens of the answer only. */
function parseLogprobs(fields: RequestFields): Pick<GenerationOptions, 'logprobs'> {
  const top = fields.number('top_logprobs', { least: 0, most: MAX_TOP_LOGPROBS, isWhole: true })
  if (fields.flag('logprobs')) return { logprobs: top ?? 0 }
  if (top === undefined || top === 0) return {}
  throw invalidValue(fields.pathOf('logprobs'), 'true, since top_logprobs is given', fields.raw('logprobs'))
}

/** The last turn is the question. */
export function splitTurns(
  turns: readonly RequestTurn[],
  field: string,
): Pick<AnswerRequest, 'history' | 'question'> {
  const question = turns.at(-1)
  if (question?.role === 'user') return { history: turns.slice(0, -1), question }
  throw invalidValue(field, 'a message of the user at the end', question?.role)
}

function parseMessage(message: RequestFields): RequestTurn {
  for (const name of ['tool_calls', 'function_call', 'audio']) {
    const value = message.raw(name)
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue
    throw unsupportedField(message.pathOf(name), 'is not offered.')
  }
  if (message.raw('role') === 'tool') throw unsupportedField(message.pathOf('role'), 'tools are not offered.')
  const role = message.choice('role', ROLES)
  const field = message.pathOf('content')
  const content = message.raw('content')
  if (role === 'user') return parseContent(content, field, PARTS)
  if (role === undefined) throw invalidValue(message.pathOf('role'), `one of ${ROLES.join(', ')}`, role)
  // An answer may have been empty.
  const text = role === 'assistant' && content === undefined ? '' : parseText(content, field, PARTS)
  return { role: role === 'assistant' ? 'assistant' : 'system', text }
}
