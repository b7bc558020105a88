/** What users of `onsight/speech` see: recognisers, voices, the voice gate, and the events of each. */

import type { AudioClip } from '../audio/audio-clip.ts'

export type { AudioClip } from '../audio/audio-clip.ts'

/** `zh-Hans` and `zh-Hant` are one spoken language in two scripts. */
export type LanguageTag = string

export interface SpeechModelInfo {
  /** Name of the folder or file. */
  readonly name: string
  /** `whisper`, `moonshine`, `moonshine_streaming`, `vits`, … */
  readonly architecture: string
  /** BCP 47 codes; empty where the model does not say. */
  readonly languages: readonly LanguageTag[]
  /** Of the samples it takes or gives. */
  readonly sampleRate: number
  /** Bytes of the files that were read. */
  readonly fileBytes: number
  /** Bytes in use now: weights, run state. */
  readonly allocatedBytes: number
  readonly loadMs: number
}

export interface TranscribeOptions {
  /** `auto` lets the model tell. `zh-Hans` and `zh-Hant` also choose the script. Default `auto`. */
  readonly language?: LanguageTag
  /** Segments with times. Default false: one segment for each stretch of up to 30 s. */
  readonly timestamps?: boolean
  /** Earlier text that the words go on from, or names and terms that may come up. */
  readonly context?: string
  /**
   * Seconds of speech that a voice gate found in the audio, as evidence against text in silence. Undefined: unknown.
   */
  readonly speechSeconds?: number
  readonly signal?: AbortSignal
}

export interface TranscriptSegment {
  /** Seconds from the beginning of the audio. */
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface TranscriptFinished {
  readonly type: 'transcript-finished'
  readonly text: string
  readonly language: LanguageTag
  /** Probability of the language where the model was asked to tell it, else 1. */
  readonly languageProbability: number
  readonly segments: readonly TranscriptSegment[]
  readonly finishReason: 'stop' | 'aborted'
  /** Seconds of audio. */
  readonly duration: number
  readonly timings: { readonly totalMs: number; readonly encodeMs: number; readonly decodeMs: number }
}

export type TranscriptEvent =
  /** Words so far of the segment that is being heard; may change until `segment-finished`. */
  | { readonly type: 'partial-changed'; readonly text: string }
  | { readonly type: 'segment-finished'; readonly segment: TranscriptSegment }
  | TranscriptFinished

/** Hears speech that is still going on. */
export interface ListeningSession {
  /** Mono samples of the recogniser's `sampleRate`. */
  push(samples: Float32Array): void
  /** Words heard so far, after every sample pushed before the call. Computes only what is new where the model can. */
  partial(signal?: AbortSignal): Promise<string>
  /** The end of the utterance: the final words. */
  finish(options?: TranscribeOptions): Promise<TranscriptFinished>
  /** Safe to call twice. */
  dispose(): void
}

export interface Recognizer {
  readonly info: SpeechModelInfo
  /** Whole clips of any length and any rate of 8 kHz or more; longer ones than 30 s go through in windows. */
  transcribe(
    audio: AudioClip | AsyncIterable<AudioClip>,
    options?: TranscribeOptions,
  ): AsyncIterableIterator<TranscriptEvent>
  listen(options?: TranscribeOptions): ListeningSession
  /** Gives back workers and memory. Safe to call twice. */
  dispose(): Promise<void>
}

export interface SpeakOptions {
  /** 1 is the voice's own pace; 0.5 to 3. Default 1. */
  readonly rate?: number
  /** 1 is the voice's own pitch; 0.5 to 2. Default 1. */
  readonly pitch?: number
  /** Language of the text; default: told by its script among those of the voice. */
  readonly language?: LanguageTag
  readonly signal?: AbortSignal
}

/** The sound of a stretch of text, to be played right after the one before. */
export interface SpokenPiece extends AudioClip {
  readonly text: string
}

/** A voice that makes samples. */
export interface Voice {
  readonly info: SpeechModelInfo
  /** Streams sentence by sentence: the first is there before the second is begun. */
  synthesize(text: string, options?: SpeakOptions): AsyncIterableIterator<SpokenPiece>
  dispose(): Promise<void>
}

export interface SayOptions extends SpeakOptions {
  /** Called when the first sample sounds, or when the platform says that it begins. */
  readonly onStarted?: () => void
}

/** Something that says text aloud: a platform's voice, or a `Voice` behind a player. */
export interface Speaker {
  readonly name: string
  readonly languages: readonly LanguageTag[]
  /**
   * Calls take turns: the text of a second call is said right after that of the first, and prepared before. Resolves when
   * the last sample has been played; rejects with an `AbortError` when aborted, silent within 200 ms.
   */
  say(text: string, options?: SayOptions): Promise<void>
  /** Loudness (RMS, 0 to 1) of what sounds now, where that is known. */
  level?(): number
  dispose(): Promise<void>
}

/** Plays clips one right after the other. */
export interface AudioPlayer {
  /** What plays, for people. */
  readonly name: string
  /**
   * Resolves when the last sample has been played; rejects with an `AbortError` when aborted, and the clip is silent
   * within 200 ms.
   */
  play(
    clip: AudioClip,
    options?: { readonly signal?: AbortSignal; readonly onStarted?: () => void },
  ): Promise<void>
  /** Loudness (RMS, 0 to 1) of what sounds now, where that is known. */
  level?(): number
  dispose(): Promise<void>
}

/** Where sound comes from. */
export interface Microphone {
  /** Which one, for people. */
  readonly name: string
  /**
   * A `device` goes on whether somebody listens or not, and can be opened again when it was gone. A `stream` goes on as
   * well, but its end is the end. A `recording` waits while nobody listens.
   */
  readonly kind: 'device' | 'stream' | 'recording'
  /**
   * Opens it and gives mono samples of 16 kHz until `signal` is aborted, when it is closed. Ending before that means that
   * the sound is over, or that a device is gone.
   */
  open(signal: AbortSignal): AsyncIterable<Float32Array>
}

/** What the gate says of the samples it was given. Times in samples of 16 kHz since the last reset. */
export type GateEvent =
  | { readonly type: 'speech-started'; readonly at: number }
  | { readonly type: 'speech-ended'; readonly start: number; readonly end: number }

/** How often each stage ran: in silence only the first does. */
export interface GateCounters {
  /** 32 ms frames that the level check saw. */
  readonly levelFrames: number
  readonly smallNetRuns: number
  readonly largeNetRuns: number
}

/** Tells speech from everything else. 16 kHz mono. */
export interface VoiceGate {
  readonly counters: GateCounters
  push(samples: Float32Array): readonly GateEvent[]
  /** The end of the sound: ends a segment that is still open. */
  finish(): readonly GateEvent[]
  /** Begins a new listening period. */
  reset(): void
}
