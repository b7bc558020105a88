/** What a snapshot keeps beside text and long bytes: which model, which tokens, which pictures. JSON. */
import type { KvType } from '../../models/blocks/kv-cache.ts'
import type { ByteSource } from '../../shared/byte-source.ts'
import { readBytes } from '../../shared/byte-source.ts'
import type { Checksum } from '../../shared/checksum.ts'
import { EngineError } from '../../shared/errors.ts'
import { IMAGE_PLACEHOLDER } from '../../text/image-prompt.ts'
import { isJsonObject } from '../../text/json-fields.ts'
import { DETAIL_RULE, IMAGE_TOKENS_RULE } from '../generation-options.ts'
import type { ChatOptions, Detail, ImageReport } from '../types.ts'
import type { ModelFingerprint } from './fingerprint.ts'
import {
  createCutError,
  createDamageError,
  HEAD_BYTES,
  MAX_STATE_BYTES,
  SNAPSHOT_VERSION,
  type SnapshotHead,
  TEXT_HINT,
} from './head.ts'
import { parseJson } from './text-record.ts'

/** A picture whose features are stored. */
export interface PictureRecord {
  readonly report: ImageReport
  /** Rows of features. */
  readonly tokens: number
  /** What stands for it in the prompt. */
  readonly expansion: string
}

/** How closely to look at a picture that is not encoded yet. */
export interface LookRecord {
  readonly detail: Detail
  readonly imageTokens?: number
}

/** Where rows of a picture stand among the tokens. */
export interface SpanRecord {
  readonly at: number
  readonly rows: number
  /** Index among the encoded ones of `pictures`. */
  readonly picture: number
  /** First row of the picture. */
  readonly row: number
}

export interface StateRecord {
  readonly fingerprint: ModelFingerprint
  /** Of `model.chat`, but for the turns. */
  readonly options: Pick<ChatOptions, 'template' | 'whenFull'>
  /** One for each image of the text, in order. */
  readonly pictures: readonly (PictureRecord | LookRecord)[]
  readonly kvType: KvType
  /** Tokens whose keys and values are stored. */
  readonly ids: readonly number[]
  readonly spans: readonly SpanRecord[]
  /** Bytes of the device that are stored: features of all pictures, then, in pieces of their own, keys and values. */
  readonly featureBytes: number
  readonly cacheBytes: number
  /** The system prompt without the summary that it ends in. */
  readonly unsummarised?: string
}

export function isPictureRecord(record: PictureRecord | LookRecord): record is PictureRecord {
  return 'tokens' in record
}

/**
 * Reads and checks the state. Throws `snapshot/version`, `snapshot/truncated` or `snapshot/damaged`.
 */
export async function loadState(
  source: ByteSource,
  head: SnapshotHead,
  checksum: Checksum,
): Promise<StateRecord> {
  if (!head.isIntact) throw createDamageError(source, 'its first bytes do not match their checksum')
  if (head.version !== SNAPSHOT_VERSION) {
    throw new EngineError('snapshot/version', {
      message: `${source.name}: the snapshot has version ${head.version}; this version of the engine reads ${SNAPSHOT_VERSION}.`,
      hint: TEXT_HINT,
    })
  }
  const { stateByteLength, stateChecksum, textByteLength } = head
  if (stateByteLength > MAX_STATE_BYTES) {
    throw createDamageError(
      source,
      `its state has ${stateByteLength} bytes, more than the ${MAX_STATE_BYTES} that are possible`,
    )
  }
  const start = HEAD_BYTES + textByteLength
  if (start + stateByteLength > source.byteLength) throw createCutError(source, start + stateByteLength)
  const bytes = await readBytes(source, start, stateByteLength)
  if (checksum(bytes) !== stateChecksum)
    throw createDamageError(source, 'its state does not match its checksum')
  return parseState(source, parseJson(source, bytes, 'state'))
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

function parseState(source: ByteSource, record: Readonly<Record<string, unknown>>): StateRecord {
  const { fingerprint, options, pictures, kvType, ids, spans, featureBytes, cacheBytes, unsummarised } =
    record
  const fail = (what: string): never => {
    throw createDamageError(source, `its state has ${what}`)
  }
  if (!isFingerprint(fingerprint)) return fail('no fingerprint of the model')
  if (!isJsonObject(options)) return fail('no options')
  if (typeof kvType !== 'string' || !isCount(featureBytes) || !isCount(cacheBytes)) return fail('no sizes')
  if (!Array.isArray(pictures) || !pictures.every((picture) => isPicture(picture) || isLook(picture)))
    return fail('a picture that is none')
  if (!Array.isArray(ids) || !ids.every(isCount)) return fail('a token that is none')
  if (!Array.isArray(spans) || !areSpans(spans, ids.length, pictures.filter(isPictureRecord)))
    return fail('pictures in impossible places')
  if (unsummarised !== undefined && typeof unsummarised !== 'string')
    return fail('no text without its summary')
  return {
    fingerprint,
    options, // checked as those of `model.chat`
    pictures,
    kvType: kvType as KvType, // compared with the model's own
    ids,
    spans,
    featureBytes,
    cacheBytes,
    ...(unsummarised !== undefined && { unsummarised }),
  }
}

function isFingerprint(value: unknown): value is ModelFingerprint {
  if (!isJsonObject(value)) return false
  const { architecture, weights, tokenizer, precision } = value
  return [architecture, weights, tokenizer].every(isCount) && typeof precision === 'string'
}

function isPicture(value: unknown): value is PictureRecord {
  if (!isJsonObject(value) || !isJsonObject(value['report'])) return false
  const { tokens, expansion } = value
  if (!isCount(tokens) || tokens === 0 || typeof expansion !== 'string') return false
  return expansion.split(IMAGE_PLACEHOLDER).length - 1 === tokens
}

function isLook(value: unknown): value is LookRecord {
  if (!isJsonObject(value)) return false
  const { detail, imageTokens } = value
  return DETAIL_RULE.accepts(detail) && (imageTokens === undefined || IMAGE_TOKENS_RULE.accepts(imageTokens))
}

function areSpans(
  spans: readonly unknown[],
  length: number,
  pictures: readonly PictureRecord[],
): spans is SpanRecord[] {
  let least = 0
  return spans.every((span) => {
    const { at, rows, picture, row } = isJsonObject(span) ? span : {}
    if (!isCount(at) || !isCount(rows) || !isCount(picture) || !isCount(row) || rows === 0) return false
    const isPlaced = at >= least && at + rows <= length && row + rows <= (pictures[picture]?.tokens ?? 0)
    least = at + rows
    return isPlaced
  })
}
