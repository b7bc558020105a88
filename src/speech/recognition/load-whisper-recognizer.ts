/** From opened files to a Whisper model that recognises speech. */
import { MEL_SAMPLE_RATE } from '../../audio/whisper-mel.ts'
import type { Backend } from '../../backend/backend.ts'
import type { TensorInfo } from '../../formats/tensor-info.ts'
import { ConfigFields } from '../../models/config-fields.ts'
import { choosePrecision, type PrecisionName } from '../../models/precision.ts'
import { WeightLoader } from '../../models/weight-loader.ts'
import {
  parseGgmlWhisperConfig,
  parseGgufWhisperConfig,
  parseWhisperConfig,
  type WhisperConfig,
} from '../../models/whisper/config.ts'
import { renameWhisperTensor } from '../../models/whisper/weights.ts'
import { loadWhisper } from '../../models/whisper/whisper.ts'
import { EngineError } from '../../shared/errors.ts'
import type { Tokenizer } from '../../text/tokenizer/tokenizer.ts'
import type { OpenedSpeechModel } from '../open-speech-model.ts'
import type { Recognizer } from '../types.ts'
import type { WhisperParts } from './recognize-window.ts'
import { SAMPLES_PER_POSITION, SpectrogramMaker } from './spectrogram.ts'
import { WhisperRecognizer } from './whisper-recognizer.ts'
import { findWhisperTokens } from './whisper-tokens.ts'
import {
  createVocabularyOfGgml,
  loadVocabularyFromFolder,
  loadVocabularyOfGguf,
} from './whisper-vocabulary.ts'

export interface LoadWhisperOptions {
  readonly precision: PrecisionName
  readonly signal: AbortSignal | undefined
  readonly onProgress: ((progress: { loadedBytes: number; totalBytes: number }) => void) | undefined
}

/** @param release Called when the recogniser has given back what it held on the backend. */
export async function loadWhisperRecognizer(
  opened: OpenedSpeechModel,
  backend: Backend,
  options: LoadWhisperOptions,
  release: () => Promise<void>,
): Promise<Recognizer> {
  const start = performance.now()
  const { parts, fileBytes } = await loadWhisperParts(opened, backend, options)
  const { name } = opened.checkpoint
  return new WhisperRecognizer(
    parts,
    { name, architecture: 'whisper', fileBytes, loadMs: performance.now() - start },
    release,
  )
}

export async function loadWhisperParts(
  opened: OpenedSpeechModel,
  backend: Backend,
  { precision, signal, onProgress }: LoadWhisperOptions,
): Promise<{ parts: WhisperParts; fileBytes: number }> {
  const { name } = opened.checkpoint
  const { config, tensors } = parseModel(opened)
  const tokenizer = await loadTokenizer(opened)
  if (tokenizer.vocabSize > config.vocabSize) {
    throw new EngineError('model/tokenizer-mismatch', {
      message: `${name}: the tokenizer has ids up to ${tokenizer.vocabSize - 1}, but the model has embeddings for ${config.vocabSize} tokens.`,
      hint: 'The tokenizer belongs to another model; fetch the files of one release.',
    })
  }
  const generationConfig = await opened.files.read('generation_config.json')
  const tokens = findWhisperTokens(tokenizer, config.vocabSize, generationConfig, name)
  const fileBytes = [...tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  // Float weights become int8 whatever they lie in.
  const chosen = choosePrecision(precision, 'safetensors')
  const loader = new WeightLoader({
    backend,
    tensors,
    precision: chosen,
    name,
    signal,
    onProgress: onProgress && ((loadedBytes) => onProgress({ loadedBytes, totalBytes: fileBytes })),
  })
  const model = await loadWhisper(backend, config, loader, chosen.kind === 'f32' ? 'F32' : 'F16')
  const windowSeconds = (config.encoder.positions * SAMPLES_PER_POSITION) / MEL_SAMPLE_RATE
  const spectrograms = new SpectrogramMaker(config.melBands, windowSeconds)
  return { parts: { model, tokenizer, tokens, spectrograms }, fileBytes }
}

interface ParsedModel {
  readonly config: WhisperConfig
  /** By the engine's names. */
  readonly tensors: ReadonlyMap<string, TensorInfo>
}

function parseModel({ checkpoint }: OpenedSpeechModel): ParsedModel {
  switch (checkpoint.container) {
    case 'safetensors': {
      const fields = new ConfigFields(checkpoint.config, `${checkpoint.name}/config.json`)
      return { config: parseWhisperConfig(fields), tensors: renameAll(checkpoint.tensors) }
    }
    case 'gguf': {
      const tensors = renameAll(checkpoint.text.tensors)
      return { config: parseGgufWhisperConfig(checkpoint.text, tensors), tensors }
    }
    case 'ggml':
      return { config: parseGgmlWhisperConfig(checkpoint.file), tensors: checkpoint.file.tensors }
  }
}

function renameAll(tensors: ReadonlyMap<string, TensorInfo>): ReadonlyMap<string, TensorInfo> {
  const renamed = new Map<string, TensorInfo>()
  for (const [name, info] of tensors) {
    const known = renameWhisperTensor(name)
    if (known !== undefined) renamed.set(known, info)
  }
  return renamed
}

function loadTokenizer({ checkpoint, files }: OpenedSpeechModel): Promise<Tokenizer> | Tokenizer {
  switch (checkpoint.container) {
    case 'safetensors':
      return loadVocabularyFromFolder(files)
    case 'gguf':
      return loadVocabularyOfGguf(checkpoint.text, files)
    case 'ggml':
      return createVocabularyOfGgml(checkpoint.file)
  }
}
