/** Speech on this machine, in Node. */
import { fileURLToPath } from 'node:url'
import { openFile } from '../host/node/file-source.ts'
import { createImageDecoder } from '../host/node/image-decoder.ts'
import { createSnapshotFiles } from '../host/node/snapshot-files.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { type LoadRecognizerOptions, loadRecognizerOn } from '../speech/load-recognizer.ts'
import { type LoadVoiceOptions, loadVoiceOn, type VoiceHost } from '../speech/load-voice.ts'
import {
  createSpeakingModels as createSpeakingModelsOn,
  type SpeakingModels,
  type SpeakingModelsOptions,
} from '../speech/turns/speaking-models.ts'
import type { Recognizer, Voice } from '../speech/types.ts'
import { createFileHost } from './file-host.node.ts'

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
export type { Swap } from '../speech/turns/model-turns.ts'
export type {
  PartReference,
  SpeakingModels,
  SpeakingModelsOptions,
  SpeakingPart,
} from '../speech/turns/speaking-models.ts'
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
  return loadVoiceOn(createVoiceHost(), reference, options)
}

/**
 * A recogniser, a vision model and a voice that take turns in memory: one conversation, within `memoryLimit` bytes of
 * weights, run state and conversation.
 *
 * @example
 * const models = await createSpeakingModels({
 *   recognizer: { reference: 'whisper-base', estimatedBytes: 110e6 },
 *   model: { reference: 'smolvlm-500m', estimatedBytes: 330e6 },
 *   voice: { reference: 'en_US-voice-medium.onnx', estimatedBytes: 45e6 },
 *   memoryLimit: 400e6,
 * })
 * for await (const event of models.ask({ text: 'What is in front of me?', images: ['photo.jpg'] })) …
 */
export function createSpeakingModels(options: SpeakingModelsOptions): Promise<SpeakingModels> {
  const host = { ...createVoiceHost(), images: createImageDecoder(), snapshots: createSnapshotFiles() }
  return createSpeakingModelsOn(host, options)
}

function createVoiceHost(): VoiceHost {
  const letters = fileURLToPath(new URL('../../models/letters/model.safetensors', import.meta.url))
  return {
    workers: createNodeWorkerHost(),
    files: createFileHost(),
    openLetterNetwork: () => openFile(letters),
  }
}
