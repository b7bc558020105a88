/**
 * A server that behaves like the Hugging Face hub, and one that behaves like its object store on another port. Faults
 * happen on demand: each is used up by one request of the file's content.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Fault =
  /** The connection breaks after so many bytes of the answer. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Nothing comes after so many bytes, and the connection stays open. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** The whole file with status 200, whatever was asked for. */
  | { readonly kind: 'ignore-range' }
  /** An answer of this status, from the object store where the file lies there. */
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Record<string, string> }
  /** A login page with status 200. */
  | { readonly kind: 'html'; readonly type?: string }
  /** One byte of the file is another. */
  | { readonly kind: 'corrupt'; readonly atByte: number }
  /** The hub redirects to itself. */
  | { readonly kind: 'redirect-loop' }
  /** The hub redirects to this address. */
  | { readonly kind: 'redirect-to'; readonly location: string }
  /** No Content-Length, as for files that are made while they are sent. */
  | { readonly kind: 'unknown-length' }
  /** Comes in pieces with a pause after each, so that something can happen meanwhile. */
  | { readonly kind: 'slow'; readonly pieceBytes: number; readonly pauseMs: number }
  /** Called before the answer. */
  | { readonly kind: 'call'; readonly run: () => void }

export interface FakeRepository {
  readonly files: Readonly<Record<string, Uint8Array | string>>
  readonly licence?: string
  /** Content needs a token whose account has accepted the licence; `gated-reader` is one. */
  readonly isGated?: boolean
  /** Branches and tags beside main, by name: other files. */
  readonly revisions?: Readonly<Record<string, Readonly<Record<string, Uint8Array | string>>>>
}

export interface FakeRequest {
  readonly server: 'hub' | 'store'
  readonly path: string
  readonly range: string | undefined
  readonly authorization: string | undefined
}

interface StoredBlob {
  readonly bytes: Buffer
  readonly sha256: string
  readonly gitSha1: string
  readonly isLarge: boolean
}

/** Tokens: this one may read gated repositories, any other is known but has not accepted. */
export const GOOD_TOKEN = 'hf_gated_reader'
const PAGE_SIZE = 5

export class FakeHub {
  readonly requests: FakeRequest[] = []
  readonly #hub: Server
  readonly #store: Server
  readonly #repositories = new Map<string, FakeRepository>()
  readonly #faults = new Map<string, Fault[]>()
  /** Object store: by address. */
  readonly #objects = new Map<string, { blob: StoredBlob; path: string }>()
  readonly #sentBytes = new Map<string, number>()
  #etagSuffix = ''

  private constructor() {
    this.#hub = createServer((request, response) => this.#guard('hub', request, response))
    this.#store = createServer((request, response) => this.#guard('store', request, response))
  }

