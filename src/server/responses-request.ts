/** The body of a stateless response: all turns come with each request. */
import type { GenerationOptions } from '../engine/types.ts'
import type { AnswerRequest, RequestTurn } from './answer-request.ts'
import { splitTurns } from './chat-request.ts'
import { type PartNames, parseContent, parseText } from './content-parts.ts'
import { invalidValue, RequestFields, unsupportedField } from './request-fields.ts'
import { parseResponseFormat, type ResponseFormat } from './response-format.ts'
import { MAX_TOP_LOGPROBS, parseMaxTokens, parseSampling, SAMPLING_FIELDS } from './sampling-fields.ts'
import { refuseUnsupported } from './unsupported-fields.ts'

const TAKEN = [
  'model',
  'input',
  'instructions',
  'stream',
  'max_output_tokens',
  'text',
  'include',
  'top_logprobs',
  ...SAMPLING_FIELDS,
]
/** The only addition to an answer that there is. */
const LOGPROBS = 'message.output_text.logprobs'
const PARTS: PartNames = { text: ['input_text', 'output_text', 'text'], picture: 'input_image' }
const ROLES = ['system', 'developer', 'user', 'assistant'] as const

export function parseResponsesRequest(body: unknown): AnswerRequest {
  const fields = new RequestFields(body)
  refuseUnsupported(fields, TAKEN)
  const sampling = parseSampling(fields)
  const format = parseFormat(fields.object('text'), sampling)
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
    generation: {
      ...sampling,
      ...parseMaxTokens(fields, ['max_output_tokens']),
      ...parseLogprobs(fields),
      ...format.generation,
    },
    format,
    isPlain: false,
    isStream: fields.flag('stream'),
    includesUsage: true,
  }
}

function parseFormat(text: RequestFields | undefined, { stop }: GenerationOptions): ResponseFormat {
  for (const name of text?.names ?? []) {
    if (name === 'format' || (name === 'verbosity' && text?.raw(name) === 'medium')) continue
    throw unsupportedField(text?.pathOf(name) ?? name, 'is not offered.')
  }
  return parseResponseFormat(text?.object('format'), stop)
}

function parseLogprobs(fields: RequestFields): Pick<GenerationOptions, 'logprobs'> {
  const top = fields.number('top_logprobs', { least: 0, most: MAX_TOP_LOGPROBS, isWhole: true })
  const included = fields.list('include') ?? []
  const other = included.find((one) => one !== LOGPROBS)
  if (other !== undefined) throw unsupportedField('include', `only ${LOGPROBS} is offered.`)
  return included.length > 0 || top !== undefined ? { logprobs: top ?? 0 } : {}
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
