/** From a model reference to a model that recognises speech. */
import type { Backend } from '../backend/backend.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import {
  ANY_RULE,
  checkOptions,
  choiceRule,
  FUNCTION_RULE,
  type OptionRules,
  SIGNAL_RULE,
} from '../engine/check-options.ts'
import { requireString } from '../formats/gguf/metadata.ts'
import { ConfigFields } from '../models/config-fields.ts'
import { PRECISIONS, type PrecisionName } from '../models/precision.ts'
import { throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { FileHost } from '../shared/model-files.ts'
import type { WorkerHost } from '../shared/worker-port.ts'
import { type OpenedSpeechModel, openSpeechModel } from './open-speech-model.ts'
import { loadMoonshineRecognizer } from './recognition/load-moonshine-recognizer.ts'
import { loadWhisperRecognizer } from './recognition/load-whisper-recognizer.ts'
import type { Recognizer } from './types.ts'

export interface LoadRecognizerOptions {
  /** `auto`: int8, save for files that are quantised already. Default `auto`. */
  readonly precision?: PrecisionName
  /** Compute threads. Default: as many as the machine's cores allow. Not with `backend`. */
  readonly threads?: number
  /** Called while weights are read. */
  readonly onProgress?: (progress: { readonly loadedBytes: number; readonly totalBytes: number }) => void
  readonly signal?: AbortSignal
}

/** What recognisers need of the system they run on. */
export interface SpeechHost {
  readonly workers: WorkerHost
  readonly files: FileHost
}

/**
 * Loads a recogniser through the files of `host`. Rejects with an `AbortError` when the signal is aborted.
 *
 * @param shared A backend that other models compute on too; it stays the caller's. Default: one of the recogniser's own.
 */
export async function loadRecognizerOn(
  host: SpeechHost,
  reference: string,
  options: LoadRecognizerOptions = {},
  shared?: Backend,
): Promise<Recognizer> {
  checkRequest(reference, options)
  throwIfAborted(options.signal)
  const opened = await openSpeechModel(host.files, reference)
  try {
    const loadOpened = requireLoader(opened)
    const { threads } = options
    const backend =
      shared ?? (await createWasmBackend(host.workers, threads === undefined ? {} : { threads }))
    const release = async (): Promise<void> => {
      if (shared) return
      await backend.dispose()
      await host.workers.reclaimMemory?.()
    }
    try {
      const { precision = 'auto', signal, onProgress } = options
      return await loadOpened(opened, backend, { precision, signal, onProgress }, release)
    } catch (error) {
      await release()
      throw error
    }
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}

const RULES = {
  precision: choiceRule(PRECISIONS),
  threads: ANY_RULE, // the backend knows its bounds
  onProgress: FUNCTION_RULE,
  signal: SIGNAL_RULE,
} satisfies OptionRules

function checkRequest(reference: unknown, options: LoadRecognizerOptions): void {
  if (typeof reference !== 'string' || reference === '') {
    throw new EngineError('option/invalid', {
      message: `A recogniser is named by the path of its folder or file; found ${JSON.stringify(reference) ?? String(reference)}.`,
    })
  }
  checkOptions(options, RULES, 'for loading a recogniser')
}

/** Names of architectures that recognise speech. */
const LOADERS = {
  whisper: loadWhisperRecognizer,
  moonshine: loadMoonshineRecognizer,
  moonshine_streaming: loadMoonshineRecognizer,
} as const

function requireLoader({ checkpoint }: OpenedSpeechModel): typeof loadWhisperRecognizer {
  const architecture =
    checkpoint.container === 'ggml'
      ? 'whisper' // the only kind of model in this format
      : checkpoint.container === 'gguf'
        ? requireString(checkpoint.text, 'general.architecture')
        : new ConfigFields(checkpoint.config, `${checkpoint.name}/config.json`).string('model_type')
  if (Object.hasOwn(LOADERS, architecture)) return LOADERS[architecture as keyof typeof LOADERS]
  throw new EngineError('model/unknown-architecture', {
    message: `${checkpoint.name}: a model of architecture "${architecture}" does not recognise speech; supported are ${Object.keys(LOADERS).join(', ')}.`,
    hint: 'Use a Whisper model (a Hugging Face folder, a whisper.cpp file or a GGUF file) or a Moonshine folder.',
  })
}
