/** Turns of a conversation as callers give them: checked, and as chat templates take them. */
import { EngineError } from '../shared/errors.ts'
import type { ChatMessage, ContentPart } from '../text/chat-template/chat-message.ts'
import { checkOptions, choiceRule, type OptionRules, TEXT_RULE } from './check-options.ts'
import { DETAIL_RULE } from './generation-options.ts'
import type { ChatTurn, UserMessage } from './types.ts'

export function chatMessageOf(turn: ChatTurn): ChatMessage {
  return turn.role === 'user' ? userTurn(turn) : textTurn(turn.role, turn.text)
}

export function textTurn(role: ChatMessage['role'], text: string): ChatMessage {
  return { role, content: [{ type: 'text', text }] }
}

interface PlacedText extends UserMessage {
  /** Default: the number of `images`. */
  readonly imageCount?: number
}

/** Pictures that share a place stay in their order; text between them is cut at their places. */
export function userTurn({
  text,
  images = [],
  imageOffsets,
  imageCount = images.length,
}: PlacedText): ChatMessage {
  const content: ContentPart[] = []
  let written = 0
  const writeUntil = (end: number): void => {
    if (end > written) content.push({ type: 'text', text: text.slice(written, end) })
    written = end
  }
  for (let index = 0; index < imageCount; index++) {
    writeUntil(imageOffsets?.[index] ?? 0)
    content.push({ type: 'image' })
  }
  if (written < text.length || written === 0) content.push({ type: 'text', text: text.slice(written) })
  return { role: 'user', content }
}

const MESSAGE_RULES = {
  text: TEXT_RULE,
  images: { accepts: Array.isArray, says: 'a list of pictures' },
  imageOffsets: { accepts: Array.isArray, says: 'a list of places in the text' },
} satisfies OptionRules

const ROLE_RULE = choiceRule(['system', 'user', 'assistant'])
const USER_TURN_RULES = { ...MESSAGE_RULES, role: ROLE_RULE, detail: DETAIL_RULE } satisfies OptionRules
const TEXT_TURN_RULES = { role: ROLE_RULE, text: TEXT_RULE } satisfies OptionRules

export function checkTurn(turn: ChatTurn): void {
  const rules = turn?.role === 'user' ? USER_TURN_RULES : TEXT_TURN_RULES
  checkOptions(turn, rules, 'of a turn')
  if (turn.role === undefined) {
    throw new EngineError('option/invalid', {
      message: 'A turn must have a role: system, user or assistant; found none.',
      hint: "Write { role: 'user', text: '…' }.",
    })
  }
  checkText(turn.text, 'A turn')
  if (turn.role === 'user') checkImageOffsets(turn, turn.images?.length ?? 0)
}

/**
 * Throws `option/…` for what is no message.
 * @param imageCount How many pictures it has without bringing any. Default 0.
 */
export function checkMessage(message: UserMessage, imageCount = 0): void {
  checkOptions(message, MESSAGE_RULES, 'of a message')
  checkText(message.text, 'A message')
  checkImageOffsets(message, message.images?.length ?? imageCount)
}

function checkText(text: string | undefined, subject: string): void {
  if (text !== undefined) return
  throw new EngineError('option/invalid', {
    message: `${subject} must have a text; found none.`,
    hint: 'Call send({ text: "…", images: [picture] }).',
  })
}

function checkImageOffsets({ text, imageOffsets }: UserMessage, imageCount: number): void {
  if (imageOffsets === undefined) return
  const isOrdered = imageOffsets.every(
    (offset, index) =>
      Number.isInteger(offset) && offset >= (imageOffsets[index - 1] ?? 0) && offset <= text.length,
  )
  if (isOrdered && imageOffsets.length === imageCount) return
  throw new EngineError('option/invalid', {
    message: `The option "imageOffsets" must name ${imageCount} places from 0 to ${text.length}, ascending, one for each picture; found [${imageOffsets.join(', ')}].`,
  })
}
