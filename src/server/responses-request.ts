/** The body of a stateless response: all turns come with each request. */
import type { AnswerRequest, RequestTurn } from './answer-request.ts'
import { splitTurns } from './chat-request.ts'
import { type PartNames, parseContent, parseText } from './content-parts.ts'
import { invalidValue, RequestFields, unsupportedField } from './request-fields.ts'
import { parseMaxTokens, parseSampling, SAMPLING_FIELDS } from './sampling-fields.ts'
import { refuseUnsupported } from './unsupported-fields.ts'

const TAKEN = ['model', 'input', 'instructions', 'stream', 'max_output_tokens', 'text', ...SAMPLING_FIELDS]
const PARTS: PartNames = { text: ['input_text', 'output_text', 'text'], picture: 'input_image' }
const ROLES = ['system', 'developer', 'user', 'assistant'] as const

export function parseResponsesRequest(body: unknown): AnswerRequest {
  const fields = new RequestFields(body)
  refuseUnsupported(fields, TAKEN)
  const format = fields.object('text')?.object('format')
  if (format && format.raw('type') !== 'text') {
    throw unsupportedField('text.format', 'answers in a given structure are not offered yet.')
  }
  const instructions = fields.text('instructions')
  return {
    model: fields.text('model'),
    ...splitTurns(
      [
        ...(instructions === undefined ? [] : [{ role: 'system' as const, text: instructions }]),
        ...parseInput(fields),
      ],
      'input',
    ),
    generation: { ...parseSampling(fields), ...parseMaxTokens(fields, ['max_output_tokens']) },
    isPlain: false,
    isStream: fields.flag('stream'),
    includesUsage: true,
  }
}

function parseInput(fields: RequestFields): RequestTurn[] {
  const input = fields.raw('input')
  if (typeof input === 'string') return [parseContent(input, 'input', PARTS)]
  if (!Array.isArray(input)) throw invalidValue('input', 'a text or a list of messages', input)
  return input.map((item, index) => parseItem(new RequestFields(item, `input[${index}]`)))
}

function parseItem(item: RequestFields): RequestTurn {
  const type = item.text('type') ?? 'message'
  if (type !== 'message') throw unsupportedField(item.pathOf('type'), 'only items of type message are taken.')
  const role = item.choice('role', ROLES)
  if (role === undefined) throw invalidValue(item.pathOf('role'), `one of ${ROLES.join(', ')}`, role)
  const content = item.raw('content')
  const field = item.pathOf('content')
  if (role === 'user') return parseContent(content, field, PARTS)
  return { role: role === 'assistant' ? 'assistant' : 'system', text: parseText(content, field, PARTS) }
}
