/** What users of the library see: models, conversations, and the events of an answer. */
import type { Detail } from '../image/preprocess.ts'
import type { KvName, PrecisionName } from '../models/precision.ts'
import type { SnapshotHandle, SnapshotSource, SnapshotTarget } from '../shared/snapshot-files.ts'
import type { ChoiceProbability, ScoredAnswerToken, TokenLogprob } from './answer-scores.ts'

export type {
  ChoiceProbability,
  Detail,
  KvName,
  PrecisionName,
  ScoredAnswerToken,
  SnapshotHandle,
  SnapshotSource,
  SnapshotTarget,
  TokenLogprob,
}

/**
 * A picture: bytes of a file in any common format, a `Blob`, pixels, in Node a path or file URL, in a browser an address
 * of the page's own origin. Pixels are RGB, three bytes each, row by row.
 */
export type ImageInput =
  | string
  | URL
  | Uint8Array
  | Blob
  | { readonly data: Uint8Array | Uint8ClampedArray; readonly width: number; readonly height: number }

export interface LoadProgress {
  readonly loadedBytes: number
  readonly totalBytes: number
}

export interface LoadModelOptions {
  /**
   * The mmproj file of a GGUF model: a path, in a browser an address or the name of a picked file. Default: found beside
   * the model by its content, except on servers, which list nothing.
   */
  readonly projector?: string
  /** Default `auto`: q8 for safetensors, GGUF files as they are. */
  readonly precision?: PrecisionName
  /**
   * How keys and values of conversations are kept: q8 takes 53% of f16's memory. Default f16, and f32 where the
   * precision is f32.
   */
  readonly kv?: KvName
  /** Compute threads. Default: what suits the machine. */
  readonly threads?: number
  /** Longest conversation in tokens. Default: what the model was made for. */
  readonly contextLength?: number
  /**
   * Most tokens that a picture may take, at least 1: fewer tiles, then one tile whose features are averaged in squares.
   * Default: what its detail asks for.
   */
  readonly imageTokens?: number
  /**
   * Bytes for what pictures became, kept when no conversation uses them any more, so that the next question about one is
   * not kept waiting by the vision tower. Default 32 MiB; 0 keeps nothing.
   */
  readonly imageCacheBytes?: number
  /**
   * Most bytes that all of it may take, in Node the whole process. Chooses how keys and values are kept, the context, how
   * closely pictures are looked at, what is kept of them, and the size of passes; `kv`, `contextLength`, `imageTokens` and
   * `imageCacheBytes` are then upper bounds of that. Throws `backend/memory-limit` before anything is allocated where the
   * model does not fit. Default: no limit.
   */
  readonly memoryLimit?: number
  /** Told before the weights are read, when there is a limit. */
  readonly onMemoryPlan?: (plan: MemoryPlan) => void
  readonly onProgress?: (progress: LoadProgress) => void
  readonly signal?: AbortSignal
}

/** What memory will be used for, at most. */
export interface MemoryPlan {
  readonly limitBytes: number
  readonly totalBytes: number
  readonly parts: readonly MemoryPart[]
  /** How keys and values are kept. */
  readonly kv: KvName
  readonly contextLength: number
  /** Most tokens of a picture; undefined for text models. */
  readonly imageTokens: number | undefined
}

export interface MemoryPart {
  /**
   * `program`: the process, its threads and compiled code. `run-state`: what computing needs beside the weights.
   * `picture-features`: of the conversation, and kept for others. `reading-pictures`: while they are decoded.
   */
  readonly use:
    | 'program'
    | 'weights'
    | 'run-state'
    | 'keys-and-values'
    | 'picture-features'
    | 'reading-pictures'
  readonly bytes: number
}

