/** The check of every object of options at the door: known names, values of the right kind and range. */
import { EngineError } from '../shared/errors.ts'

export interface OptionRule {
  readonly accepts: (value: unknown) => boolean
  /** Completes "must be …". */
  readonly says: string
}

export type OptionRules = Readonly<Record<string, OptionRule>>

/**
 * Throws `option/unknown` for a name that no rule has and `option/invalid` for a value that its rule refuses. What is
 * undefined counts as left out.
 * @param subject Completes "There is no option "x" …".
 */
export function checkOptions(options: unknown, rules: OptionRules, subject: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new EngineError('option/invalid', {
      message: `The options ${subject} must be an object; found ${show(options)}.`,
      hint: `Options are ${Object.keys(rules).join(', ')}.`,
    })
  }
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (!rule) {
      throw new EngineError('option/unknown', {
        message: `There is no option "${name}" ${subject}.`,
        hint: `Options are ${Object.keys(rules).join(', ')}.`,
      })
    }
    if (value === undefined || rule.accepts(value)) continue
    throw new EngineError('option/invalid', {
      message: `The option "${name}" must be ${rule.says}; found ${show(value)}.`,
    })
  }
}

export function numberRule(least: number, most: number, says: string): OptionRule {
  return { accepts: (value) => typeof value === 'number' && value >= least && value <= most, says }
}

export function wholeNumberRule(least: number, most: number, says: string): OptionRule {
  const { accepts } = numberRule(least, most, says)
  return { accepts: (value) => accepts(value) && Number.isInteger(value), says }
}

export function choiceRule(choices: readonly string[]): OptionRule {
  return {
    accepts: (value) => typeof value === 'string' && choices.includes(value),
    says: `one of ${choices.join(', ')}`,
  }
}

export const TEXT_RULE: OptionRule = { accepts: (value) => typeof value === 'string', says: 'a text' }

export const FLAG_RULE: OptionRule = {
  accepts: (value) => typeof value === 'boolean',
  says: 'true or false',
}

export const FUNCTION_RULE: OptionRule = {
  accepts: (value) => typeof value === 'function',
  says: 'a function',
}

export const SIGNAL_RULE: OptionRule = {
  // Signals of other realms are no instances of this one's class.
  accepts: (value) => typeof value === 'object' && value !== null && 'aborted' in value,
  says: 'an AbortSignal',
}

/** Read where it is used, by whoever knows what it may be. */
export const ANY_RULE: OptionRule = { accepts: () => true, says: 'anything' }

/** Longest value shown in a message. */
const MAX_SHOWN = 80

function show(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'bigint') return `a ${typeof value}`
  let text: string
  try {
    text = Number.isNaN(value) ? 'NaN' : (JSON.stringify(value) ?? String(value))
  } catch {
    text = 'an object' // one that refers to itself
  }
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text
}
