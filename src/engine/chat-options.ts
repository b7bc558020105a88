/** The check of a conversation's options at the door. */
import { EngineError } from '../shared/errors.ts'
import { checkTurn } from './chat-turn.ts'
import { checkOptions, choiceRule, FLAG_RULE, type OptionRules, TEXT_RULE } from './check-options.ts'
import type { ChatOptions, WhenFull } from './types.ts'

const CHAT_RULES = {
  system: TEXT_RULE,
  messages: { accepts: Array.isArray, says: 'a list of turns' },
  template: FLAG_RULE,
  whenFull: choiceRule(['drop-oldest', 'summarise', 'stop']),
} satisfies OptionRules

/** Returns what happens when the context is full. */
export function checkChatOptions(options: ChatOptions): WhenFull {
  checkOptions(options, CHAT_RULES, 'for a conversation')
  const { messages = [], template = true, whenFull = template ? 'drop-oldest' : 'stop' } = options
  for (const turn of messages) checkTurn(turn)
  if (template || whenFull === 'stop') return whenFull
  throw new EngineError('option/invalid', {
    message: `Without a template there are no turns that could be left out; "whenFull" must be stop, found ${whenFull}.`,
  })
}