/** A JSON Schema as parsed from JSON; docs/structured-output.md lists what is supported. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>

/** How an answer is made. What is left out comes from the model's generation_config, then from the values named here. */
export interface GenerationOptions {
  /** Most tokens of the answer. Default 512. */
  readonly maxTokens?: number
  /** 0 takes the likeliest token always. Default 0. */
  readonly temperature?: number
  /** Draw from the k likeliest tokens; 0 means all. Default 0. */
  readonly topK?: number
  /** Draw from the likeliest tokens that together reach this probability. Default 1. */
  readonly topP?: number
  /** Leave out tokens less likely than this share of the likeliest. Default 0. */
  readonly minP?: number
  /** Above 1 makes tokens that already stand in the conversation less likely. Default 1. */
  readonly repetitionPenalty?: number
  /** Same seed, same text, whatever the thread count. Default: a random one. */
  readonly seed?: number
  /** Strings that end the answer and are not part of it. */
  readonly stop?: readonly string[]
  /**
   * `auto`: where the last tokens stand in the conversation already, what followed them there is computed ahead, several
   * tokens at a time, as long as that pays. Changes the speed of answers that copy, read or fill a form, never a token.
   * Default `auto`.
   */
  readonly speculation?: 'auto' | 'off'
  /** Go on after the model's stop tokens. Default false. */
  readonly ignoreEos?: boolean
  /**
   * Reports how likely each token was (`token-scored` events, `logprobs` of the answer), with so many of the likeliest at
   * its place; 0 to 20. Default: no report.
   */
  readonly logprobs?: number
  /**
   * The answer is JSON that satisfies this schema whenever it ends with `stop`; with `length` it is cut. Properties come
   * in the schema's order, so put what is seen before what is concluded. The schema is not shown to the model: say in the
   * question what is wanted. Not together with `stop`, `ignoreEos` and `choices`. Throws `option/schema` for what is not
   * supported.
   */
  readonly responseSchema?: JsonSchema
  /**
   * The answer is one of these texts, and `choices` of its end has the probability of each. At temperature 0 it is the
   * likeliest; above, one is drawn by these probabilities. Other options of sampling do nothing. Not together with
   * `stop`, `ignoreEos`, `logprobs` and `responseSchema`.
   */
  readonly choices?: readonly string[]
  /** How closely to look at the pictures of this message. Default `auto`. */
  readonly detail?: Detail
  /** Most tokens that a picture of this message may take, where that is less than the model was loaded with. */
  readonly imageTokens?: number
  /** Aborting ends the answer within the time of one token, with `finishReason: 'aborted'`. */
  readonly signal?: AbortSignal
}

/**
 * Why an answer ended: a stop token, a stop string, the length cap, the guard against endless repetition, the abort
 * signal, or the end of the context.
 */
export type FinishReason = 'stop' | 'stop-string' | 'length' | 'repetition' | 'aborted' | 'context-full'

/** What became of a picture. */
export interface ImageReport {
  /** As a person sees it, orientation applied. */
  readonly width: number
  readonly height: number
  /** Pixels that reached the model. */
  readonly usedWidth: number
  readonly usedHeight: number
  /** 1, or the number of tiles; the overview is not counted. */
  readonly tiles: number
  /** EXIF orientation that was applied, 1 to 8; 1 means upright. */
  readonly orientation: number
  readonly detail: 'low' | 'high'
  /** What it takes in the prompt; left out where a remote model counts. */
  readonly tokens?: number
  /** Known from an earlier question, of this or another conversation; it did not go through the vision tower again. */
  readonly cached: boolean
}

export interface Usage {
  /** Tokens of the whole conversation before the answer, pictures included. */
  readonly promptTokens: number
  /** Of these, tokens that stand for pictures. */
  readonly imageTokens: number
  /** Of the prompt, tokens that were known from before and not computed again. */
  readonly cachedTokens: number
  readonly completionTokens: number
  /** Tokens that were guessed ahead and computed along with others (`speculation`); absent where that cannot be. */
  readonly draftedTokens?: number
  /** Of these, tokens that then came. */
  readonly acceptedTokens?: number
}

export interface Timings {
  /** Pictures through the vision tower. */
  readonly imageEncodeMs: number
  /** Prompt through the decoder, pictures not counted. */
  readonly prefillMs: number
  /** From `send` to the first token. */
  readonly firstTokenMs: number
  /** After the first token; 0 for answers of one token. */
  readonly tokensPerSecond: number
}

/** The end of an answer. */
export interface AnswerFinished {
  readonly type: 'answer-finished'
  readonly text: string
  /** Stop token included where there was one. */
  readonly tokenIds: readonly number[]
  readonly finishReason: FinishReason
  readonly usage: Usage
  readonly timings: Timings
  /** Pictures of this message, in order. */
  readonly images: readonly ImageReport[]
  /** Where the option `logprobs` asks for it: one for each token, stop token left out. */
  readonly logprobs?: readonly ScoredAnswerToken[]
  /** Where the option `choices` asks for it: each choice, in the order in which they were given. */
  readonly choices?: readonly ChoiceProbability[]
  /** Who answered, where that may not have been this device. */
  readonly answeredBy?: AnsweredBy
}

/** Where an answer was made. */
export interface AnsweredBy {
  readonly route: 'local' | 'remote'
  readonly model: string
  /** Host of the remote endpoint. */
  readonly host?: string
}

