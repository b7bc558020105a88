/** Writes a conversation so that it can go on elsewhere, or later: text, pictures' features, keys and values. */

import type { TokenSession } from '../../generation/token-session.ts'
import type { CacheRange } from '../../models/blocks/kv-cache.ts'
import { EngineError } from '../../shared/errors.ts'
import { BlobFile, type SnapshotTarget } from '../../shared/snapshot-files.ts'
import type { ChatMessage } from '../../text/chat-template/chat-message.ts'
import type { LoadedModel } from '../loaded-model.ts'
import type { Picture } from '../picture.ts'
import type { ImageInput } from '../types.ts'
import { fingerprintOf } from './fingerprint.ts'
import { encodeHead } from './head.ts'
import { writePieces } from './pieces.ts'
import type { SpanRecord, StateRecord } from './state-record.ts'
import { recordOf, type TextRecord } from './text-record.ts'

/** A conversation between two answers. */
export interface ConversationState {
  readonly turns: readonly StoredTurn[]
  readonly session: TokenSession
  /** Of `model.chat`, but for the turns. */
  readonly options: Readonly<Record<string, unknown>>
}

export interface StoredTurn {
  readonly message: ChatMessage
  /** One for each image of the message; as it was given where it is not encoded yet. */
  readonly pictures: readonly (Picture | { readonly input: ImageInput })[]
}

const UTF8 = new TextEncoder()

/** @param to Default: the bytes are returned as a `Blob`. */
export async function saveConversation(
  loaded: LoadedModel,
  state: ConversationState,
  to: SnapshotTarget | undefined,
  signal?: AbortSignal,
): Promise<Blob | undefined> {
  const { checksum, create } = loaded.snapshots
  const text = UTF8.encode(JSON.stringify(describeText(loaded, state)))
  const { record, ranges } = describeState(loaded, state)
  const json = UTF8.encode(JSON.stringify(record))
  const file = to === undefined ? new BlobFile() : await create(to)
  try {
    await file.write(encodeHead(text, json, checksum))
    await file.write(text)
    await file.write(json)
    await writePieces(file, ranges, loaded, checksum, signal)
    await file.seal()
    await file.publish()
  } catch (error) {
    await file.discard()
    throw error
  }
  return file instanceof BlobFile ? file.blob : undefined
}

function describeText({ name }: LoadedModel, { turns }: ConversationState): TextRecord {
  return {
    model: name,
    turns: turns.map(({ message, pictures }) => recordOf(message, pictures.map(sourceOf))),
  }
}

/** Where a picture can be had again. Throws `snapshot/waiting-picture` for one that is neither encoded nor to be had. */
function sourceOf(picture: StoredTurn['pictures'][number]): string | undefined {
  if ('features' in picture) return picture.source
  const { input } = picture
  if (typeof input === 'string' || input instanceof URL) return String(input)
  throw new EngineError('snapshot/waiting-picture', {
    message:
      'The conversation has a picture that the model has not looked at yet, and that came from no file.',
    hint: 'Send a message first, or give the picture by its path.',
  })
}

function describeState(
  loaded: LoadedModel,
  { turns, session, options }: ConversationState,
): { record: StateRecord; ranges: CacheRange[] } {
  const pictures = turns.flatMap((turn) =>
    turn.pictures.map((picture) => ('features' in picture ? picture : null)),
  )
  const rowBytes = loaded.model.config.decoder.dim * 4
  const { ids, spans } = storableContents(session, pictures, rowBytes)
  const features = pictures.flatMap((picture) =>
    picture ? [{ ref: picture.features, byteLength: picture.tokens * rowBytes }] : [],
  )
  const cache = session.ranges(ids.length)
  return {
    record: {
      fingerprint: fingerprintOf(loaded),
      options,
      pictures: pictures.map((picture) => {
        if (!picture) return null
        const { report, tokens, expansion } = picture
        return { report, tokens, expansion }
      }),
      kvType: session.kvType,
      ids,
      spans,
      featureBytes: totalOf(features),
      cacheBytes: totalOf(cache),
    },
    ranges: [...features, ...cache],
  }
}

/** What the cache holds, up to a picture that the conversation no longer has. */
function storableContents(
  session: TokenSession,
  pictures: readonly (Picture | null)[],
  rowBytes: number,
): { ids: readonly number[]; spans: SpanRecord[] } {
  const { ids, images } = session.contents
  const spans: SpanRecord[] = []
  for (const { at, rows, features } of images) {
    const picture = pictures.findIndex((one) => one?.features === features.buffer)
    if (picture < 0) return { ids: ids.slice(0, at), spans }
    spans.push({ at, rows, picture, row: features.byteOffset / rowBytes })
  }
  return { ids, spans }
}

function totalOf(ranges: readonly CacheRange[]): number {
  return ranges.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
