/** Writes a conversation so that it can go on elsewhere, or later: text, pictures' features, keys and values. */

import type { TokenSession } from '../../generation/token-session.ts'
import type { CacheRange } from '../../models/blocks/kv-cache.ts'
import { EngineError } from '../../shared/errors.ts'
import { BlobFile, type SnapshotTarget } from '../../shared/snapshot-files.ts'
import type { LoadedModel } from '../loaded-model.ts'
import type { Picture } from '../picture.ts'
import { isEncoded, type Turn, type TurnPicture } from '../turn.ts'
import type { ChatOptions } from '../types.ts'
import { fingerprintOf } from './fingerprint.ts'
import { encodeHead } from './head.ts'
import { writePieces } from './pieces.ts'
import type { LookRecord, PictureRecord, SpanRecord, StateRecord } from './state-record.ts'
import { recordOf, type TextRecord } from './text-record.ts'

/** A conversation between two answers. */
export interface ConversationState {
  readonly turns: readonly Turn[]
  readonly session: TokenSession
  /** Of `model.chat`, but for the turns. */
  readonly options: Pick<ChatOptions, 'template' | 'whenFull'>
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
  const { record, sections } = describeState(loaded, state)
  const json = UTF8.encode(JSON.stringify(record))
  const file = to === undefined ? new BlobFile() : await create(to)
  try {
    await file.write(encodeHead(text, json, checksum))
    await file.write(text)
    await file.write(json)
    for (const ranges of sections) await writePieces(file, ranges, loaded, checksum, signal)
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
function sourceOf(picture: TurnPicture): string | undefined {
  if (isEncoded(picture)) return picture.source
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
): { record: StateRecord; sections: CacheRange[][] } {
  const pictures = turns.flatMap((turn) => turn.pictures)
  const encoded = pictures.filter(isEncoded)
  const rowBytes = loaded.model.config.decoder.dim * 4
  const { ids, spans } = storableContents(session, encoded, rowBytes)
  const features = featureRanges(encoded, rowBytes)
  const cache = session.ranges(ids.length)
  const unsummarised = turns[0]?.unsummarised
  return {
    record: {
      fingerprint: fingerprintOf(loaded),
      options,
      pictures: pictures.map(recordPicture),
      kvType: session.kvType,
      ids,
      spans,
      featureBytes: totalOf(features),
      cacheBytes: totalOf(cache),
      ...(unsummarised !== undefined && { unsummarised }),
    },
    sections: [features, cache],
  }
}

function recordPicture(picture: TurnPicture): PictureRecord | LookRecord {
  if (isEncoded(picture)) {
    const { report, tokens, expansion } = picture
    return { report, tokens, expansion }
  }
  const { detail, imageTokens } = picture
  return { detail, ...(imageTokens !== undefined && { imageTokens }) }
}

/** Where the features of pictures lie. */
export function featureRanges(pictures: readonly Picture[], rowBytes: number): CacheRange[] {
  return pictures.map(({ features, tokens }) => ({ ref: features, byteLength: tokens * rowBytes }))
}

/**
 * What the cache holds, up to a picture that the conversation no longer has. Pictures stand in the order of the turns; the
 * same one may stand there twice, and begins anew with its first row.
 */
function storableContents(
  session: TokenSession,
  pictures: readonly Picture[],
  rowBytes: number,
): { ids: readonly number[]; spans: SpanRecord[] } {
  const { ids, images } = session.contents
  const spans: SpanRecord[] = []
  let picture = -1
  for (const { at, rows, features } of images) {
    const row = features.byteOffset / rowBytes
    const isHere = (one: Picture | undefined): boolean => one?.features === features.buffer
    if (row === 0) picture = pictures.findIndex((one, index) => index > picture && isHere(one))
    if (!isHere(pictures[picture])) return { ids: ids.slice(0, at), spans }
    spans.push({ at, rows, picture, row })
  }
  return { ids, spans }
}

function totalOf(ranges: readonly CacheRange[]): number {
  return ranges.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