export type ChatEvent =
  | {
      readonly type: 'image-progressed'
      readonly image: number
      readonly frame: number
      readonly frames: number
    }
  | { readonly type: 'image-encoded'; readonly image: number; readonly report: ImageReport }
  /** Routed models only: before anything of the message is sent or computed. */
  | { readonly type: 'route-chosen'; readonly answeredBy: AnsweredBy; readonly reason: string }
  | { readonly type: 'prompt-progressed'; readonly tokens: number; readonly totalTokens: number }
  /** Comes before the `text-delta` that its token makes or completes. Only with the option `logprobs`. */
  | { readonly type: 'token-scored'; readonly token: ScoredAnswerToken }
  /** The context was full. Comes before the answer, or in its middle. */
  | {
      readonly type: 'context-trimmed'
      /** Turns that the model no longer sees, in their order. */
      readonly droppedTurns: readonly ConversationTurn[]
      /** Pictures that it no longer sees, those of dropped turns included. */
      readonly droppedImages: number
      /** What the model wrote about the dropped turns, which now ends the system prompt; with `summarise` only. */
      readonly summary?: string
      /** Tokens of the conversation now, with the answer as far as it has come. */
      readonly promptTokens: number
    }
  | { readonly type: 'text-delta'; readonly text: string }
  | AnswerFinished

export interface UserMessage {
  readonly text: string
  /** Come before the text, as the models were trained, unless `imageOffsets` says otherwise. */
  readonly images?: readonly ImageInput[]
  /** Where in the text each picture stands, as an index into it, ascending. Default: all at 0. */
  readonly imageOffsets?: readonly number[]
}

/** A turn of a conversation that was held before. */
export type ChatTurn =
  | (UserMessage & {
      readonly role: 'user'
      /** How closely to look at the pictures of this turn. Default `auto`. */
      readonly detail?: Detail
    })
  | { readonly role: 'system' | 'assistant'; readonly text: string }

export interface ChatOptions {
  /** The system prompt. */
  readonly system?: string
  /**
   * Turns to go on from, after the system prompt. They are computed with the first message that is sent; its events
   * and `images` then begin with their pictures.
   */
  readonly messages?: readonly ChatTurn[]
  /**
   * False continues a text instead of holding a conversation: texts go to the model one after the other as they are,
   * control tokens included. Default true.
   */
  readonly template?: boolean
  /** What happens when the conversation is as long as the context. Default `drop-oldest`; without a template `stop`. */
  readonly whenFull?: WhenFull
}

/**
 * What happens when a conversation is as long as the context, which is told by the event `context-trimmed`:
 *
 * - `drop-oldest`: the model no longer sees the oldest pictures, then the oldest questions with their answers, until a
 *   quarter of the context is free. The system prompt, the newest picture with its question, and the last question stay.
 * - `summarise`: the same, and before that the model writes a summary of what goes, which is added to the system prompt.
 * - `stop`: an answer ends with `finishReason: 'context-full'`, a message that is too long is refused with
 *   `generation/context-full`. That also happens where nothing is left to drop.
 */
export type WhenFull = 'drop-oldest' | 'summarise' | 'stop'

/** A turn as the model sees it. */
export interface ConversationTurn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly text: string
  /** Pictures of the turn that the model still sees. */
  readonly imageCount: number
}

/** A conversation. One answer at a time. */
export interface Chat {
  /** What the model sees with the next message: the system prompt, then the turns that are kept. */
  readonly turns: readonly ConversationTurn[]
  /**
   * Adds a message and streams the answer. The message and the answer become part of the conversation when the answer
   * has begun, also when its end is not waited for; a rejected message (a broken picture, a prompt longer than the
   * context) leaves it as it was.
   */
  send(message: UserMessage, options?: GenerationOptions): AsyncIterableIterator<ChatEvent>
  /**
   * Says something else instead of the user's turn `index` of `turns`, and streams the answer to that. The turns after it
   * are forgotten when the answer has begun; what was computed of those before it stays. Without `images` the turn keeps
   * its pictures as they were looked at.
   */
  edit(index: number, message: UserMessage, options?: GenerationOptions): AsyncIterableIterator<ChatEvent>
  /** Streams another answer to the last message of the user, in place of the one that was given. */
  regenerate(options?: GenerationOptions): AsyncIterableIterator<ChatEvent>
  /**
   * Keeps only what was heard of the last answer, when somebody interrupted it: the model then knows what was not said.
   * An empty text takes the question back too. What was computed before stays.
   */
  cutAnswer(heard: string): void
  /**
   * Writes the conversation with all that was computed of it, to go on from with `model.restore`: without `to` to a
   * `Blob`, else to a file that is replaced only when the new one is complete, or to a stream. Nothing can be asked
   * meanwhile. Pictures are kept as the model sees them, not as files.
   */
  save(to?: undefined, options?: SnapshotOptions): Promise<Blob>
  save(to: SnapshotTarget, options?: SnapshotOptions): Promise<void>
  /** Gives back the conversation's memory. Safe to call twice. */
  dispose(): void
}