  static async start(): Promise<FakeHub> {
    const fake = new FakeHub()
    for (const server of [fake.#hub, fake.#store])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return fake
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#store]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  get endpoint(): string {
    return originOf(this.#hub)
  }

  get storeOrigin(): string {
    return originOf(this.#store)
  }

  setRepository(id: string, repository: FakeRepository): void {
    this.#repositories.set(id, repository)
  }

  /** The next requests of this file's content meet these faults, one each. */
  addFaults(path: string, ...faults: readonly Fault[]): void {
    this.#faults.set(path, [...(this.#faults.get(path) ?? []), ...faults])
  }

  /** From now on the hub calls all contents otherwise. */
  changeEtags(suffix: string): void {
    this.#etagSuffix = suffix
  }

  /** Ranges that were asked for, in order; undefined for whole files. */
  rangesOf(path: string): (string | undefined)[] {
    return this.requests
      .filter((request) => request.server === 'hub' && request.path.endsWith(`/${path}`))
      .map(({ range }) => range)
  }

  /** Of a file's content, in all answers so far. */
  sentBytesOf(path: string): number {
    return this.#sentBytes.get(path) ?? 0
  }

  /** Stands for the commit of a branch: it changes with any file. */
  commitOf(id: string, revision = 'main'): string {
    const repository = this.#repositories.get(id)
    const files = revision === 'main' ? repository?.files : repository?.revisions?.[revision]
    const hash = createHash('sha1').update(id)
    for (const [path, content] of Object.entries(files ?? {}))
      hash.update(path).update(blobOf(path, content).sha256)
    return hash.digest('hex')
  }

  #guard(server: FakeRequest['server'], request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://server')
    const { range, authorization } = request.headers
    this.requests.push({ server, path: decodeURIComponent(url.pathname), range, authorization })
    // Clients that leave are part of the game.
    response.on('error', () => {})
    if (server === 'store') this.#serveObject(url, request, response)
    else this.#serveHub(url, request, response)
  }

  #serveHub(url: URL, request: IncomingMessage, response: ServerResponse): ServerResponse {
    const names = url.pathname.split('/').slice(1).map(decodeURIComponent)
    if (names[0] === 'api') return this.#serveApi(names.slice(2), url, request, response)
    if (names[0] === 'plain') return this.#servePlain(names.slice(1).join('/'), request, response)
    const [owner, name, verb, commit = '', ...rest] = names
    const id = `${owner}/${name}`
    const path = rest.join('/')
    const repository = this.#repositories.get(id)
    const files = this.#filesAt(id, commit)
    const content = files?.[path]
    if (verb !== 'resolve' || repository === undefined || files === undefined || content === undefined) {
      return refuse(response, 404, 'EntryNotFound')
    }
    if (repository.isGated && request.headers.authorization !== `Bearer ${GOOD_TOKEN}`) {
      return refuse(response, request.headers.authorization === undefined ? 401 : 403, 'GatedRepo')
    }
    const blob = blobOf(path, content)
    const fault = this.#faults.get(path)?.[0]
    if (fault?.kind === 'redirect-loop' || fault?.kind === 'redirect-to') {
      this.#takeFault(path)
      response.writeHead(302, {
        location: fault.kind === 'redirect-to' ? fault.location : url.href.replace('http://server', ''),
      })
      return response.end()
    }
    const headers = { 'x-repo-commit': commit }
    if (!blob.isLarge) {
      const etag = `"${blob.gitSha1}${this.#etagSuffix}"`
      return this.#sendContent(path, blob, { ...headers, etag }, request, response)
    }
    const object = `/blobs/${blob.sha256}`
    this.#objects.set(object, { blob, path })
    response.writeHead(302, {
      ...headers,
      etag: `"${blob.sha256}${this.#etagSuffix}"`,
      'x-linked-etag': `"${blob.sha256}${this.#etagSuffix}"`,
      'x-linked-size': String(blob.bytes.byteLength),
      location: `${this.storeOrigin}${object}?X-Amz-Signature=secret-signature`,
    })
    return response.end()
  }

  #serveApi(
    names: readonly string[],
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
  ): ServerResponse {
    const [owner, name, verb, revision = ''] = names
    const id = `${owner}/${name}`
    const repository = this.#repositories.get(id)
    // As the hub does, so as not to tell which private repositories there are.
    if (repository === undefined) {
      return refuse(response, request.headers.authorization === undefined ? 401 : 404, 'RepoNotFound')
    }
    const fault = this.#takeFault('api')
    if (fault?.kind === 'status') return refuse(response, fault.status, 'ServerError', fault.headers)
    if (fault?.kind === 'html') return sendPage(response, fault.type)
    const commit = this.#resolve(id, revision)
    const files = commit === undefined ? undefined : this.#filesAt(id, commit)
    if (files === undefined) return refuse(response, 404, 'RevisionNotFound')
    if (verb === 'revision') {
      return sendJson(response, {
        id,
        sha: commit,
        gated: repository.isGated ?? false,
        cardData: { license: repository.licence },
      })
    }
    const entries = Object.entries(files).map(([path, content]) => {
      const { bytes, gitSha1, sha256, isLarge } = blobOf(path, content)
      const lfs = { oid: sha256, size: bytes.byteLength, pointerSize: 134 }
      return { type: 'file', oid: gitSha1, size: bytes.byteLength, path, ...(isLarge && { lfs }) }
    })
    const all = [{ type: 'directory', oid: '0'.repeat(40), size: 0, path: 'folder' }, ...entries]
    const start = Number(url.searchParams.get('cursor') ?? 0)
    const isLast = start + PAGE_SIZE >= all.length
    const next = `${this.endpoint}${url.pathname}?recursive=true&cursor=${start + PAGE_SIZE}`
    return sendJson(
      response,
      all.slice(start, start + PAGE_SIZE),
      isLast ? {} : { link: `<${next}>; rel="next"` },
    )
  }

  /** Files of the repository `plain`, without anything of the hub's around them. */
  #servePlain(path: string, request: IncomingMessage, response: ServerResponse): ServerResponse {
    const content = this.#repositories.get('plain')?.files[path]
    if (content === undefined) return refuse(response, 404, '')
    const blob = blobOf(path, content)
    return this.#sendContent(
      path,
      blob,
      { etag: `"${blob.sha256.slice(0, 16)}${this.#etagSuffix}"` },
      request,
      response,
    )
  }

  #serveObject(url: URL, request: IncomingMessage, response: ServerResponse): ServerResponse {
    const object = this.#objects.get(url.pathname)
    // Object stores refuse a signature together with a token.
    if (object === undefined || request.headers.authorization !== undefined) return refuse(response, 400, '')
    return this.#sendContent(
      object.path,
      object.blob,
      { etag: `"${object.blob.sha256.slice(0, 32)}-7"` },
      request,
      response,
    )
  }

  #sendContent(
    path: string,
    blob: StoredBlob,
    headers: Record<string, string>,
    request: IncomingMessage,
    response: ServerResponse,
  ): ServerResponse {
    let fault = this.#takeFault(path)
    if (fault?.kind === 'call') {
      fault.run()
      fault = undefined
    }
    if (fault?.kind === 'status') return refuse(response, fault.status, '', fault.headers)
    if (fault?.kind === 'html') return sendPage(response, fault.type)
    const whole = Buffer.from(blob.bytes)
    if (fault?.kind === 'corrupt') whole[fault.atByte] = (whole[fault.atByte] ?? 0) ^ 0xff
    const match =
      fault?.kind === 'ignore-range' ? null : /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
    const start = match ? Number(match[1]) : 0
    const end = match?.[2] ? Math.min(Number(match[2]) + 1, whole.byteLength) : whole.byteLength
    if (match && start >= whole.byteLength) {
      response.writeHead(416, { 'content-range': `bytes */${whole.byteLength}` })
      return response.end()
    }
    const bytes = whole.subarray(start, end)
    response.writeHead(match ? 206 : 200, {
      ...headers,
      'accept-ranges': 'bytes',
      'content-type': 'application/octet-stream',
      ...(fault?.kind !== 'unknown-length' && { 'content-length': bytes.byteLength }),
      ...(match && { 'content-range': `bytes ${start}-${end - 1}/${whole.byteLength}` }),
    })
    if (fault?.kind === 'cut' || fault?.kind === 'stall') {
      response.write(bytes.subarray(0, fault.afterBytes))
      this.#countSent(path, fault.afterBytes)
      // What was written leaves first.
      if (fault.kind === 'cut') setTimeout(() => response.destroy(), 30)
      return response
    }
    if (fault?.kind === 'slow') {
      sendSlowly(response, bytes, fault, (sentBytes) => this.#countSent(path, sentBytes))
      return response
    }
    this.#countSent(path, bytes.byteLength)
    return response.end(bytes)
  }

  #countSent(path: string, sentBytes: number): void {
    this.#sentBytes.set(path, this.sentBytesOf(path) + sentBytes)
  }

  #takeFault(path: string): Fault | undefined {
    return this.#faults.get(path)?.shift()
  }

  #resolve(id: string, revision: string): string | undefined {
    const names = ['main', ...Object.keys(this.#repositories.get(id)?.revisions ?? {})]
    const name = names.find((name) => name === revision || this.commitOf(id, name) === revision)
    return name === undefined ? undefined : this.commitOf(id, name)
  }

  #filesAt(id: string, commit: string): FakeRepository['files'] | undefined {
    const repository = this.#repositories.get(id)
    if (this.commitOf(id) === commit) return repository?.files
    return Object.entries(repository?.revisions ?? {}).find(
      ([name]) => this.commitOf(id, name) === commit,
    )?.[1]
  }
}

