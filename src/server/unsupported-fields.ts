/** Fields that the API has and this server does not act on: taken where they change nothing, else refused by name. */
import { type RequestFields, unsupportedField } from './request-fields.ts'

/** Bookkeeping for services; it cannot change an answer. */
const WITHOUT_EFFECT: readonly string[] = [
  'user',
  'metadata',
  'service_tier',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
]

const isZero = (value: unknown): boolean => value === 0
const isOne = (value: unknown): boolean => value === 1
const isFalse = (value: unknown): boolean => value === false
const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && Object.keys(value ?? {}).length === 0
const isTextFormat = (value: unknown): boolean => (value as { type?: unknown }).type === 'text'

interface Unsupported {
  /** Values that ask for nothing. */
  readonly isNeutral: (value: unknown) => boolean
  readonly why: string
}

const TOOLS = 'this model was not trained to call tools.'
const STRUCTURE = 'answers in a given structure are offered by chat completions and responses.'
const PENALTY = 'is not offered; repetition_penalty is.'

const REFUSED: Readonly<Record<string, Unsupported>> = {
  n: { isNeutral: isOne, why: 'one answer a request is offered.' },
  best_of: { isNeutral: isOne, why: 'one answer a request is offered.' },
  echo: { isNeutral: isFalse, why: 'the prompt is not repeated.' },
  suffix: { isNeutral: (value) => value === '', why: 'texts are continued at their end only.' },
  top_logprobs: { isNeutral: isZero, why: 'logprobs says how many there are.' },
  logit_bias: { isNeutral: isEmpty, why: 'is not offered.' },
  frequency_penalty: { isNeutral: isZero, why: PENALTY },
  presence_penalty: { isNeutral: isZero, why: PENALTY },
  response_format: { isNeutral: isTextFormat, why: STRUCTURE },
  tools: { isNeutral: isEmpty, why: TOOLS },
  functions: { isNeutral: isEmpty, why: TOOLS },
  tool_choice: { isNeutral: (value) => value === 'none' || value === 'auto', why: TOOLS },
  modalities: {
    isNeutral: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
    why: 'answers are text.',
  },
  store: { isNeutral: isFalse, why: 'nothing is stored.' },
  truncation: { isNeutral: (value) => value === 'disabled', why: 'conversations are not cut.' },
  background: { isNeutral: isFalse, why: 'answers are made while the client waits.' },
  include: { isNeutral: isEmpty, why: 'nothing more is offered.' },
  previous_response_id: {
    isNeutral: () => false,
    why: 'nothing is stored; send all turns with each request.',
  },
}

/** Throws `server/unsupported-parameter` for the first field that is not `taken` and asks for something. */
export function refuseUnsupported(fields: RequestFields, taken: readonly string[]): void {
  for (const name of fields.names) {
    if (taken.includes(name) || WITHOUT_EFFECT.includes(name)) continue
    const unsupported = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined
    if (unsupported?.isNeutral(fields.raw(name))) continue
    throw unsupportedField(
      fields.pathOf(name),
      unsupported?.why ?? 'there is no such parameter here.',
      `Leave it out; parameters are ${taken.join(', ')}.`,
    )
  }
}
