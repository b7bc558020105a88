/**
 * What the page and the engine's worker say to each other. One file, read by both sides.
 *
 * A request has events, then a result or a failure, unless the worker dies. Handles are numbers that the page gives to
 * what it opens, never used twice in the life of a worker.
 */
import type {
  ChatEvent,
  ChatOptions,
  ConversationTurn,
  GenerationOptions,
  LoadModelOptions,
  LoadProgress,
  MemoryPlan,
  ModelInfo,
  UserMessage,
  WarmUpOptions,
} from 'onsight'
import type {
  AudioClip,
  SpeakOptions,
  SpeechModelInfo,
  SpokenPiece,
  TranscribeOptions,
  TranscriptEvent,
  TranscriptFinished,
} from 'onsight/speech'
import type { HubExchanges } from './hub-messages.ts'
import type { WireError } from './wire-error.ts'

export type Handle = number

/** Signals and callbacks do not cross: they are messages of their own. */
type Wired<Options> = Omit<Options, 'signal' | 'onProgress' | 'onMemoryPlan' | 'onEvent'>

/** Where a model is, as the worker can reach it. */
export type WirePlace =
  | { readonly address: string }
  | { readonly stored: string; readonly hub: string }
  | { readonly files: readonly File[] }

export type LoadEvent = { readonly progress: LoadProgress } | { readonly memoryPlan: MemoryPlan }

/** What is asked of a conversation. */
export type ChatRequest =
  | { readonly act: 'send'; readonly message: UserMessage }
  | { readonly act: 'edit'; readonly index: number; readonly message: UserMessage }
  | { readonly act: 'regenerate' }

/** `turns` when they are others than at the last event. */
export interface AnswerEvent {
  readonly event?: ChatEvent
  readonly turns?: readonly ConversationTurn[]
}

/** Every request: what it takes, what it tells while it runs, what it ends with. */
export interface Exchanges extends HubExchanges {
  'load-model': {
    ask: { handle: Handle; place: WirePlace; options: Wired<LoadModelOptions> }
    event: LoadEvent
    result: ModelInfo
  }
  'load-recognizer': { ask: { handle: Handle; place: WirePlace }; event: never; result: SpeechModelInfo }
  'load-voice': { ask: { handle: Handle; place: WirePlace }; event: never; result: SpeechModelInfo }
  'warm-up': { ask: { model: Handle; options: Wired<WarmUpOptions> }; event: never; result: undefined }
  /** Ends with what the model takes now. */
  answer: {
    ask: { chat: Handle; request: ChatRequest; options: Wired<GenerationOptions> }
    event: AnswerEvent
    result: ModelInfo
  }
  /** Without `audio` it is asked for piece by piece: `audio-wanted`. */
  transcribe: {
    ask: { recognizer: Handle; audio: AudioClip | undefined; options: Wired<TranscribeOptions> }
    event: TranscriptEvent
    result: undefined
  }
  'listen-partial': { ask: { session: Handle }; event: never; result: string }
  'listen-finish': {
    ask: { session: Handle; options: Wired<TranscribeOptions> }
    event: never
    result: TranscriptFinished
  }
  synthesize: {
    ask: { voice: Handle; text: string; options: Wired<SpeakOptions> }
    event: SpokenPiece
    result: undefined
  }
  /** A model, recogniser or voice with all that was opened of it; resolves when its memory is given back. */
  dispose: { ask: { handle: Handle }; event: never; result: undefined }
}

export type RequestName = keyof Exchanges
export type Ask<Name extends RequestName> = Exchanges[Name]['ask']
export type EventOf<Name extends RequestName> = Exchanges[Name]['event']
export type ResultOf<Name extends RequestName> = Exchanges[Name]['result']

export type RequestMessage = {
  [Name in RequestName]: {
    readonly type: 'request'
    readonly id: number
    readonly name: Name
    readonly ask: Ask<Name>
  }
}[RequestName]

export type ToWorker =
  | RequestMessage
  /** The request ends soon: with what it has, or with an `AbortError`. */
  | { readonly type: 'cancel'; readonly id: number }
  | {
      readonly type: 'open-chat'
      readonly handle: Handle
      readonly model: Handle
      readonly options: ChatOptions
    }
  | { readonly type: 'cut-answer'; readonly chat: Handle; readonly heard: string }
  | {
      readonly type: 'open-session'
      readonly handle: Handle
      readonly recognizer: Handle
      readonly options: Wired<TranscribeOptions>
    }
  | { readonly type: 'push-samples'; readonly session: Handle; readonly samples: Float32Array }
  /** A conversation or a listening session. */
  | { readonly type: 'close'; readonly handle: Handle }
  /** The next piece of a `transcribe` request; undefined: there are no more. `error`: there was one instead. */
  | {
      readonly type: 'audio'
      readonly id: number
      readonly clip: AudioClip | undefined
      readonly error?: WireError
    }
  | { readonly type: 'ping' }
  /** The name of a lock that the worker takes and holds as long as it lives. */
  | { readonly type: 'hold-lock'; readonly name: string }

export type FromWorker =
  | { readonly type: 'event'; readonly id: number; readonly event: unknown }
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly error: WireError }
  | { readonly type: 'audio-wanted'; readonly id: number }
  | { readonly type: 'turns'; readonly chat: Handle; readonly turns: readonly ConversationTurn[] }
  | { readonly type: 'pong' }
  | { readonly type: 'lock-held'; readonly name: string }
