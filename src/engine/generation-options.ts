/** Checks the options of an answer at the door and fills in the model's defaults. */

import type { GenerateOptions } from '../generation/generate.ts'
import { EngineError } from '../shared/errors.ts'
import type { GenerationOptions } from './types.ts'

const DEFAULT_MAX_TOKENS = 512

interface NumberRule {
  readonly least: number
  readonly most: number
  readonly whole?: boolean
  readonly says: string
}

const NUMBERS = {
  maxTokens: { least: 1, most: 2 ** 31, whole: true, says: 'a whole number of at least 1' },
  temperature: { least: 0, most: 100, says: 'a number from 0 to 100' },
  topK: { least: 0, most: 2 ** 31, whole: true, says: 'a whole number of at least 0' },
  topP: { least: Number.MIN_VALUE, most: 1, says: 'a number above 0, at most 1' },
  minP: { least: 0, most: 1, says: 'a number from 0 to 1' },
  repetitionPenalty: { least: Number.MIN_VALUE, most: 100, says: 'a number above 0, at most 100' },
  seed: { least: 0, most: 2 ** 32 - 1, whole: true, says: 'a whole number from 0 to 4294967295' },
} as const satisfies Record<string, NumberRule>

const OTHERS = ['stop', 'ignoreEos', 'detail', 'signal']
const DETAILS = ['low', 'high', 'auto']

/** Throws `option/…` for a value out of range, and for a name that does not exist. */
export function resolveGenerationOptions(
  options: GenerationOptions,
  defaults: GenerationOptions,
): GenerateOptions {
  checkOptions(options)
  const merged = { ...defaults, ...dropUndefined(options) }
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
    signal: merged.signal,
  }
}

function checkOptions(options: GenerationOptions): void {
  const known = [...Object.keys(NUMBERS), ...OTHERS]
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) {
      throw new EngineError('option/unknown', {
        message: `There is no option "${name}" for an answer.`,
        hint: `Options are ${known.join(', ')}.`,
      })
    }
    if (value !== undefined && Object.hasOwn(NUMBERS, name)) checkNumber(name as keyof typeof NUMBERS, value)
  }
  const { detail, stop } = options
  if (detail !== undefined && !DETAILS.includes(detail))
    throw badOption('detail', `one of ${DETAILS.join(', ')}`, detail)
  if (
    stop !== undefined &&
    !(Array.isArray(stop) && stop.every((one) => typeof one === 'string' && one !== ''))
  ) {
    throw badOption('stop', 'a list of texts that are not empty', stop)
  }
}

function checkNumber(name: keyof typeof NUMBERS, value: unknown): void {
  const rule: NumberRule = NUMBERS[name]
  const fits =
    typeof value === 'number' &&
    value >= rule.least &&
    value <= rule.most &&
    (!rule.whole || Number.isInteger(value))
  if (!fits) throw badOption(name, rule.says, value)
}

function badOption(name: string, expected: string, found: unknown): EngineError {
  return new EngineError('option/invalid', {
    message: `The option "${name}" must be ${expected}; found ${JSON.stringify(found) ?? String(found)}.`,
  })
}

function dropUndefined(options: GenerationOptions): GenerationOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
