/** From a reference to a stored model. */
import { createAbortError, throwIfAborted } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { CATALOGUE } from './catalogue.ts'
import { type DownloadContext, downloadFile, type FileEvent, plannedHash } from './download-file.ts'
import { HttpClient } from './http-client.ts'
import { Journal } from './journal.ts'
import type { StoredFile } from './manifest.ts'
import type { ModelStore, StoredModel } from './model-store.ts'
import { type PlannedFile, type PullPlan, planFile, planRepository } from './plan.ts'
import type { HubPorts, HubSettings } from './ports.ts'
import { parseReference } from './reference.ts'
import { checkSpace, describeNeed } from './space.ts'
import type { DraftStorage } from './storage.ts'

/** More connections do not make a home line faster, and servers dislike them. */
const MAX_AT_ONCE = 3

export interface PullOptions {
  /** Branch, tag or commit. Default: the repository's main branch. */
  readonly revision?: string
  /**
   * Weights to take instead of the default choice: paths, file names, or quantisations such as `Q8_0`. A text model
   * and a projector may be named.
   */
  readonly files?: readonly string[]
  readonly signal?: AbortSignal
  readonly onEvent?: (event: PullEvent) => void
}

export type PullEvent =
  | {
      readonly type: 'plan-made'
      readonly id: string
      readonly revision: string
      readonly licence: string | undefined
      /** `keptBytes` are on the disk from before. */
      readonly files: readonly {
        readonly name: string
        readonly byteLength: number | undefined
        readonly keptBytes: number
      }[]
      /** Of all files whose size is known. */
      readonly totalBytes: number
      readonly keptBytes: number
    }
  | FileEvent

/** What a pull would fetch. */
export interface PullPreview {
  readonly id: string
  readonly revision: string
  readonly licence: string | undefined
  readonly files: readonly { readonly name: string; readonly byteLength: number | undefined }[]
  /** Of all files whose size is known. */
  readonly totalBytes: number
  /** Whether exactly this is stored already. */
  readonly isStored: boolean
}

export interface PullResult {
  readonly model: StoredModel
  /** True when everything was there already and nothing was fetched. */
  readonly wasStored: boolean
}

export interface PullContext {
  readonly ports: HubPorts
  readonly settings: HubSettings
  readonly store: ModelStore
}

/** See `ModelHub.pull`. */
export async function pullModel(
  text: string,
  options: PullOptions,
  { ports, settings, store }: PullContext,
): Promise<PullResult> {
  await store.checkWritable()
  const client = new HttpClient(ports, settings)
  const plan = await makePlan(text, options, client, ports, settings)
  const stored = await store.get(plan)
  if (stored && isCurrent(stored, plan)) return { model: stored, wasStored: true }
  const draft = await store.openDraft(plan)
  try {
    // Another process may have finished it in the meantime.
    const finished = await store.get(plan)
    if (finished && isCurrent(finished, plan)) return { model: finished, wasStored: true }
    const files = await download(plan, draft, options, client, ports, store)
    const model = await store.commit(draft, {
      id: plan.id,
      revision: plan.revision,
      requestedRevision: plan.requestedRevision,
      variant: plan.variant,
      source: plan.source,
      ...(plan.licence !== undefined && { licence: plan.licence }),
      committedAt: new Date(ports.clock.now()).toISOString(),
      files,
    })
    return { model, wasStored: false }
  } finally {
    await draft.release()
  }
}

/** See `ModelHub.preview`. */
export async function previewPull(
  text: string,
  options: PullOptions,
  { ports, settings, store }: PullContext,
): Promise<PullPreview> {
  const plan = await makePlan(text, options, new HttpClient(ports, settings), ports, settings)
  const stored = await store.get(plan)
  const { id, revision, licence } = plan
  return {
    id,
    revision,
    licence,
    files: plan.files.map(({ name, byteLength }) => ({ name, byteLength })),
    totalBytes: sum(plan.files.map(({ byteLength = 0 }) => byteLength)),
    isStored: stored !== undefined && isCurrent(stored, plan),
  }
}