const blobs = new WeakMap<Uint8Array, StoredBlob>()

function blobOf(path: string, content: Uint8Array | string): StoredBlob {
  const known = typeof content === 'string' ? undefined : blobs.get(content)
  if (known) return known
  const bytes = Buffer.from(content)
  const blob = {
    bytes,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    gitSha1: createHash('sha1').update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex'),
    isLarge: /\.(gguf|safetensors|bin)$/.test(path),
  }
  if (typeof content !== 'string') blobs.set(content, blob)
  return blob
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): ServerResponse {
  response.writeHead(status, { ...headers, ...(code !== '' && { 'x-error-code': code }) })
  return response.end('refused')
}

function sendJson(
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
): ServerResponse {
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  return response.end(JSON.stringify(value))
}

function sendPage(response: ServerResponse, type = 'text/html; charset=utf-8'): ServerResponse {
  response.writeHead(200, { 'content-type': type })
  return response.end('<!DOCTYPE html><html><body>Log in to the network</body></html>')
}

async function sendSlowly(
  response: ServerResponse,
  bytes: Buffer,
  { pieceBytes, pauseMs }: Fault & { kind: 'slow' },
  onSent: (sentBytes: number) => void,
): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength && !response.destroyed; offset += pieceBytes) {
    const piece = bytes.subarray(offset, offset + pieceBytes)
    response.write(piece)
    onSent(piece.byteLength)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  response.end()
}
