/** Everything that a loaded model consists of, shared by its conversations, traces and benchmarks. */
import type { Backend } from '../backend/backend.ts'
import type { PassQueue } from '../generation/pass-queue.ts'
import { TokenSession } from '../generation/token-session.ts'
import type { ImageDecoder } from '../image/decoder.ts'
import type { PreprocessorSettings } from '../image/preprocess.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { KvName } from '../models/precision.ts'
import type { FileHost } from '../shared/model-files.ts'
import type { SnapshotFiles } from '../shared/snapshot-files.ts'
import type { ModelText } from './model-text.ts'
import type { PictureCache } from './picture-cache.ts'
import type { PictureLimits } from './read-image.ts'
import type { ModelFingerprint } from './snapshot/fingerprint.ts'

export interface LoadedModel {
  /** Which model this is; see `fingerprintOf`. */
  readonly identity: Omit<ModelFingerprint, 'tokenizer'>
  /** What messages call it. */
  readonly name: string
  readonly backend: Backend
  readonly model: LanguageModel
  readonly text: ModelText
  /** How pictures are prepared; undefined for text models. */
  readonly preprocessor: PreprocessorSettings | undefined
  readonly queue: PassQueue
  /** Open sequences, which share what they have computed. */
  readonly sessions: Set<TokenSession>
  /** How keys and values are kept. */
  readonly kv: KvName
  readonly pictureCache: PictureCache
  readonly images: ImageDecoder
  readonly files: FileHost
  readonly snapshots: SnapshotFiles
  /** Longest conversation in tokens. */
  readonly contextLength: number
  /** Most tokens of a picture; undefined is no limit. */
  readonly imageTokens: number | undefined
  /** Undefined without a memory limit. */
  readonly pictureLimits: PictureLimits | undefined
}

/** A sequence with a place of its own in the queue. */
export function createSession({ model, queue, sessions }: LoadedModel): TokenSession {
  return new TokenSession(model, queue.line(), sessions)
}
