/** The text of a conversation as a snapshot keeps it: JSON that every version can read, with or without its model. */

import type { ByteSource } from '../../shared/byte-source.ts'
import { readBytes } from '../../shared/byte-source.ts'
import type { Checksum } from '../../shared/checksum.ts'
import { EngineError } from '../../shared/errors.ts'
import type { SnapshotFiles, SnapshotSource } from '../../shared/snapshot-files.ts'
import type { ChatMessage } from '../../text/chat-template/chat-message.ts'
import { isJsonObject } from '../../text/json-fields.ts'
import { userTurn } from '../chat-turn.ts'
import type { ChatTurn, SnapshotText } from '../types.ts'
import {
  createCutError,
  createDamageError,
  HEAD_BYTES,
  loadHead,
  MAX_TEXT_BYTES,
  type SnapshotHead,
} from './head.ts'

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
  const imageOffsets = images.map(({ at }) => at)
  return { ...userTurn({ text, imageOffsets, imageCount: images.length }), role }
}

/**
 * What was said, whichever model and version wrote it, also where the rest is damaged or missing.
 * Throws `snapshot/not-a-snapshot`, or `snapshot/truncated` or `snapshot/damaged` where the text itself is.
 */
export async function loadSnapshotText(files: SnapshotFiles, from: SnapshotSource): Promise<SnapshotText> {
  const source = await files.open(from)
  try {
    const head = await loadHead(source, files.checksum)
    return publicText(await loadText(source, head, files.checksum))
  } finally {
    await source.close()
  }
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

function publicText({ model, turns }: TextRecord): SnapshotText {
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
