/** What a reference means: which files, from where, how large, with which hashes. Nothing is written here. */
import { EngineError } from '../shared/errors.ts'
import { SMALL_MODEL_FILES } from '../shared/model-files.ts'
import { htmlInstead, isWebPage, lengthOf, totalOf } from './answer-content.ts'
import { chooseFiles } from './choose-files.ts'
import { baseNameOf, splitPartsOf, weightStemOf } from './file-names.ts'
import type { HttpClient } from './http-client.ts'
import type { HubPorts, HubSettings } from './ports.ts'
import type { FileReference, RepositoryReference } from './reference.ts'
import { fileAddress, loadRepository, pageOf, type RepositoryFile } from './repository.ts'
import { type RetryOptions, withRetries } from './retry.ts'

export interface PlannedFile {
  /** In the store; repositories may have it in a folder. */
  readonly name: string
  readonly address: string
  /** Undefined where the server does not tell. */
  readonly byteLength: number | undefined
  readonly sha256: string | undefined
  readonly gitSha1: string | undefined
  /** Content tag seen while planning. */
  readonly etag: string | undefined
}

export interface PullPlan {
  readonly id: string
  readonly revision: string
  readonly requestedRevision: string
  readonly variant: string
  readonly source: string
  readonly licence: string | undefined
  /** Page where a gated model's terms are accepted. */
  readonly gatePage: string | undefined
  /** The smallest first, so that what is wrong shows early. */
  readonly files: readonly PlannedFile[]
}

export async function planRepository(
  client: HttpClient,
  settings: HubSettings,
  reference: RepositoryReference,
  wanted: readonly string[],
  retry: RetryOptions,
): Promise<PullPlan> {
  const { id, revision = 'main', file } = reference
  const repository = await loadRepository(client, settings, id, revision, retry)
  const byPath = new Map(repository.files.map((file) => [file.path, file]))
  const names = file === undefined ? wanted : [file, ...wanted]
  const { variant, paths } = chooseFiles(id, [...byPath.keys()], names)
  const files = paths.map((path) => {
    const { byteLength, sha256, gitSha1 } = byPath.get(path) as RepositoryFile
    const address = fileAddress(settings, id, repository.commit, path)
    return { name: baseNameOf(path), address, byteLength, sha256, gitSha1, etag: undefined }
  })
  return {
    id,
    revision: repository.commit,
    requestedRevision: revision,
    variant,
    source: pageOf(settings, id),
    licence: repository.licence,
    gatePage: pageOf(settings, id),
    files: bySize(files),
  }
}

/** What safetensors cannot be loaded without. */
const REQUIRED_NAMES = ['config.json', 'tokenizer.json']

/** A file at any address: all its parts, and for safetensors the small files beside it. */
export async function planFile(
  client: HttpClient,
  ports: HubPorts,
  reference: FileReference,
  retry: RetryOptions,
): Promise<PullPlan> {
  const { address, shownAddress, id } = reference
  const fileName = baseNameOf(id)
  const parts = splitPartsOf(fileName)
  const isGguf = fileName.endsWith('.gguf')
  const index = parts.length > 1 && !isGguf ? [`${weightStemOf(fileName)}.safetensors.index.json`] : []
  const required = [...parts, ...index, ...(isGguf ? [] : REQUIRED_NAMES)]
  const optional = isGguf ? [] : SMALL_MODEL_FILES.filter((name) => !REQUIRED_NAMES.includes(name))
  const files: PlannedFile[] = []
  for (const name of [...required, ...optional]) {
    const isRequired = required.includes(name)
    const file = await probe(client, ports, siblingAddress(address, name), name, isRequired, retry)
    if (file) files.push(file)
  }
  const hasher = ports.createHash('sha256')
  hasher.update(new TextEncoder().encode(shownAddress))
  return {
    id,
    revision: hasher.digestHex().slice(0, 40),
    requestedRevision: 'address',
    variant: weightStemOf(fileName),
    source: shownAddress,
    licence: undefined,
    gatePage: undefined,
    files: bySize(files),
  }
}

/** The query stays: it may be what opens the door. */
function siblingAddress(address: string, name: string): string {
  const url = new URL(address)
  url.pathname = url.pathname.replace(/[^/]*$/, encodeURIComponent(name))
  return url.href
}

/** Asks for one byte, since servers answer HEAD differently or not at all. */
async function probe(
  client: HttpClient,
  ports: HubPorts,
  address: string,
  name: string,
  isRequired: boolean,
  retry: RetryOptions,
): Promise<PlannedFile | undefined> {
  try {
    const answer = await withRetries(retry, () =>
      client.get(address, { what: name, headers: { range: 'bytes=0-0' }, signal: retry.signal }),
    )
    await answer.cancel()
    const { headers, status } = answer.response
    if (isWebPage(headers)) throw htmlInstead(name, address)
    const length =
      status === 206 ? totalOf(headers.get('content-range')) : lengthOf(headers, ports.hidesHeaders)
    const { sha256, contentTag: etag } = answer
    return { name, address, byteLength: length, sha256, gitSha1: undefined, etag }
  } catch (error) {
    const isAbsent = EngineError.isInstance(error) && ['hub/not-found', 'hub/html'].includes(error.code)
    // An empty file has no first byte.
    if (EngineError.isInstance(error) && error.code === 'hub/bad-range') {
      return { name, address, byteLength: 0, sha256: undefined, gitSha1: undefined, etag: undefined }
    }
    if (isAbsent && !isRequired) return undefined
    throw error
  }
}

function bySize(files: readonly PlannedFile[]): PlannedFile[] {
  return [...files].sort((a, b) => (a.byteLength ?? 0) - (b.byteLength ?? 0))
}
