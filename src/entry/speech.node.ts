/** Speech on this machine, in Node. */
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { type LoadRecognizerOptions, loadRecognizerOn } from '../speech/load-recognizer.ts'
import type { Recognizer } from '../speech/types.ts'
import { createFileHost } from './file-host.node.ts'

export { readAudioFile } from '../host/node/audio-file.ts'
export { EngineError, type ErrorArea, type ErrorCode } from '../shared/errors.ts'
export type { LoadRecognizerOptions } from '../speech/load-recognizer.ts'
export type {
  AudioClip,
  LanguageTag,
  ListeningSession,
  Recognizer,
  SpeechModelInfo,
  TranscribeOptions,
  TranscriptEvent,
  TranscriptFinished,
  TranscriptSegment,
} from '../speech/types.ts'

/**
 * Loads a model that recognises speech: a folder of a Hugging Face repository, a `ggml-*.bin` file of whisper.cpp, a
 * `.gguf` file, or the name of a model that was pulled.
 *
 * @example
 * const recognizer = await loadRecognizer('whisper-base')
 * for await (const event of recognizer.transcribe(readAudioFile('talk.wav'))) {
 *   if (event.type === 'segment-finished') console.log(event.segment.text)
 * }
 * await recognizer.dispose()
 */
export function loadRecognizer(reference: string, options: LoadRecognizerOptions = {}): Promise<Recognizer> {
  return loadRecognizerOn({ workers: createNodeWorkerHost(), files: createFileHost() }, reference, options)
}
