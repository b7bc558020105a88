import {
  checkOptions,
  FLAG_RULE,
  numberRule,
  type OptionRules,
  SIGNAL_RULE,
  TEXT_RULE,
} from '../../engine/check-options.ts'
import type { TranscribeOptions } from '../types.ts'

const RULES = {
  language: TEXT_RULE,
  timestamps: FLAG_RULE,
  context: TEXT_RULE,
  speechSeconds: numberRule(0, Number.MAX_VALUE, 'a number of seconds from 0 on'),
  signal: SIGNAL_RULE,
} satisfies OptionRules

/** @throws EngineError `option/unknown`, `option/invalid`. */
export function checkTranscribeOptions(options: TranscribeOptions): void {
  checkOptions(options, RULES, 'for a transcript')
}