/** What was said, recovered from a snapshot without its model. */
export interface SnapshotText {
  /** Name of the model that answered. */
  readonly model: string
  /**
   * The system prompt and the turns, ready for `model.chat({ messages })`. Pictures are not in the text: those that came
   * from paths or addresses are named by them, the others are left out.
   */
  readonly turns: readonly ChatTurn[]
  /** Pictures that are left out of `turns`. */
  readonly missingImages: number
}

export interface SnapshotOptions {
  /** Aborting leaves what was there before. */
  readonly signal?: AbortSignal
}

export interface ModelInfo {
  /** Name of the folder or file. */
  readonly name: string
  /** As the file names it: `idefics3`, `llava`, `llama`, `qwen2`, … */
  readonly architecture: string
  readonly takesImages: boolean
  /** Tokens of one tile; 0 for text models. */
  readonly imageTokensPerTile: number
  readonly contextLength: number
  readonly precision: PrecisionName
  /** How keys and values of conversations are kept. */
  readonly kv: KvName
  /** `wasm-relaxed` or `wasm-baseline`. */
  readonly backend: string
  readonly threads: number
  /** Bytes of the files that were read. */
  readonly fileBytes: number
  /** Bytes in use by the engine now: weights, run state, conversations. */
  readonly allocatedBytes: number
  readonly loadMs: number
  /** What had to be guessed or left out, in words. */
  readonly warnings: readonly string[]
}

/** A text as a point: texts of similar meaning lie close together. */
export interface Embedding {
  /** Of length 1, so that the product of two is the cosine between them. As many numbers as the model has dimensions. */
  readonly vector: Float32Array
  /** Tokens of the text. */
  readonly tokens: number
}

export interface EmbedOptions {
  /** Aborting rejects with an `AbortError`. */
  readonly signal?: AbortSignal
}

export interface TraceRequest {
  /** A question that goes through the chat template … */
  readonly ask?: string
  /** … or the raw text of a prompt. `<image>` stands for the picture. */
  readonly prompt?: string
  readonly image?: ImageInput
  readonly detail?: Detail
  /** Greedy tokens that follow, stop tokens ignored. Default 64. */
  readonly greedyTokens?: number
}

/** Every stage of one run, by the names of the reference vectors. */
export interface TraceTensor {
  readonly name: string
  readonly shape: readonly number[]
  readonly data: Float32Array | Int32Array
}

/** What conversations are expected to begin with. */
export interface WarmUpOptions {
  /** Their system prompt. */
  readonly system?: string
  /** False for conversations without a template: nothing is computed for them to begin with. Default true. */
  readonly template?: boolean
  /** Pictures of their first message. */
  readonly images?: readonly ImageInput[]
  /** How closely these will be looked at. Default `auto`. */
  readonly detail?: Detail
  /** Most tokens that one of them may take, where that is less than the model was loaded with. */
  readonly imageTokens?: number
  /** Told about these pictures and the beginning; not about what is run once to be thrown away. */
  readonly onProgress?: (
    event: Extract<ChatEvent, { type: 'image-progressed' | 'image-encoded' | 'prompt-progressed' }>,
  ) => void
  readonly signal?: AbortSignal
}

export interface Model {
  readonly info: ModelInfo
  /** Defaults that the model's own generation_config sets. */
  readonly defaults: GenerationOptions
  chat(options?: ChatOptions): Chat
  /**
   * Makes the first question as fast as the tenth: runs everything once, which pages in weights, compiles kernels and
   * loads the picture decoder, then encodes the pictures and computes what conversations with this system prompt begin
   * with. Those that do copy it. The last four beginnings are kept, with the memory of their tokens. A question that is
   * asked meanwhile takes turns with it. Rejects with an `AbortError` when the signal is aborted.
   */
  warmUp(options?: WarmUpOptions): Promise<void>
  /**
   * Goes on with a conversation that `chat.save` wrote, with the tokens that it would have had. Only for the same model
   * at the same precision; `readSnapshotText` has what was said in any case.
   *
   * Throws `snapshot/foreign-model`, `snapshot/version`, `snapshot/truncated`, `snapshot/damaged` or
   * `snapshot/not-a-snapshot`.
   */
  restore(from: SnapshotSource, options?: SnapshotOptions): Promise<Chat>
  /**
   * A vector for each text: the mean of its tokens' last hidden states, behind the final norm, brought to length 1. These
   * models were trained to answer, not to compare, so expect less of it than of a model made for embeddings.
   *
   * Throws `text/empty-prompt` and `generation/context-full`.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Embedding[]>
  /**
   * Runs a prompt and returns `input_ids`, `pixel_values`, `vision`, `image_features`, `hidden.<i>`, `logits` and
   * `greedy`, to compare with Transformers layer by layer.
   */
  trace(request: TraceRequest): Promise<readonly TraceTensor[]>
  /** Gives back workers, memory and file handles. Conversations end. Safe to call twice. */
  dispose(): Promise<void>
}
