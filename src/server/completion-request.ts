/** The body of a completion: a text to go on with. */
import type { AnswerRequest } from './answer-request.ts'
import { invalidValue, RequestFields } from './request-fields.ts'
import { parseResponseFormat } from './response-format.ts'
import { MAX_TOP_LOGPROBS, parseMaxTokens, parseSampling, SAMPLING_FIELDS } from './sampling-fields.ts'
import { refuseUnsupported } from './unsupported-fields.ts'

const TAKEN = ['model', 'prompt', 'stream', 'stream_options', 'max_tokens', 'logprobs', ...SAMPLING_FIELDS]
/** OpenAI's default for this route; clients that want more say so. */
const DEFAULT_MAX_TOKENS = 16

export function parseCompletionRequest(body: unknown): AnswerRequest {
  const fields = new RequestFields(body)
  refuseUnsupported(fields, TAKEN)
  const prompt = fields.raw('prompt')
  const [text] = Array.isArray(prompt) && prompt.length === 1 ? prompt : [prompt]
  if (typeof text !== 'string') throw invalidValue('prompt', 'a text', prompt)
  const logprobs = fields.number('logprobs', { least: 0, most: MAX_TOP_LOGPROBS, isWhole: true })
  return {
    model: fields.text('model'),
    history: [],
    question: { role: 'user', text, pictures: [], offsets: [], detail: 'auto' },
    isPlain: true,
    generation: {
      maxTokens: DEFAULT_MAX_TOKENS,
      ...parseSampling(fields),
      ...parseMaxTokens(fields, ['max_tokens']),
      ...(logprobs !== undefined && { logprobs }),
    },
    format: parseResponseFormat(undefined, undefined),
    isStream: fields.flag('stream'),
    includesUsage: fields.object('stream_options')?.flag('include_usage') ?? false,
  }
}
