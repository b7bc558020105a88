/** Speech on this machine, in Node. */
import { fileURLToPath } from 'node:url'
import { openFile } from '../host/node/file-source.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { type LoadRecognizerOptions, loadRecognizerOn } from '../speech/load-recognizer.ts'
import { type LoadVoiceOptions, loadVoiceOn } from '../speech/load-voice.ts'
import type { Recognizer, Voice } from '../speech/types.ts'
import { createFileHost } from './file-host.node.ts'

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
export { readAudioFile } from '../host/node/audio-file.ts'
export { createAudioPlayer } from '../host/node/speech/audio-player.ts'
export { findMicrophone } from '../host/node/speech/microphone.ts'
export {
  createPlatformSpeaker,
  createPlatformVoice,
  listPlatformVoices,
  type PlatformVoice,
  type PlatformVoiceOptions,
} from '../host/node/speech/platform-voice.ts'
export { createPipedMicrophone, createRecording } from '../host/node/speech/recording.ts'
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

/**
 * Loads a voice that makes samples: a folder of a Hugging Face repository, or an `.onnx` file of Piper with its `.json`
 * beside it.
 *
 * @example
 * const voice = await loadVoice('en_US-voice-medium.onnx')
 * const speaker = createVoiceSpeaker(voice, await createAudioPlayer())
 * await speaker.say('There is a dog on the left.')
 */
export function loadVoice(reference: string, options: LoadVoiceOptions = {}): Promise<Voice> {
  const letters = fileURLToPath(new URL('../../models/letters/model.safetensors', import.meta.url))
  const host = {
    workers: createNodeWorkerHost(),
    files: createFileHost(),
    openLetterNetwork: () => openFile(letters),
  }
  return loadVoiceOn(host, reference, options)
}
