/** Speech on this device, in a page or in a worker. */
import { createBrowserFileHost, type ModelReference } from '../host/browser/file-host.ts'
import { type BrowserWorkerOptions, createBrowserWorkerHost } from '../host/browser/worker-host.ts'
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import { type LoadRecognizerOptions, loadRecognizerOn } from '../speech/load-recognizer.ts'
import { type LoadVoiceOptions, loadVoiceOn } from '../speech/load-voice.ts'
import type { Recognizer, Voice } from '../speech/types.ts'

export {
  type AnswerSpeaker,
  type AnswerSpeakerOptions,
  createAnswerSpeaker,
} from '../assistant/voice-loop/answer-speaker.ts'
export { type ChatAnswererOptions, createChatAnswerer } from '../assistant/voice-loop/chat-answerer.ts'
export { createConversationLoop } from '../assistant/voice-loop/conversation-loop.ts'
export { createEarcon } from '../assistant/voice-loop/earcon.ts'
export type {
  Answerer,
  ConversationLoop,
  ConversationLoopOptions,
  EarconKind,
  LoopAnswerFinished,
  LoopEvent,
  LoopMode,
  LoopStage,
  LoopState,
} from '../assistant/voice-loop/loop-types.ts'
export { readAudioFile } from '../host/browser/audio-file.ts'
export type { ModelReference } from '../host/browser/file-host.ts'
export { createAudioPlayer } from '../host/browser/speech/audio-player.ts'
export { type BrowserMicrophoneOptions, createMicrophone } from '../host/browser/speech/microphone.ts'
export {
  createPlatformSpeaker,
  listPlatformVoices,
  type PlatformVoice,
  type PlatformVoiceOptions,
  unlockPlatformVoice,
} from '../host/browser/speech/platform-voice.ts'
export type { BrowserWorkerOptions } from '../host/browser/worker-host.ts'
export { EngineError, type ErrorArea, type ErrorCode } from '../shared/errors.ts'
export type { LoadRecognizerOptions } from '../speech/load-recognizer.ts'
export type { LoadVoiceOptions } from '../speech/load-voice.ts'
export { cleanForSpeech } from '../speech/text/spoken-text.ts'
export type {
  AudioClip,
  AudioPlayer,
  GateEvent,
  LanguageTag,
  ListeningSession,
  Microphone,
  Recognizer,
  SayOptions,
  Speaker,
  SpeakOptions,
  SpeechModelInfo,
  SpokenPiece,
  TranscribeOptions,
  TranscriptEvent,
  TranscriptFinished,
  TranscriptSegment,
  Voice,
  VoiceGate,
} from '../speech/types.ts'
export { createVoiceGate, type VoiceGateOptions } from '../speech/vad/voice-gate.ts'
export { createVoiceSpeaker } from '../speech/voice-speaker.ts'

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

/** Beside the code, so that bundlers take it along as a file. */
const LETTERS = new URL('../../models/letters/model.safetensors', import.meta.url)

/**
 * Loads a voice that makes samples: the address of a Piper voice's `.onnx` file (its `.json` is found beside it) or of a
 * folder as Hugging Face publishes it; files that a person picked; or a directory handle.
 *
 * @example
 * const voice = await loadVoice('/voices/en_US-voice-medium.onnx')
 * for await (const { samples, sampleRate } of voice.synthesize('There is a dog on the left.')) play(samples, sampleRate)
 */
export async function loadVoice(
  reference: ModelReference,
  { worker, ...options }: LoadVoiceOptions & BrowserWorkerOptions = {},
): Promise<Voice> {
  const { name, host: files } = createBrowserFileHost(reference)
  const workers = createBrowserWorkerHost(worker ? { worker } : {})
  return loadVoiceOn({ workers, files, openLetterNetwork }, name, options)
}

async function openLetterNetwork(): Promise<ByteSource> {
  const response = await fetch(LETTERS)
  if (!response.ok) {
    throw new EngineError('file/not-found', {
      message: `${LETTERS.href}: expected the file that comes with the package; the server answered with status ${response.status}.`,
      hint: 'Serve models/letters/model.safetensors of the package with the page.',
    })
  }
  return createMemorySource(LETTERS.href, new Uint8Array(await response.arrayBuffer()))
}
