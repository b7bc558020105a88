/** Requests about stored models. They run in the engine's worker: only a worker may write to the private file system. */
import type {
  PullEvent,
  PullPreview,
  RemovedModel,
  StoredModel,
  UnfinishedModel,
  VerifyReport,
} from 'onsight/hub'

/** `hub` is the address of the hub or of a mirror. */
interface OfModel {
  readonly hub: string
  /** A name of the catalogue, an id, or an address. */
  readonly reference: string
}

export interface StoredModels {
  readonly stored: readonly StoredModel[]
  /** Downloads that were interrupted, and remains of models. */
  readonly unfinished: readonly UnfinishedModel[]
}

export interface VerifyProgress {
  readonly readBytes: number
  readonly totalBytes: number
}

export interface HubExchanges {
  'hub-list': { ask: { readonly hub: string }; event: never; result: StoredModels }
  /** What a download would fetch; asks the hub, stores nothing. */
  'hub-preview': { ask: OfModel; event: never; result: PullPreview }
  'hub-pull': { ask: OfModel; event: PullEvent; result: StoredModel }
  'hub-verify': { ask: OfModel; event: VerifyProgress; result: VerifyReport }
  'hub-remove': { ask: OfModel; event: never; result: readonly RemovedModel[] }
  'hub-import': {
    ask: { readonly hub: string; readonly files: readonly File[] }
    event: PullEvent
    result: StoredModel
  }
}
