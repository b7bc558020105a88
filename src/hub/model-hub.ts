/** Everything that can be done with stored models, on one set of ports. */
import type { ByteSource } from '../shared/byte-source.ts'
import type { LocatedModel, ModelFolder } from '../shared/model-files.ts'
import { type ImportOptions, importModel } from './import-model.ts'
import {
  damagedError,
  type FoundModel,
  ModelStore,
  notStored,
  type RemovedModel,
  type StoredModel,
  type UnfinishedModel,
} from './model-store.ts'
import type { HubPorts, HubSettings } from './ports.ts'
import { type PullOptions, type PullPreview, type PullResult, previewPull, pullModel } from './pull.ts'
import { parseReference } from './reference.ts'
import { type LocateRemoteOptions, locateRemoteModel } from './remote-model.ts'
import type { ModelStorage } from './storage.ts'
import { type VerifyOptions, type VerifyReport, verifyModel } from './verify.ts'

/** What a host does for the hub. */
export interface HubHost<Opened, Files> {
  readonly storage: ModelStorage
  readonly ports: HubPorts
  /** Makes a stored model's files into what this host loads models from. */
  openStored(model: StoredModel, openFile: (fileName: string) => Promise<ByteSource>): Opened
  /** Makes what a person gives into a folder. */
  openFiles(files: Files): Promise<ModelFolder>
}

/**
 * Fetches models and keeps them. References are names of the catalogue (`smolvlm-500m`), ids of the hub
 * (`owner/name`, `owner/name@revision`, `owner/name/file.gguf`), or addresses of `.gguf` and `.safetensors` files.
 *
 * @typeParam Opened What this host's `loadModel` takes of a stored model: a path in Node, a folder in a browser.
 * @typeParam Files What models are imported from: the path of a folder in Node, files or a directory handle in a browser.
 */
export class ModelHub<Opened = string, Files = string> {
  readonly #ports: HubPorts
  readonly #settings: HubSettings
  readonly #store: ModelStore
  readonly #host: HubHost<Opened, Files>

  constructor(host: HubHost<Opened, Files>, settings: HubSettings) {
    this.#ports = host.ports
    this.#settings = settings
    this.#store = new ModelStore(host.storage, settings.endpoint)
    this.#host = host
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

  /**
   * Copies a model that is at hand into the store, as `local/NAME`, with the checks of a pull: a known format, whole files,
   * a projector that fits. What is no part of the model is left out. An import that fails or is aborted leaves nothing.
   *
   * @throws EngineError `hub/no-weights`, `hub/ambiguous-file`, `hub/projector-mismatch`, `hub/no-space`, `hub/locked`,
   *   `format/…` for damaged files, `option/invalid` for the name.
   */
  async importFiles(files: Files, options: ImportOptions = {}): Promise<PullResult> {
    const folder = await this.#host.openFiles(files)
    return importModel(folder, options, { ports: this.#ports, store: this.#store })
  }

  /**
   * What `pull` would fetch, with sizes and licence; nothing is fetched or stored.
   *
   * @throws EngineError `hub/…` as `pull` does before it fetches.
   */
  preview(reference: string, options: Omit<PullOptions, 'onEvent'> = {}): Promise<PullPreview> {
    return previewPull(reference, options, {
      ports: this.#ports,
      settings: this.#settings,
      store: this.#store,
    })
  }

  /**
   * What `loadModel` takes of a stored model.
   *
   * @throws EngineError `hub/not-stored`; `hub/damaged` when files of it are gone or have another size.
   */
  async open(reference: string): Promise<Opened> {
    const found = await this.#store.find(reference)
    if (found === undefined) throw notStored(reference)
    const { model } = found
    if (model.damagedFiles.length > 0) throw damagedError(model, model.damagedFiles)
    return this.#host.openStored(model, (fileName) => this.#store.open(model, fileName))
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
