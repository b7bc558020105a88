/** Turns of a conversation with their pictures. */
import { EngineError } from '../shared/errors.ts'
import type { ChatMessage } from '../text/chat-template/chat-message.ts'
import { chatMessageOf, textTurn, userTurn } from './chat-turn.ts'
import type { Picture, PictureLook } from './picture.ts'
import type {
  ChatTurn,
  ConversationTurn,
  Detail,
  GenerationOptions,
  ImageInput,
  UserMessage,
} from './types.ts'

export interface Turn {
  readonly message: ChatMessage
  /** One for each image of the message, in order. */
  readonly pictures: readonly TurnPicture[]
  /** Of a system prompt that ends in a summary: its text without that. */
  readonly unsummarised?: string
}

/** A picture is encoded with the first message that is sent after it was given. */
export type TurnPicture = Picture | GivenPicture

export interface GivenPicture extends PictureLook {
  readonly input: ImageInput
}

/** A turn whose pictures are all encoded. */
export interface EncodedTurn extends Turn {
  readonly pictures: readonly Picture[]
}

export function isEncoded<Other extends object>(picture: Picture | Other): picture is Picture {
  return 'features' in picture
}

export function turnOf(turn: ChatTurn): Turn {
  const pictures = turn.role === 'user' ? givenPictures(turn, turn.detail) : []
  return { message: chatMessageOf(turn), pictures }
}

export function textOnlyTurn(role: ChatMessage['role'], text: string): EncodedTurn {
  return { message: textTurn(role, text), pictures: [] }
}

export function questionTurn(message: UserMessage, { detail, imageTokens }: GenerationOptions): Turn {
  return { message: userTurn(message), pictures: givenPictures(message, detail, imageTokens) }
}

/** The same question in other words: the pictures of `turn` stay where `message` has none of its own. */
export function editedTurn(turn: Turn, message: UserMessage, options: GenerationOptions): Turn {
  if (message.images !== undefined) return questionTurn(message, options)
  const { pictures } = turn
  return { message: userTurn({ ...message, imageCount: pictures.length }), pictures }
}

function givenPictures(
  { images = [] }: UserMessage,
  detail: Detail = 'auto',
  imageTokens?: number,
): GivenPicture[] {
  return images.map((input) => ({ input, detail, imageTokens }))
}

export function describeTurn({ message, pictures }: Turn): ConversationTurn {
  return { role: message.role, text: textOf(message), imageCount: pictures.length }
}

export function textOf({ content }: ChatMessage): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** Index of the message that the last answer was given to. Throws `option/invalid` when there is none. */
export function lastQuestion(turns: readonly Turn[]): number {
  const index = turns.findLastIndex(({ message }) => message.role === 'user')
  if (index >= 0) return index
  throw new EngineError('option/invalid', {
    message: 'There is no message to answer again: the conversation has none yet.',
    hint: 'Send one first.',
  })
}

/** Throws `option/invalid` when `index` is not that of a user's turn. */
export function requireQuestion(turns: readonly Turn[], index: number): Turn {
  const turn = turns[index]
  if (turn?.message.role === 'user') return turn
  const places = turns.flatMap(({ message }, at) => (message.role === 'user' ? [at] : []))
  throw new EngineError('option/invalid', {
    message: `Only a message of the user can be edited; expected one of the turns ${places.join(', ') || '(none yet)'}, found ${turn ? `turn ${index} of the ${turn.message.role}` : index}.`,
    hint: 'chat.turns lists the turns.',
  })
}
