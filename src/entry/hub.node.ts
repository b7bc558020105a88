/** Onsight's model store in Node: pull, list, verify, remove. */

import { dataFolder } from '../host/node/data-folder.ts'
import { openModelFolder } from '../host/node/file-host.ts'
import { createNodeHubPorts, loadHubSettings } from '../host/node/hub-ports.ts'
import { createNodeModelStorage } from '../host/node/model-storage.ts'
import { type HubHost, ModelHub } from '../hub/model-hub.ts'
import { DEFAULT_ENDPOINT } from '../hub/ports.ts'

export { listOtherModels, type OtherModel, type OtherProgram } from '../host/node/other-models.ts'
export { CATALOGUE, type CatalogueEntry } from '../hub/catalogue.ts'
export type { FileEvent, RestartReason } from '../hub/download-file.ts'
export { type DeviceFacts, type DeviceFit, type FitReason, fitDevice } from '../hub/fit-device.ts'
export type { ImportOptions } from '../hub/import-model.ts'
export type { ModelManifest, StoredFile } from '../hub/manifest.ts'
export type { ModelHub } from '../hub/model-hub.ts'
export type { FoundModel, RemovedModel, StoredModel, UnfinishedModel } from '../hub/model-store.ts'
export type { PullEvent, PullOptions, PullPreview, PullResult } from '../hub/pull.ts'
export type { FileState, FileVerdict, VerifyOptions, VerifyReport } from '../hub/verify.ts'

export { EngineError, type ErrorArea, type ErrorCode } from '../shared/errors.ts'

export interface OpenHubOptions {
  /** Instead of the process's environment: `ONSIGHT_HOME`, `HF_ENDPOINT`, `HF_TOKEN` and the folders of the system. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * Opens the store of this user. Nothing is made on the disk, and nobody is asked anything, before a model is pulled.
 *
 * @example
 * const hub = await openModelHub()
 * const { model } = await hub.pull('smolvlm-500m', { onEvent: (event) => console.log(event.type) })
 * const vision = await loadModel(model.location)
 *
 * @throws EngineError `hub/bad-endpoint`, `hub/bad-token` for values that cannot be meant.
 */
export async function openModelHub({ env = process.env }: OpenHubOptions = {}): Promise<ModelHub> {
  const settings = await loadHubSettings(DEFAULT_ENDPOINT, env)
  const host: HubHost<string, string> = {
    storage: createNodeModelStorage(dataFolder(env)),
    ports: createNodeHubPorts(),
    openStored: ({ location }) => location,
    openFiles: openModelFolder,
  }
  return new ModelHub(host, settings)
}
