/** Reads a conversation that `saveConversation` wrote. */

import type { Prompt } from '../../generation/token-session.ts'
import { type CacheRange, KvCache } from '../../models/blocks/kv-cache.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import type { SnapshotSource } from '../../shared/snapshot-files.ts'
import { checkChatOptions } from '../chat-options.ts'
import { createSession, type LoadedModel } from '../loaded-model.ts'
import type { Picture } from '../picture.ts'
import type { Turn } from '../turn.ts'
import { differencesOf, fingerprintOf } from './fingerprint.ts'
import {
  createCutError,
  createDamageError,
  HEAD_BYTES,
  loadHead,
  type SnapshotHead,
  TEXT_HINT,
} from './head.ts'
import { readPieces, storedByteLength } from './pieces.ts'
import { type ConversationState, featureRanges } from './save.ts'
import {
  isPictureRecord,
  type LookRecord,
  loadState,
  type PictureRecord,
  type StateRecord,
} from './state-record.ts'
import { loadText, messageOf, type TextRecord } from './text-record.ts'

/**
 * Nothing of a snapshot is used before it was checked, and nothing is kept when this throws: `snapshot/not-a-snapshot`,
 * `snapshot/version`, `snapshot/truncated`, `snapshot/damaged`, `snapshot/foreign-model`.
 *
 * Keys and values of another type than the model's now, or of more tokens than it now may hold, are left behind: the
 * next message computes them anew, from pictures that are still encoded.
 */
export async function restoreConversation(
  loaded: LoadedModel,
  from: SnapshotSource,
  signal?: AbortSignal,
): Promise<ConversationState> {
  const { open, checksum } = loaded.snapshots
  const source = await open(from)
  try {
    const head = await loadHead(source, checksum)
    const state = await loadState(source, head, checksum)
    const text = await loadText(source, head, checksum)
    checkModel(source, loaded, text, state)
    checkChatOptions(state.options)
    checkSizes(source, loaded, text, state, head)
    return await load(source, loaded, text, state, head, signal)
  } finally {
    await source.close()
  }
}

function checkModel(
  source: ByteSource,
  loaded: LoadedModel,
  { model }: TextRecord,
  { fingerprint }: StateRecord,
): void {
  const differences = differencesOf(fingerprint, fingerprintOf(loaded))
  if (differences.length === 0) return
  throw new EngineError('snapshot/foreign-model', {
    message: `${source.name}: the snapshot was made by "${model}", which is not the model at hand, "${loaded.name}": it has ${differences.join(', ')}.`,
    hint: `Load the model that made it. ${TEXT_HINT}`,
  })
}

/** What a file says about itself must fit together before anything is allocated for it. */
function checkSizes(
  source: ByteSource,
  { model }: LoadedModel,
  { turns }: TextRecord,
  { ids, pictures, kvType, featureBytes, cacheBytes }: StateRecord,
  { textByteLength, stateByteLength }: SnapshotHead,
): void {
  const { decoder } = model.config
  const images = turns.flatMap((turn) => turn.images)
  const tokens = pictures.filter(isPictureRecord).reduce((sum, picture) => sum + picture.tokens, 0)
  const isConsistent =
    images.length === pictures.length &&
    pictures.every((picture, index) => isPictureRecord(picture) || images[index]?.source !== undefined) &&
    ids.every((id) => id < decoder.vocabSize) &&
    featureBytes === tokens * decoder.dim * 4 &&
    (kvType !== model.kvType || cacheBytes === ids.length * KvCache.bytesPerToken(decoder, kvType))
  if (!isConsistent) throw createDamageError(source, 'its parts do not belong together')
  const start = HEAD_BYTES + textByteLength + stateByteLength
  const expected = start + storedByteLength(featureBytes) + storedByteLength(cacheBytes)
  if (source.byteLength < expected) throw createCutError(source, expected)
  if (source.byteLength > expected)
    throw createDamageError(source, `expected ${expected} bytes, found ${source.byteLength}`)
}

async function load(
  source: ByteSource,
  loaded: LoadedModel,
  text: TextRecord,
  state: StateRecord,
  { textByteLength, stateByteLength }: SnapshotHead,
  signal: AbortSignal | undefined,
): Promise<ConversationState> {
  const { model, snapshots } = loaded
  const rowBytes = model.config.decoder.dim * 4
  const start = HEAD_BYTES + textByteLength + stateByteLength
  const session = createSession(loaded)
  const encoded: Picture[] = []
  try {
    const turns = turnsOf(text, state, (record, name) => {
      const features = loaded.backend.alloc(record.tokens * rowBytes)
      // Without a key: what a file says a picture is must not be what others see when they give that picture.
      encoded.push({ ...record, key: undefined, source: name, features })
      return encoded.at(-1) as Picture
    })
    const read = (byteOffset: number, ranges: readonly CacheRange[]): Promise<void> =>
      readPieces(source, byteOffset, ranges, loaded, snapshots.checksum, signal)
    await read(start, featureRanges(encoded, rowBytes))
    const contents = contentsOf(state, encoded, loaded)
    await session.adopt(contents, (cache) => read(start + storedByteLength(state.featureBytes), cache))
    return { turns, session, options: state.options }
  } catch (error) {
    session.dispose()
    for (const { features } of encoded) loaded.backend.free(features)
    throw error
  }
}

/** Nothing where keys and values are of another type, or where the context is shorter now. */
function contentsOf(
  { kvType, ids, spans }: StateRecord,
  pictures: readonly Picture[],
  { model, contextLength }: LoadedModel,
): Prompt {
  if (kvType !== model.kvType || ids.length > contextLength) return { ids: [], images: [] }
  const rowBytes = model.config.decoder.dim * 4
  const images = spans.map(({ at, rows, picture, row }) => ({
    at,
    rows,
    features: (pictures[picture] as Picture).features.at(row * rowBytes),
  }))
  return { ids, images }
}

function turnsOf(
  { turns }: TextRecord,
  { pictures, unsummarised }: StateRecord,
  allocate: (record: PictureRecord, source: string | undefined) => Picture,
): Turn[] {
  let next = 0
  return turns.map((turn, index) => ({
    message: messageOf(turn),
    pictures: turn.images.map(({ source }) => {
      const record = pictures[next++] as PictureRecord | LookRecord
      if (isPictureRecord(record)) return allocate(record, source)
      return { input: source as string, detail: record.detail, imageTokens: record.imageTokens }
    }),
    ...(index === 0 && unsummarised !== undefined && { unsummarised }),
  }))
}
