/** A model on the hub, read in ranges where it lies: for looking into it before fetching it. */
import type { ByteSource } from '../shared/byte-source.ts'
import { EngineError } from '../shared/errors.ts'
import { type Fetch, openHttpSource } from '../shared/http-source.ts'
import { createMemorySource } from '../shared/memory-source.ts'
import type { LocatedModel, ModelFolder } from '../shared/model-files.ts'
import { chooseFiles } from './choose-files.ts'
import { baseNameOf } from './file-names.ts'
import { type HttpAnswer, HttpClient } from './http-client.ts'
import type { HubPorts, HubSettings } from './ports.ts'
import { type FileReference, parseReference, type RepositoryReference } from './reference.ts'
import { fileAddress, loadRepository, pageOf, type Repository } from './repository.ts'
import { withRetries } from './retry.ts'

/** Says licence and languages. */
const CARD = 'README.md'

export interface LocateRemoteOptions {
  readonly revision?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * The files of a reference as a folder. Of a repository with several models the one that `pull` would choose.
 *
 * @returns undefined when the text is no reference, for example a path.
 * @throws EngineError `hub/…`; reading a file from a server that ignores ranges is `hub/no-ranges`.
 */
export async function locateRemoteModel(
  text: string,
  ports: HubPorts,
  settings: HubSettings,
  options: LocateRemoteOptions = {},
): Promise<LocatedModel | undefined> {
  const reference = parseReference(text, settings.endpoint)
  if (reference === undefined) return undefined
  const reader = new RemoteReader(ports, settings, options.signal)
  if (reference.kind === 'url') return locateFile(reference, reader)
  const revision = options.revision ?? reference.revision ?? 'main'
  return { folder: await openRepository(reference, revision, reader), fileName: undefined }
}

function locateFile({ address, shownAddress, id }: FileReference, reader: RemoteReader): LocatedModel {
  const fileName = baseNameOf(id)
  const folder: ModelFolder = {
    name: shownAddress.slice(0, shownAddress.lastIndexOf('/')),
    list: async () => [fileName],
    open: async (name) => {
      if (name !== fileName) throw notThere(shownAddress, name)
      return reader.open(address, shownAddress)
    },
  }
  return { folder, fileName }
}

async function openRepository(
  reference: RepositoryReference,
  revision: string,
  reader: RemoteReader,
): Promise<ModelFolder> {
  const repository = await reader.loadRepository(reference.id, revision)
  const paths = new Map(choosePaths(repository, reference.file).map((path) => [baseNameOf(path), path]))
  return {
    name: reference.id,
    list: async () => [...paths.keys()],
    open: async (name) => {
      const path = paths.get(name)
      if (path === undefined) throw notThere(reference.id, name)
      return reader.openFile(repository, path)
    },
  }
}

/** What `pull` would fetch; of a repository that it would refuse everything at the top, so that others can say why. */
function choosePaths({ id, files }: Repository, wanted: string | undefined): readonly string[] {
  const paths = files.map(({ path }) => path)
  const cards = paths.filter((path) => path === CARD)
  try {
    return [...chooseFiles(id, paths, wanted === undefined ? [] : [wanted]).paths, ...cards]
  } catch (error) {
    if (!EngineError.isInstance(error) || wanted !== undefined) throw error
    return paths.filter((path) => !path.includes('/'))
  }
}

class RemoteReader {
  readonly #client: HttpClient
  readonly #ports: HubPorts
  readonly #settings: HubSettings
  readonly #signal: AbortSignal | undefined

  constructor(ports: HubPorts, settings: HubSettings, signal: AbortSignal | undefined) {
    this.#client = new HttpClient(ports, settings)
    this.#ports = ports
    this.#settings = settings
    this.#signal = signal
  }

  loadRepository(id: string, revision: string): Promise<Repository> {
    const retry = { clock: this.#ports.clock, signal: this.#signal }
    return loadRepository(this.#client, this.#settings, id, revision, retry)
  }

  async openFile({ id, commit, files }: Repository, path: string): Promise<ByteSource> {
    // Of nothing there are no ranges.
    if (files.find((file) => file.path === path)?.byteLength === 0)
      return createMemorySource(`${id}/${path}`, new Uint8Array())
    const address = fileAddress(this.#settings, id, commit, path)
    return this.open(address, `${id}/${path}`, pageOf(this.#settings, id))
  }

  async open(address: string, what: string, gatePage?: string): Promise<ByteSource> {
    const source = await openHttpSource(this.#rangeFetch(what, gatePage), address)
    if (source === undefined) throw notThere(what, baseNameOf(what))
    return {
      name: what,
      byteLength: source.byteLength,
      readInto: (target, byteOffset) => source.readInto(target, byteOffset),
      close: () => source.close(),
    }
  }

  #rangeFetch(what: string, gatePage: string | undefined): Fetch {
    return async (url, init) => {
      const range = new Headers(init?.headers).get('range')
      const answer = await withRetries({ clock: this.#ports.clock, signal: this.#signal }, () =>
        this.#client.get(url, {
          what,
          signal: this.#signal,
          headers: range === null ? {} : { range },
          ...(gatePage !== undefined && { gatePage }),
        }),
      )
      const { status, headers } = answer.response
      const wanted = wantedBytes(range)
      if (status === 200 && !(Number(headers.get('content-length') ?? Number.NaN) <= wanted)) {
        await answer.cancel()
        throw new EngineError('hub/no-ranges', {
          message: `${what}: asked for a part, but the server sends the whole file; expected status 206, found ${status}.`,
          hint: 'Fetch the model first (onsight pull) and look into the files here.',
        })
      }
      return new Response(await readBody(answer, wanted), { status, headers })
    }
  }
}

/** More than was asked for is not waited for; whoever asked sees by the length that something is wrong. */
async function readBody(answer: HttpAnswer, wanted: number): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let byteLength = 0
  for await (const chunk of answer.readChunks()) {
    chunks.push(new Uint8Array(chunk))
    byteLength += chunk.byteLength
    if (byteLength > wanted) break
  }
  return new Blob(chunks)
}

/** `bytes=0-1023` → 1024. */
function wantedBytes(range: string | null): number {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  return first === undefined ? Number.POSITIVE_INFINITY : Number(last) - Number(first) + 1
}

function notThere(where: string, name: string): EngineError {
  return new EngineError('file/not-found', {
    message: `${where}: there is no file ${name}.`,
    hint: 'Check the spelling; upper and lower case count.',
  })
}
