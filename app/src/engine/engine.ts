/**
 * What the page knows of the engine, which runs in a worker: the library's own interfaces, passed through. The page
 * never computes; nothing here blocks it.
 */
import type { Chat, ChatOptions, LoadModelOptions, ModelInfo, WarmUpOptions } from 'onsight'
import type { Recognizer, Voice } from 'onsight/speech'

/** A conversation in the worker. `turns` is as of the last answer that began or ended. */
export type EngineChat = Pick<Chat, 'turns' | 'send' | 'edit' | 'regenerate' | 'cutAnswer' | 'dispose'>

/** A model in the worker. Usable as the local side of `createRoutedModel` of `onsight/assistant`. */
export interface EngineModel {
  readonly info: ModelInfo
  chat(options?: ChatOptions): EngineChat
  warmUp(options?: Omit<WarmUpOptions, 'onProgress'>): Promise<void>
  dispose(): Promise<void>
}

/**
 * Where a model is: `bundled:tiny` (comes with the page), `stored:NAME` (in the origin private file system), or files that
 * a person picked.
 */
export type ModelPlace = `bundled:${string}` | `stored:${string}` | readonly File[]

export interface Engine {
  loadModel(place: ModelPlace, options?: LoadModelOptions): Promise<EngineModel>
  loadRecognizer(place: ModelPlace, options?: { readonly signal?: AbortSignal }): Promise<Recognizer>
  loadVoice(place: ModelPlace, options?: { readonly signal?: AbortSignal }): Promise<Voice>
  /** Ends the worker and with it everything that was loaded. Safe to call twice. */
  dispose(): void
}
