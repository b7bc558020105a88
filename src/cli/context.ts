/** Everything a command takes from its surroundings, so that tests can run commands without a process. */
import type { LoadModelOptions, Model, SnapshotText } from '../engine/types.ts'
import type { runBench } from '../entry/bench.node.ts'
import type { PlatformVoice } from '../host/node/speech/platform-voice.ts'
import type { LoadRecognizerOptions } from '../speech/load-recognizer.ts'
import type { LoadVoiceOptions } from '../speech/load-voice.ts'
import type {
  AudioClip,
  AudioPlayer,
  Microphone,
  Recognizer,
  Speaker,
  Voice,
  VoiceGate,
} from '../speech/types.ts'
import type { Interrupts } from './interrupts.ts'

export type InputStream = NodeJS.ReadableStream & { readonly isTTY?: boolean }
export type OutputStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

/** The part of the library that commands use. */
export interface Engine {
  loadModel(reference: string, options?: LoadModelOptions): Promise<Model>
  bundledModelPath(): string
  readSnapshotText(from: string): Promise<SnapshotText>
}

/** The part of the speech library that commands use. */
export interface SpeechLibrary {
  loadRecognizer(reference: string, options?: LoadRecognizerOptions): Promise<Recognizer>
  readAudioFile(path: string, signal?: AbortSignal): AsyncIterable<AudioClip>
  loadVoice(reference: string, options?: LoadVoiceOptions): Promise<Voice>
  listPlatformVoices(): Promise<readonly PlatformVoice[]>
  createPlatformSpeaker(options?: { readonly voice?: string }): Promise<Speaker>
  createPlatformVoice(options?: { readonly voice?: string }): Promise<Voice>
  createAudioPlayer(): Promise<AudioPlayer>
  createVoiceGate(): Promise<VoiceGate>
  createRecording(path: string): Microphone
  createPipedMicrophone(input: AsyncIterable<Uint8Array | string>): Promise<Microphone>
  findMicrophone(options?: { readonly device?: string }): Promise<Microphone>
}

export interface CommandContext {
  readonly stdin: InputStream
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly interrupts: Interrupts
  /** Loads the library on first use: help and usage errors need none of it. */
  readonly loadEngine: () => Promise<Engine>
  readonly loadSpeech: () => Promise<SpeechLibrary>
  readonly loadBench: () => Promise<typeof runBench>
}
