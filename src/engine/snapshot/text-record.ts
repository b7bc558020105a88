/** The text of a conversation as a snapshot keeps it: JSON that every version can read, with or without its model. */

import type { ByteSource } from '../../shared/byte-source.ts'
import { readBytes } from '../../shared/byte-source.ts'
import type { Checksum } from '../../shared/checksum.ts'
import { EngineError } from '../../shared/errors.ts'
import type { ChatMessage, ContentPart } from '../../text/chat-template/chat-message.ts'
import { isJsonObject } from '../../text/json-fields.ts'
import type { ChatTurn } from '../types.ts'
import { createCutError, createDamageError, HEAD_BYTES, MAX_TEXT_BYTES, type SnapshotHead } from './head.ts'

/** What was said, recovered from a snapshot without its model. */
export interface SnapshotText {
  /** Name of the model that answered. */
  readonly model: string
  /**
   * The system prompt and the turns, ready for `model.chat({ messages })`. Pictures are not in the text: those that came
   * from paths or addresses are named by them, the others are left out.
   */
  readonly turns: readonly ChatTurn[]
  /** Pictures that are left out of `turns`. */
  readonly missingImages: number
}

/** A picture of a turn. */
export interface ImageRecord {
  /** Index into the text. */
  readonly at: number
  /** The path or address it came from, where it was given by one. */
  readonly source?: string
}

export interface TurnRecord {
  readonly role: ChatMessage['role']
  readonly text: string
  readonly images: readonly ImageRecord[]
}

export interface TextRecord {
  readonly model: string
  readonly turns: readonly TurnRecord[]
}

const ROLES: readonly unknown[] = ['system', 'user', 'assistant'] satisfies ChatMessage['role'][]

export function recordOf(
  { role, content }: ChatMessage,
  sources: readonly (string | undefined)[],
): TurnRecord {
  let text = ''
  const images: ImageRecord[] = []
  for (const part of content) {
    if (part.type === 'text') text += part.text
    else {
      const source = sources[images.length]
      images.push({ at: text.length, ...(source !== undefined && { source }) })
    }
  }
  return { role, text, images }
}

/** The inverse of `recordOf`. */
export function messageOf({ role, text, images }: TurnRecord): ChatMessage {
  const content: ContentPart[] = []
  let written = 0
  for (const { at } of images) {
    if (at > written) content.push({ type: 'text', text: text.slice(written, at) })
    written = at
    content.push({ type: 'image' })
  }
  if (written < text.length || written === 0) content.push({ type: 'text', text: text.slice(written) })
  return { role, content }
}

/** Reads and checks the text. Throws `snapshot/truncated` or `snapshot/damaged`. */
export async function loadText(
  source: ByteSource,
  { textByteLength, textChecksum }: SnapshotHead,
  checksum: Checksum,
): Promise<TextRecord> {
  if (textByteLength > MAX_TEXT_BYTES) {
    throw createDamageError(
      source,
      `its text has ${textByteLength} bytes, more than the ${MAX_TEXT_BYTES} that are possible`,
    )
  }
  const end = HEAD_BYTES + textByteLength
  if (end > source.byteLength) throw createCutError(source, end)
  const bytes = await readBytes(source, HEAD_BYTES, textByteLength)
  if (checksum(bytes) !== textChecksum)
    throw createDamageError(source, 'its text does not match its checksum')
  return parseText(source, bytes)
}

export function publicText({ model, turns }: TextRecord): SnapshotText {
  let missingImages = 0
  const publicTurns = turns.map(({ role, text, images }): ChatTurn => {
    if (role !== 'user') return { role, text }
    const named = images.flatMap(({ at, source }) => (source === undefined ? [] : [{ at, source }]))
    missingImages += images.length - named.length
    if (named.length === 0) return { role, text }
    return {
      role,
      text,
      images: named.map(({ source }) => source),
      imageOffsets: named.map(({ at }) => at),
    }
  })
  return { model, turns: publicTurns, missingImages }
}

/** A checksum says that nothing changed, not who wrote it: what is read is checked all the same. */
function parseText(source: ByteSource, bytes: Uint8Array): TextRecord {
  const record = parseJson(source, bytes, 'text')
  const { model, turns } = record
  if (typeof model !== 'string' || !Array.isArray(turns))
    throw createDamageError(source, 'its text has no turns')
  return { model, turns: turns.map((turn: unknown, index) => parseTurn(source, turn, index)) }
}

function parseTurn(source: ByteSource, turn: unknown, index: number): TurnRecord {
  const { role, text, images } = isJsonObject(turn) ? turn : {}
  const isTurn = ROLES.includes(role) && typeof text === 'string' && Array.isArray(images)
  if (!isTurn) throw createDamageError(source, `turn ${index} of its text is none`)
  let least = 0
  for (const image of images as unknown[]) {
    const { at, source: name } = isJsonObject(image) ? image : {}
    const isPlaced = Number.isInteger(at) && (at as number) >= least && (at as number) <= text.length
    if (!isPlaced || (name !== undefined && typeof name !== 'string')) {
      throw createDamageError(source, `a picture of turn ${index} has no place in its text`)
    }
    least = at as number
  }
  return { role: role as TurnRecord['role'], text, images: images as ImageRecord[] }
}

export function parseJson(
  source: ByteSource,
  bytes: Uint8Array,
  part: string,
): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new EngineError('snapshot/damaged', {
      message: `${source.name}: the snapshot is damaged: its ${part} is no JSON.`,
      cause,
    })
  }
  if (!isJsonObject(value)) throw createDamageError(source, `its ${part} is no JSON object`)
  return value
}
