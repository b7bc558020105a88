/** Reads a conversation that `saveConversation` wrote, or only what was said in it. */

import type { DeviceBuffer } from '../../backend/backend.ts'
import { type Prompt, TokenSession } from '../../generation/token-session.ts'
import { KvCache } from '../../models/blocks/kv-cache.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import { EngineError } from '../../shared/errors.ts'
import type { SnapshotFiles, SnapshotSource } from '../../shared/snapshot-files.ts'
import type { LoadedModel } from '../loaded-model.ts'
import type { Picture } from '../picture.ts'
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
import type { ConversationState, StoredTurn } from './save.ts'
import { loadState, type PictureRecord, type StateRecord } from './state-record.ts'
import { loadText, messageOf, publicText, type SnapshotText, type TextRecord } from './text-record.ts'

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
  const tokens = pictures.reduce((sum, picture) => sum + (picture?.tokens ?? 0), 0)
  const isConsistent =
    images.length === pictures.length &&
    images.every(({ source: path }, index) => pictures[index] !== null || path !== undefined) &&
    ids.every((id) => id < decoder.vocabSize) &&
    featureBytes === tokens * decoder.dim * 4 &&
    (kvType !== model.kvType || cacheBytes === ids.length * KvCache.bytesPerToken(decoder, kvType))
  if (!isConsistent) throw createDamageError(source, 'its parts do not belong together')
  const expected = HEAD_BYTES + textByteLength + stateByteLength + storedByteLength(featureBytes + cacheBytes)
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
  const { backend, model, queue } = loaded
  const rowBytes = model.config.decoder.dim * 4
  const session = new TokenSession(model, queue)
  const pictures: (Picture | null)[] = []
  try {
    for (const record of state.pictures) pictures.push(record && allocate(record, loaded, rowBytes))
    const features = pictures.flatMap((picture) =>
      picture ? [{ ref: picture.features, byteLength: picture.tokens * rowBytes }] : [],
    )
    const fits = state.kvType === session.kvType && state.ids.length < loaded.contextLength
    const contents: Prompt = {
      ids: fits ? state.ids : [],
      images: fits
        ? state.spans.map(({ at, rows, picture, row }) => {
            const { buffer } = (pictures[picture] as Picture).features
            return { at, rows, features: buffer.at(row * rowBytes) }
          })
        : [],
    }
    await session.adopt(contents, (cache) =>
      readPieces(
        source,
        HEAD_BYTES + textByteLength + stateByteLength,
        [...features, ...cache],
        loaded,
        loaded.snapshots.checksum,
        signal,
      ),
    )
    return { session, options: state.options, turns: turnsOf(text, pictures) }
  } catch (error) {
    session.dispose()
    for (const picture of pictures) if (picture) backend.free(picture.features)
    throw error
  }
}

function allocate(
  { report, tokens, expansion }: PictureRecord,
  { backend }: LoadedModel,
  rowBytes: number,
): Picture {
  const features: DeviceBuffer = backend.alloc(tokens * rowBytes)
  return { report, tokens, expansion, features, source: undefined }
}

function turnsOf({ turns }: TextRecord, pictures: readonly (Picture | null)[]): StoredTurn[] {
  let next = 0
  return turns.map((turn) => ({
    message: messageOf(turn),
    pictures: turn.images.map(({ source }) => {
      const picture = pictures[next++]
      return picture ? { ...picture, source } : { input: source as string }
    }),
  }))
}
