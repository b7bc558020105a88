/** The models that were pulled, over any storage. */
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import { baseNameOf } from './file-names.ts'
import { parseJournalId } from './journal.ts'
import { encodeManifest, type ModelManifest, parseManifest } from './manifest.ts'
import { LOCAL_OWNER, type ModelReference, parseReference } from './reference.ts'
import type { DraftStorage, FolderPath, KeptFolder, ModelStorage } from './storage.ts'

/** Enough to tell commits of one repository apart. */
const SHOWN_COMMIT_LENGTH = 12

export interface StoredModel extends ModelManifest {
  /** In Node the path of its folder, which `loadModel` takes; in a browser for people only. */
  readonly location: string
  /** Of all files together, as they were stored. */
  readonly byteLength: number
  /** Names of files that are gone or have another size; empty for a whole model. Bytes are compared by `verify` only. */
  readonly damagedFiles: readonly string[]
}

/** What an interrupted download, one that runs now, or a damaged folder holds. */
export interface UnfinishedModel {
  readonly id: string
  readonly location: string
  readonly byteLength: number
}

export interface RemovedModel {
  readonly id: string
  /** Undefined for what was never finished. */
  readonly revision: string | undefined
  readonly freedBytes: number
}

/** The model, and the file in it when the reference names one. */
export interface FoundModel {
  readonly model: StoredModel
  readonly fileName: string | undefined
}

interface Unfinished extends UnfinishedModel {
  readonly path: FolderPath
  readonly isDraft: boolean
}

export class ModelStore {
  readonly #storage: ModelStorage
  readonly #endpoint: string

  /** @param endpoint Addresses of this hub or mirror mean its repositories. */
  constructor(storage: ModelStorage, endpoint: string) {
    this.#storage = storage
    this.#endpoint = endpoint
  }

  /** Complete models by id, of each the newest first. */
  async list(): Promise<readonly StoredModel[]> {
    const models: StoredModel[] = []
    for (const folder of await this.#storage.listModels()) {
      const manifest = manifestOf(folder)
      if (manifest === undefined) continue
      const damagedFiles = manifest.files
        .filter(({ name, byteLength }) => folder.files.get(name) !== byteLength)
        .map(({ name }) => name)
      models.push({ ...manifest, location: folder.location, byteLength: sizeOf(manifest), damagedFiles })
    }
    return models.sort(
      (a, b) => compare(a.id, b.id) || compare(b.committedAt, a.committedAt) || compare(a.variant, b.variant),
    )
  }

