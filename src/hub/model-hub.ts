/** Everything that can be done with stored models, on one set of ports. */
import type { LocatedModel } from '../shared/model-files.ts'
import {
  type FoundModel,
  ModelStore,
  notStored,
  type RemovedModel,
  type StoredModel,
  type UnfinishedModel,
} from './model-store.ts'
import type { HubPorts, HubSettings } from './ports.ts'
import { type PullOptions, type PullResult, pullModel } from './pull.ts'
import { parseReference } from './reference.ts'
import { type LocateRemoteOptions, locateRemoteModel } from './remote-model.ts'
import type { ModelStorage } from './storage.ts'
import { type VerifyOptions, type VerifyReport, verifyModel } from './verify.ts'

/**
 * Fetches models and keeps them. References are names of the catalogue (`smolvlm-500m`), ids of the hub
 * (`owner/name`, `owner/name@revision`, `owner/name/file.gguf`), or addresses of `.gguf` and `.safetensors` files.
 */
export class ModelHub {
  readonly #ports: HubPorts
  readonly #settings: HubSettings
  readonly #store: ModelStore

  constructor(storage: ModelStorage, ports: HubPorts, settings: HubSettings) {
    this.#ports = ports
    this.#settings = settings
    this.#store = new ModelStore(storage, settings.endpoint)
  }

  /**
   * Fetches what a model needs and nothing else, goes on where an earlier try stopped, and stores it when every hash
   * is right. Rejects with an `AbortError` when the signal is aborted; what was fetched stays for the next time.
   *
   * @throws EngineError `hub/…`: not found, gated, unreachable, damaged on the way, locked, no space, and others.
   */
  pull(reference: string, options: PullOptions = {}): Promise<PullResult> {
    return pullModel(reference, options, { ports: this.#ports, settings: this.#settings, store: this.#store })
  }

  /** Whether a text can mean a model of the hub at all; paths cannot. */
  isReference(text: string): boolean {
    return parseReference(text, this.#settings.endpoint) !== undefined
  }

  /**
   * A model's files where they lie on the hub, read in ranges; nothing is stored. Undefined when the text is no
   * reference.
   *
   * @throws EngineError `hub/…`.
   */
  locateRemote(reference: string, options: LocateRemoteOptions = {}): Promise<LocatedModel | undefined> {
    return locateRemoteModel(reference, this.#ports, this.#settings, options)
  }

  /** Complete models by id, of each the newest first. */
  list(): Promise<readonly StoredModel[]> {
    return this.#store.list()
  }

  /** What interrupted downloads have left, and folders that are no whole models. */
  listUnfinished(): Promise<readonly UnfinishedModel[]> {
    return this.#store.listUnfinished()
  }

  /**
   * The stored model that a reference means; undefined when there is none.
   *
   * @throws EngineError `hub/ambiguous-model` when several kinds of its weights are stored.
   */
  find(reference: string): Promise<FoundModel | undefined> {
    return this.#store.find(reference)
  }

  /**
   * Reads a stored model's files again and compares size and SHA-256 with what was pulled.
   *
   * @throws EngineError `hub/not-stored`.
   */
  async verify(reference: string, options: VerifyOptions = {}): Promise<VerifyReport> {
    const found = await this.#store.find(reference)
    if (found === undefined) throw notStored(reference)
    return this.verifyStored(found.model, options)
  }

  /** The same for a model of `list`. */
  verifyStored(model: StoredModel, options: VerifyOptions = {}): Promise<VerifyReport> {
    return verifyModel(model, this.#store, this.#ports, options)
  }

  /**
   * Deletes every stored model and unfinished download that the reference means: all revisions unless it names one,
   * all weights unless it names a file.
   *
   * @throws EngineError `hub/not-stored`, `hub/locked`.
   */
  remove(reference: string): Promise<readonly RemovedModel[]> {
    return this.#store.remove(reference)
  }
}
