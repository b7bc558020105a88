/** The body of a chat completion. */
import type { AnswerRequest, RequestTurn } from './answer-request.ts'
import { type PartNames, parseContent, parseText } from './content-parts.ts'
import { invalidValue, RequestFields, unsupportedField } from './request-fields.ts'
import { parseMaxTokens, parseSampling, SAMPLING_FIELDS } from './sampling-fields.ts'
import { refuseUnsupported } from './unsupported-fields.ts'

const TAKEN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
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
  return {
    model: fields.text('model'),
    ...splitTurns(turns, 'messages'),
    generation: {
      ...parseSampling(fields),
      ...parseMaxTokens(fields, ['max_completion_tokens', 'max_tokens']),
    },
    isPlain: false,
    isStream: fields.flag('stream'),
    includesUsage: fields.object('stream_options')?.flag('include_usage') ?? false,
  }
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