  async listUnfinished(): Promise<readonly UnfinishedModel[]> {
    return (await this.#unfinished()).map(({ id, location, byteLength }) => ({ id, location, byteLength }))
  }

  /**
   * The stored model that a reference means; undefined when there is none, or the text is no reference.
   *
   * @throws EngineError `hub/ambiguous-model` when several kinds of weights of the same model are stored.
   */
  async find(text: string): Promise<FoundModel | undefined> {
    const reference = this.#parse(text)
    if (reference === undefined) return undefined
    const models = (await this.list()).filter((model) => isMeant(model, reference))
    const [newest] = models
    if (newest === undefined) return undefined
    const variants = new Set(models.map(({ variant }) => variant))
    const file = reference.kind === 'repository' ? reference.file : undefined
    if (variants.size > 1 && file === undefined) {
      throw new EngineError('hub/ambiguous-model', {
        message: `${text}: several kinds of weights are stored: ${[...variants].join(', ')}.`,
        hint: `Name the file too: ${newest.id}/${weightsOf(newest)}`,
      })
    }
    return { model: newest, fileName: file === undefined ? undefined : baseNameOf(file) }
  }

  /** The model of exactly this revision and these weights. */
  async get({
    id,
    revision,
    variant,
  }: Pick<ModelManifest, 'id' | 'revision' | 'variant'>): Promise<StoredModel | undefined> {
    return (await this.list()).find(
      (model) => model.id === id && model.revision === revision && model.variant === variant,
    )
  }

  open(model: StoredModel, fileName: string): Promise<ByteSource> {
    return this.#storage.open(modelPath(model), fileName)
  }

  openDraft({ id, variant }: Pick<ModelManifest, 'id' | 'variant'>): Promise<DraftStorage> {
    return this.#storage.openDraft([...id.split('/'), variant])
  }

  /** @throws EngineError `hub/locked` while somebody works on it. */
  removeDraft({ id, variant }: Pick<ModelManifest, 'id' | 'variant'>): Promise<void> {
    return this.#storage.removeDraft([...id.split('/'), variant])
  }

  async commit(draft: DraftStorage, manifest: ModelManifest): Promise<StoredModel> {
    await draft.commit(modelPath(manifest), encodeManifest(manifest))
    const model = await this.get(manifest)
    if (model) return model
    throw new EngineError('hub/write-failed', {
      message: `${this.#storage.name}: ${manifest.id} was written but is not there.`,
      hint: 'Another program may have removed it; pull it again.',
    })
  }

  /** See `ModelStorage.checkWritable`. */
  checkWritable(): Promise<void> {
    return this.#storage.checkWritable()
  }

  freeBytes(): Promise<number | undefined> {
    return this.#storage.freeBytes()
  }

  /**
   * Deletes every stored model and unfinished download that the reference means: all revisions unless it names one,
   * all weights unless it names a file.
   *
   * @throws EngineError `hub/not-stored` when there is none.
   */
  async remove(text: string): Promise<readonly RemovedModel[]> {
    const reference = this.#parse(text)
    const removed: RemovedModel[] = []
    if (reference) {
      for (const model of (await this.list()).filter((model) => isMeant(model, reference))) {
        await this.#storage.removeModel(modelPath(model))
        removed.push({ id: model.id, revision: model.revision, freedBytes: model.byteLength })
      }
      const isWhole =
        reference.kind === 'url' || (reference.revision === undefined && reference.file === undefined)
      for (const { id, path, isDraft, byteLength } of isWhole ? await this.#unfinished() : []) {
        if (id !== reference.id) continue
        await (isDraft ? this.#storage.removeDraft(path) : this.#storage.removeModel(path))
        removed.push({ id, revision: undefined, freedBytes: byteLength })
      }
    }
    if (removed.length === 0) throw notStored(text)
    return removed
  }

  /** Imported models are named without their owner, unless the catalogue has the name. */
  #parse(text: string): ModelReference | undefined {
    return parseReference(text, this.#endpoint) ?? parseReference(`${LOCAL_OWNER}/${text}`, this.#endpoint)
  }

  async #unfinished(): Promise<readonly Unfinished[]> {
    const drafts = (await this.#storage.listDrafts()).map((folder) => ({ ...folder, isDraft: true }))
    const damaged = (await this.#storage.listModels())
      .filter((folder) => manifestOf(folder) === undefined)
      .map((folder) => ({ ...folder, isDraft: false }))
    return [...drafts, ...damaged].map(({ path, location, files, description, isDraft }) => ({
      id: (isDraft && parseJournalId(description ?? '')) || path.slice(0, 2).join('/'),
      path,
      location,
      byteLength: [...files.values()].reduce((sum, size) => sum + size, 0),
      isDraft,
    }))
  }
}

export function notStored(reference: string): EngineError {
  return new EngineError('hub/not-stored', {
    message: `${reference} is not among the stored models.`,
    hint: `onsight list shows what is stored; onsight pull ${reference} fetches it.`,
  })
}

export function damagedError({ id, files }: ModelManifest, damaged: readonly string[]): EngineError {
  const expected = files.filter(({ name }) => damaged.includes(name))
  const texts = expected.map(({ name, byteLength }) => `${name} (${byteLength} bytes)`)
  return new EngineError('hub/damaged', {
    message: `The stored model ${id} is damaged: expected ${texts.join(', ')}, found them gone or of another size.`,
    hint: `Pull ${id} again; what is there is replaced. Browsers may clear a site's data; see requestPersistence.`,
  })
}

/** A manifest that lies where it says it belongs; copies elsewhere would be removed by the wrong name. */
function manifestOf({ description, path }: KeptFolder): ModelManifest | undefined {
  const manifest = description === undefined ? undefined : parseManifest(description)
  return manifest && modelPath(manifest).join('/') === path.join('/') ? manifest : undefined
}

function modelPath({
  id,
  revision,
  variant,
}: Pick<ModelManifest, 'id' | 'revision' | 'variant'>): FolderPath {
  return [...id.split('/'), `${revision.slice(0, SHOWN_COMMIT_LENGTH)}+${variant}`]
}

function isMeant(model: ModelManifest, reference: ModelReference): boolean {
  if (model.id !== reference.id) return false
  if (reference.kind === 'url') return model.source === reference.shownAddress
  const { revision, file } = reference
  const isRevision =
    revision === undefined ||
    model.requestedRevision === revision ||
    (/^[0-9a-f]{7,40}$/.test(revision) && model.revision.startsWith(revision))
  return isRevision && (file === undefined || model.files.some(({ name }) => name === baseNameOf(file)))
}

/** The file that names a model's weights best: its text model, not its projector. */
function weightsOf({ files }: ModelManifest): string {
  const weights = files.map(({ name }) => name).filter((name) => /\.(gguf|safetensors)$/.test(name))
  return weights.find((name) => !/mmproj/i.test(name)) ?? weights[0] ?? ''
}

function sizeOf({ files }: ModelManifest): number {
  return files.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
