/** What tells models apart whose keys and values must not be mixed up. */

import { crc32 } from '../../shared/checksum.ts'
import type { PreparedModel } from '../assemble-model.ts'
import type { LoadedModel } from '../loaded-model.ts'

/** A checksum for each part, so that it can be said which one differs. Computed alike by the same version everywhere. */
export interface ModelFingerprint {
  /** Of the configuration, picture settings, and the tensors' names, types and shapes. */
  readonly architecture: number
  /** Of samples of the weights: 256 bytes of every piece that was read (`WeightLoader.sampleChecksum`). */
  readonly weights: number
  /** Of the vocabulary. */
  readonly tokenizer: number
  /** How weights are kept: the same file computes other keys at another precision. */
  readonly precision: string
}

const UTF8 = new TextEncoder()

export function architectureChecksum({ config, tensors, preprocessor }: PreparedModel): number {
  const shapes = [...tensors.values()].map(({ name, type, shape }) => `${name} ${type} ${shape.join('x')}`)
  return crc32(UTF8.encode(JSON.stringify([config, preprocessor, shapes.sort()])))
}

const known = new WeakMap<LoadedModel, ModelFingerprint>()

/** The vocabulary is gone through once, when it is first asked for: a hundred thousand tokens take some milliseconds. */
export function fingerprintOf(loaded: LoadedModel): ModelFingerprint {
  let fingerprint = known.get(loaded)
  if (!fingerprint) {
    fingerprint = { ...loaded.identity, tokenizer: vocabularyChecksum(loaded) }
    known.set(loaded, fingerprint)
  }
  return fingerprint
}

function vocabularyChecksum({ text: { tokenizer } }: LoadedModel): number {
  let text = ''
  for (let id = 0; id < tokenizer.vocabSize; id++) text += `${tokenizer.idToToken(id) ?? ''}\n`
  return crc32(UTF8.encode(text))
}

/** What of `found` is not as in `own`, in words; empty where all is alike. */
export function differencesOf(found: ModelFingerprint, own: ModelFingerprint): string[] {
  return [
    ...(found.architecture === own.architecture ? [] : ['another architecture']),
    ...(found.precision === own.precision
      ? []
      : [`another precision (${found.precision}, not ${own.precision})`]),
    ...(found.weights === own.weights ? [] : ['other weights']),
    ...(found.tokenizer === own.tokenizer ? [] : ['another vocabulary']),
  ]
}
