/** The model that answers, as the screens see it. */
import type { ReadonlySignal } from '@preact/signals'
import type { EngineModel } from '../engine/engine.ts'

export type ModelState =
  | {
      readonly state: 'loading'
      readonly name: string
      readonly loadedBytes: number
      readonly totalBytes: number
    }
  | { readonly state: 'ready'; readonly name: string; readonly model: EngineModel }
  | { readonly state: 'failed'; readonly name: string; readonly error: unknown }

export interface CurrentModel {
  readonly state: ReadonlySignal<ModelState>
  /** Resolves with the model once it is ready; rejects when loading fails or `signal` is aborted. */
  ready(signal?: AbortSignal): Promise<EngineModel>
  /** Loads again after a failure, or when the worker was lost. */
  reload(): void
}
