/** From a reference to a voice. */
import type { Backend } from '../backend/backend.ts'
import type { FloatMatrixType } from '../backend/ops.ts'
import { createWasmBackend } from '../backend/wasm/wasm-backend.ts'
import {
  ANY_RULE,
  checkOptions,
  choiceRule,
  FUNCTION_RULE,
  type OptionRules,
  SIGNAL_RULE,
} from '../engine/check-options.ts'
import { Vits } from '../models/vits/vits.ts'
import { throwIfAborted } from '../shared/abort.ts'
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import type { SpeechHost } from './load-recognizer.ts'
import { type OpenedVoice, openVoice } from './synthesis/open-voice.ts'
import { loadLetterNetwork } from './synthesis/phonemes/letter-network.ts'
import { loadEnglish, loadPinyin } from './synthesis/phonemes/load-phonemes.ts'
import { VitsVoice } from './synthesis/vits-voice.ts'
import {
  createCharacterWriter,
  createPinyinWriter,
  createSymbolWriter,
  type TextToIds,
  unsupportedLanguage,
} from './synthesis/voice-symbols.ts'
import type { Voice } from './types.ts'

export interface LoadVoiceOptions {
  /** How weights are kept: 16-bit floats take half the memory and cannot be told apart. Default `f16`. */
  readonly precision?: 'f32' | 'f16'
  /** One of a voice with several speakers, by name or number. Default 0. */
  readonly speaker?: string | number
  /** Compute threads. Default: as many as the machine's cores allow. */
  readonly threads?: number
  readonly onProgress?: (progress: { readonly loadedBytes: number; readonly totalBytes: number }) => void
  readonly signal?: AbortSignal
}

/** What voices need of the system they run on. */
export interface VoiceHost extends SpeechHost {
  /** Weights of the network that guesses how unknown English words sound, `models/letters/model.safetensors`. */
  readonly openLetterNetwork: () => Promise<ByteSource>
}

/**
 * Loads a voice through the files of `host`. Rejects with an `AbortError` when the signal is aborted.
 *
 * @param shared A backend that other models compute on too; it stays the caller's. Default: one of the voice's own.
 */
export async function loadVoiceOn(
  host: VoiceHost,
  reference: string,
  options: LoadVoiceOptions = {},
  shared?: Backend,
): Promise<Voice> {
  const start = performance.now()
  if (typeof reference !== 'string' || reference === '') {
    throw new EngineError('option/invalid', {
      message: `A voice is named by the path of its folder or .onnx file; found ${JSON.stringify(reference) ?? String(reference)}.`,
    })
  }
  checkOptions(options, RULES, 'for loading a voice')
  const { precision = 'f16', threads, signal, onProgress } = options
  throwIfAborted(signal)
  const opened = await openVoice(host.files, reference)
  try {
    const toIds = await createWriter(host, opened)
    const backend =
      shared ?? (await createWasmBackend(host.workers, threads === undefined ? {} : { threads }))
    const release = async (): Promise<void> => {
      if (shared) return
      await backend.dispose()
      await host.workers.reclaimMemory?.()
    }
    try {
      const totalBytes = [...opened.tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
      const before = backend.allocatedBytes
      const model = await Vits.load(backend, opened.config, opened.tensors, {
        name: opened.name,
        type: MATRIX_TYPES[precision],
        speaker: speakerOf(opened, options.speaker),
        signal,
        onProgress: onProgress && ((loadedBytes) => onProgress({ loadedBytes, totalBytes })),
      })
      const allocated = backend.allocatedBytes - before
      const info = {
        name: opened.name,
        architecture: 'vits',
        languages: opened.languages,
        sampleRate: opened.config.sampleRate,
        fileBytes: totalBytes,
        loadMs: performance.now() - start,
      }
      return new VitsVoice(model, toIds, info, () => allocated, release)
    } catch (error) {
      await release()
      throw error
    }
  } finally {
    await Promise.all(opened.sources.map((source) => source.close()))
  }
}

const MATRIX_TYPES: Readonly<Record<'f32' | 'f16', FloatMatrixType>> = { f32: 'F32', f16: 'F16' }

const RULES = {
  precision: choiceRule(['f32', 'f16']),
  speaker: ANY_RULE,
  threads: ANY_RULE, // the backend knows its bounds
  onProgress: FUNCTION_RULE,
  signal: SIGNAL_RULE,
} satisfies OptionRules

async function createWriter(host: VoiceHost, voice: OpenedVoice): Promise<TextToIds> {
  const [language = 'und'] = voice.languages
  switch (voice.alphabet) {
    case 'letters':
    case 'letters-with-blanks':
      return createCharacterWriter(voice.ids, voice.alphabet === 'letters-with-blanks')
    case 'pinyin':
      return createPinyinWriter(voice.ids, await loadPinyin())
    case 'ipa': {
      if (!/^en\b/i.test(language)) throw unsupportedLanguage(voice.name, language, 'IPA')
      const source = await host.openLetterNetwork()
      try {
        const english = await loadEnglish(await loadLetterNetwork(source))
        return createSymbolWriter(voice.ids, (text) => [...english.transcribe(text)])
      } finally {
        await source.close()
      }
    }
  }
}

function speakerOf({ name, config, speakers }: OpenedVoice, wanted: string | number = 0): number {
  const found = typeof wanted === 'number' ? wanted : speakers.get(wanted)
  if (found !== undefined && Number.isInteger(found) && found >= 0 && found < config.speakers) return found
  throw new EngineError('option/speaker', {
    message: `${name} has no speaker ${JSON.stringify(wanted)}; it has ${[...speakers.keys()].slice(0, 20).join(', ') || `0 to ${config.speakers - 1}`}.`,
    field: 'speaker',
  })
}
