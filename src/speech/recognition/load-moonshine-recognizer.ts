/** From opened files to a Moonshine model that recognises speech. */
import type { Backend } from '../../backend/backend.ts'
import { ConfigFields } from '../../models/config-fields.ts'
import { parseMoonshineConfig } from '../../models/moonshine/config.ts'
import { loadMoonshine } from '../../models/moonshine/moonshine.ts'
import { nameMoonshineTensors } from '../../models/moonshine/weights.ts'
import { choosePrecision } from '../../models/precision.ts'
import { WeightLoader } from '../../models/weight-loader.ts'
import { EngineError } from '../../shared/errors.ts'
import type { OpenedSpeechModel } from '../open-speech-model.ts'
import type { Recognizer } from '../types.ts'
import type { LoadWhisperOptions } from './load-whisper-recognizer.ts'
import { MoonshineRecognizer } from './moonshine-recognizer.ts'
import { loadVocabularyFromFolder } from './whisper-vocabulary.ts'

/** @param release Called when the recogniser has given back what it held on the backend. */
export async function loadMoonshineRecognizer(
  { checkpoint, files }: OpenedSpeechModel,
  backend: Backend,
  { precision, signal, onProgress }: LoadWhisperOptions,
  release: () => Promise<void>,
): Promise<Recognizer> {
  const start = performance.now()
  const { name, container } = checkpoint
  if (container !== 'safetensors') {
    throw new EngineError('model/unknown-architecture', {
      message: `${name}: Moonshine models are read from Hugging Face folders; found a file of kind ${container}.`,
      hint: 'Use the folder with config.json, tokenizer.json and model.safetensors.',
    })
  }
  const config = parseMoonshineConfig(new ConfigFields(checkpoint.config, files.label('config.json')))
  const tokenizer = await loadVocabularyFromFolder(files)
  if (tokenizer.vocabSize > config.vocabSize) {
    throw new EngineError('model/tokenizer-mismatch', {
      message: `${name}: the tokenizer has ids up to ${tokenizer.vocabSize - 1}, but the model has embeddings for ${config.vocabSize} tokens.`,
      hint: 'The tokenizer belongs to another model; fetch the files of one release.',
    })
  }
  const tensors = nameMoonshineTensors(checkpoint.tensors)
  const fileBytes = [...tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  const chosen = choosePrecision(precision, 'safetensors')
  const loader = new WeightLoader({
    backend,
    tensors,
    precision: chosen,
    name,
    signal,
    onProgress: onProgress && ((loadedBytes) => onProgress({ loadedBytes, totalBytes: fileBytes })),
  })
  const model = await loadMoonshine(backend, config, loader, chosen.kind === 'f32' ? 'F32' : 'F16')
  const architecture = config.encoder.front.kind === 'frames' ? 'moonshine_streaming' : 'moonshine'
  const info = { name, architecture, fileBytes, loadMs: performance.now() - start }
  return new MoonshineRecognizer(model, tokenizer, info, release)
}
