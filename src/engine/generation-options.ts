/** Checks the options of an answer at the door and fills in the model's defaults. */
import type { GenerateOptions } from '../generation/generate.ts'
import { EngineError } from '../shared/errors.ts'
import {
  ANY_RULE,
  checkOptions,
  choiceRule,
  FLAG_RULE,
  numberRule,
  type OptionRules,
  SIGNAL_RULE,
  wholeNumberRule,
} from './check-options.ts'
import type { GenerationOptions } from './types.ts'

const DEFAULT_MAX_TOKENS = 512
const MAX_COUNT = 2 ** 31
const MAX_SEED = 2 ** 32 - 1
/** As OpenAI's interface; each is looked for at every token. */
const MAX_LOGPROBS = 20
/** Every token of every choice costs a step of the model. */
const MAX_CHOICES = 1000
const MAX_CHOICE_LENGTH = 1000

export const DETAIL_RULE = choiceRule(['low', 'high', 'auto'])

export const IMAGE_TOKENS_RULE = wholeNumberRule(1, MAX_COUNT, 'a whole number of at least 1')

export const GENERATION_RULES = {
  maxTokens: wholeNumberRule(1, MAX_COUNT, 'a whole number of at least 1'),
  temperature: numberRule(0, 100, 'a number from 0 to 100'),
  topK: wholeNumberRule(0, MAX_COUNT, 'a whole number of at least 0'),
  topP: numberRule(Number.MIN_VALUE, 1, 'a number above 0, at most 1'),
  minP: numberRule(0, 1, 'a number from 0 to 1'),
  repetitionPenalty: numberRule(Number.MIN_VALUE, 100, 'a number above 0, at most 100'),
  seed: wholeNumberRule(0, MAX_SEED, `a whole number from 0 to ${MAX_SEED}`),
  stop: {
    accepts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
    says: 'a list of texts that are not empty',
  },
  ignoreEos: FLAG_RULE,
  speculation: choiceRule(['auto', 'off']),
  logprobs: wholeNumberRule(0, MAX_LOGPROBS, `a whole number from 0 to ${MAX_LOGPROBS}`),
  responseSchema: ANY_RULE, // read by its compiler
  choices: {
    accepts: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= MAX_CHOICES &&
      value.every((one) => typeof one === 'string' && one !== '' && one.length <= MAX_CHOICE_LENGTH) &&
      new Set(value).size === value.length,
    says: `a list of 1 to ${MAX_CHOICES} different texts of 1 to ${MAX_CHOICE_LENGTH} characters`,
  },
  detail: DETAIL_RULE,
  imageTokens: IMAGE_TOKENS_RULE,
  signal: SIGNAL_RULE,
} satisfies OptionRules

/** Throws `option/…` for a value out of range, and for a name that does not exist. */
export function resolveGenerationOptions(
  options: GenerationOptions,
  defaults: GenerationOptions,
): GenerateOptions {
  checkOptions(options, GENERATION_RULES, 'for an answer')
  checkForm(options)
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const merged: GenerationOptions = { ...defaults, ...given }
  return {
    maxTokens: merged.maxTokens ?? DEFAULT_MAX_TOKENS,
    temperature: merged.temperature ?? 0,
    topK: merged.topK ?? 0,
    topP: merged.topP ?? 1,
    minP: merged.minP ?? 0,
    repetitionPenalty: merged.repetitionPenalty ?? 1,
    seed: merged.seed ?? Math.floor(Math.random() * 2 ** 32),
    stop: merged.stop ?? [],
    ignoreEos: merged.ignoreEos ?? false,
    speculation: merged.speculation ?? 'auto',
    logprobs: merged.logprobs,
    signal: merged.signal,
  }
}

/** What would cut an answer, or change what its form says, does not go with one. */
function checkForm(options: GenerationOptions): void {
  const { stop = [], ignoreEos = false, logprobs, responseSchema, choices } = options
  const form = responseSchema !== undefined ? 'responseSchema' : choices ? 'choices' : undefined
  const others = {
    stop: stop.length > 0,
    ignoreEos,
    logprobs: choices !== undefined && logprobs !== undefined,
    choices: responseSchema !== undefined && choices !== undefined,
  }
  const other = Object.entries(others).find(([, isGiven]) => isGiven)?.[0]
  if (!form || !other) return
  throw new EngineError('option/invalid', {
    message: `The options "${form}" and "${other}" do not go together.`,
    hint: `Leave out one of them.`,
    field: other,
  })
}
