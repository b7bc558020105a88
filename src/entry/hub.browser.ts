/** Onsight's model store in a browser: pull, import, list, open, verify, remove, in the origin private file system. */
import { openPickedFolder } from '../host/browser/file-host.ts'
import { checkHubSettings, createBrowserHubPorts } from '../host/browser/hub/hub-ports.ts'
import { createOriginModelStorage } from '../host/browser/hub/origin-model-storage.ts'
import { type HubHost, ModelHub } from '../hub/model-hub.ts'
import { DEFAULT_ENDPOINT } from '../hub/ports.ts'
import { createStoredFolder } from '../hub/stored-folder.ts'
import { EngineError } from '../shared/errors.ts'
import type { ModelFolder } from '../shared/model-files.ts'

export { readDeviceFacts } from '../host/browser/hub/device-facts.ts'
export { estimateStorage, requestPersistence, type StorageSpace } from '../host/browser/hub/storage-space.ts'
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
export type { ModelFolder } from '../shared/model-files.ts'

/** Files that a person picked (inner folders of a picked folder do not count), or a directory handle. */
export type ImportableFiles = Iterable<File> | FileSystemDirectoryHandle

/** `open` gives what `loadModel`, `loadRecognizer` and `loadVoice` take. */
export type BrowserModelHub = ModelHub<ModelFolder, ImportableFiles>

export interface OpenHubOptions {
  /** Address of the hub or of a mirror, also relative to the page. Default `https://huggingface.co`. */
  readonly endpoint?: string
  /** For gated and private models. Sent to the endpoint only, never stored. */
  readonly token?: string
  /** Name of the folder in the origin private file system. Default `onsight`. */
  readonly folder?: string
}

/**
 * Opens this site's store. Fetching and importing need a dedicated worker, best the one that loads the model; listing,
 * opening, verifying and removing work in pages too.
 *
 * @example
 * const hub = await openModelHub()
 * await hub.pull('smolvlm-500m', { onEvent: (event) => self.postMessage(event) })
 * const model = await loadModel(await hub.open('smolvlm-500m'))
 *
 * @throws EngineError `hub/bad-endpoint`, `hub/bad-token`, `option/invalid` for options that cannot be meant.
 */
export async function openModelHub({
  endpoint = DEFAULT_ENDPOINT,
  token,
  folder = 'onsight',
}: OpenHubOptions = {}): Promise<BrowserModelHub> {
  const settings = checkHubSettings(endpoint, token)
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(folder)) {
    throw new EngineError('option/invalid', {
      message: `The option "folder" must be one name of letters, digits, "-" and "_"; found ${JSON.stringify(folder)}.`,
    })
  }
  const host: HubHost<ModelFolder, ImportableFiles> = {
    storage: createOriginModelStorage(folder),
    ports: await createBrowserHubPorts(),
    openStored: createStoredFolder,
    openFiles: async (files) => openPickedFolder(files),
  }
  return new ModelHub(host, settings)
}