function makePlan(
  text: string,
  { revision, files = [], signal }: PullOptions,
  client: HttpClient,
  ports: HubPorts,
  settings: HubSettings,
): Promise<PullPlan> {
  const reference = parseReference(text, settings.endpoint)
  const retry = { clock: ports.clock, signal }
  if (reference === undefined) {
    throw new EngineError('hub/bad-reference', {
      message: `"${text}" is no model of the hub: expected owner/name, an address, or a name of the catalogue.`,
      hint: `The catalogue has ${CATALOGUE.map(({ name }) => name).join(', ')}.`,
    })
  }
  if (reference.kind === 'repository') {
    const named = revision === undefined ? reference : { ...reference, revision }
    return planRepository(client, settings, named, files, retry)
  }
  if (revision !== undefined || files.length > 0) {
    throw new EngineError('option/invalid', {
      message: `${reference.shownAddress} is the address of one file; a revision or a choice of files belongs to repositories.`,
      hint: 'Leave out --revision and --file, or give the id of the repository.',
    })
  }
  return planFile(client, ports, reference, retry)
}

/** Repositories are pinned to a commit; for other addresses the server's name for the content decides. */
function isCurrent(model: StoredModel, plan: PullPlan): boolean {
  if (model.damagedFiles.length > 0) return false
  return plan.files.every((planned) => {
    const file = model.files.find(({ name }) => name === planned.name)
    if (file === undefined) return false
    const isSameSize = planned.byteLength === undefined || planned.byteLength === file.byteLength
    return isSameSize && (planned.etag === undefined || planned.etag === file.etag)
  })
}

async function download(
  plan: PullPlan,
  draft: DraftStorage,
  { signal, onEvent = () => {} }: PullOptions,
  client: HttpClient,
  ports: HubPorts,
  store: ModelStore,
): Promise<StoredFile[]> {
  const journal = await Journal.load(draft, plan.id)
  const parts = await removeStrangers(plan, draft)
  const totalBytes = sum(plan.files.map(({ byteLength = 0 }) => byteLength))
  const { id, revision, licence } = plan
  const files = plan.files.map(({ name, byteLength }) => ({
    name,
    byteLength,
    keptBytes: parts.get(name) ?? 0,
  }))
  const keptBytes = sum(files.map(({ keptBytes }) => keptBytes))
  await checkSpace(id, totalBytes - keptBytes, store)
  onEvent({ type: 'plan-made', id, revision, licence, files, totalBytes, keptBytes })

  const controller = new AbortController()
  const onAbort = (): void => controller.abort(createAbortError())
  signal?.addEventListener('abort', onAbort, { once: true })
  const context: DownloadContext = {
    client,
    ports,
    draft,
    journal,
    gatePage: plan.gatePage,
    signal: controller.signal,
    onEvent,
  }
  const done: StoredFile[] = []
  const waiting = [...plan.files]
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (
      let file = waiting.shift();
      file !== undefined && !controller.signal.aborted;
      file = waiting.shift()
    ) {
      try {
        done.push(verifiedBefore(file, parts.get(file.name), journal) ?? (await downloadFile(file, context)))
      } catch (error) {
        // The first failure ends the others; what they throw then is no news.
        failures.push(error)
        controller.abort(createAbortError())
      }
    }
  }
  try {
    throwIfAborted(signal)
    await Promise.all(Array.from({ length: MAX_AT_ONCE }, work))
    throwIfAborted(signal)
    if (failures.length > 0)
      throw describeNeed(failures[0], id, totalBytes - sum([...(await draft.listParts()).values()]))
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  return done.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Files of an earlier plan, of another quantisation for example, would end up in the model. */
async function removeStrangers(plan: PullPlan, draft: DraftStorage): Promise<ReadonlyMap<string, number>> {
  const parts = await draft.listParts()
  const names = new Set(plan.files.map(({ name }) => name))
  for (const name of parts.keys()) if (!names.has(name)) await draft.removePart(name)
  return parts
}

/** Whole, verified and on the disk since an earlier run. */
function verifiedBefore(
  file: PlannedFile,
  partBytes: number | undefined,
  journal: Journal,
): StoredFile | undefined {
  const entry = journal.entry(file.name)
  if (entry?.sha256 === undefined || partBytes === undefined || entry.hash !== plannedHash(file))
    return undefined
  if (file.byteLength !== undefined && file.byteLength !== partBytes) return undefined
  if (entry.hash === undefined && (entry.etag === undefined || entry.etag !== file.etag)) return undefined
  return {
    name: file.name,
    byteLength: partBytes,
    sha256: entry.sha256,
    ...(entry.etag !== undefined && { etag: entry.etag }),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
