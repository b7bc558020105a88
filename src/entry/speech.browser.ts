/** Speech on this device, in a page or in a worker. */
import { createBrowserFileHost, type ModelReference } from '../host/browser/file-host.ts'
import { type BrowserWorkerOptions, createBrowserWorkerHost } from '../host/browser/worker-host.ts'
import { type LoadRecognizerOptions, loadRecognizerOn } from '../speech/load-recognizer.ts'
import type { Recognizer } from '../speech/types.ts'

export { readAudioFile } from '../host/browser/audio-file.ts'
export type { ModelReference } from '../host/browser/file-host.ts'
export type { BrowserWorkerOptions } from '../host/browser/worker-host.ts'
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
 * Loads a model that recognises speech: the address of a folder as Hugging Face publishes it, of a `ggml-*.bin` file of
 * whisper.cpp or of a `.gguf` file; files that a person picked; or a directory handle.
 *
 * Several threads need a page that is cross-origin isolated; elsewhere there is one.
 *
 * @example
 * const recognizer = await loadRecognizer(input.files)
 * for await (const event of recognizer.transcribe(readAudioFile(recording)))
 *   if (event.type === 'segment-finished') output.append(event.segment.text)
 * await recognizer.dispose()
 */
export async function loadRecognizer(
  reference: ModelReference,
  { worker, ...options }: LoadRecognizerOptions & BrowserWorkerOptions = {},
): Promise<Recognizer> {
  const { name, host: files } = createBrowserFileHost(reference)
  return loadRecognizerOn(
    { workers: createBrowserWorkerHost(worker ? { worker } : {}), files },
    name,
    options,
  )
}
