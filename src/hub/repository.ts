/** What a repository of the hub holds: `api/models/{id}/revision/{rev}` and `api/models/{id}/tree/{commit}`. */
import { EngineError } from '../shared/errors.ts'
import { parseUrl } from '../shared/parse-url.ts'
import { isSafePath } from './file-names.ts'
import type { HttpClient, RequestOptions } from './http-client.ts'
import { loadJson } from './json-request.ts'
import type { HubSettings } from './ports.ts'
import type { RetryOptions } from './retry.ts'

/** Listings come in pages of 1,000 files; the largest repositories have some thousands. */
const MAX_PAGES = 50

export interface RepositoryFile {
  readonly path: string
  readonly byteLength: number
  /** Of files in large file storage. */
  readonly sha256: string | undefined
  /** Of all others: SHA-1 of `blob <size>\0` and the bytes. */
  readonly gitSha1: string | undefined
}

export interface Repository {
  readonly id: string
  readonly commit: string
  readonly licence: string | undefined
  readonly files: readonly RepositoryFile[]
}

/** Resolves a branch or tag to its commit once, so that everything that follows is of one version. */
export async function loadRepository(
  client: HttpClient,
  settings: HubSettings,
  id: string,
  revision: string,
  retry: RetryOptions,
): Promise<Repository> {
  const request: RequestOptions = {
    what: `${id}${revision === 'main' ? '' : `@${revision}`}`,
    gatePage: pageOf(settings, id),
    signal: retry.signal,
  }
  const api = `${settings.endpoint}/api/models/${id}`
  const info = await loadJson(client, `${api}/revision/${encodeURIComponent(revision)}`, request, retry)
  const { sha, cardData, tags } = asObject(info.value)
  if (typeof sha !== 'string' || !/^[0-9a-f]{40}$/.test(sha))
    throw notAListing(request.what, 'a commit in "sha"', sha)
  const files: RepositoryFile[] = []
  let address: string | undefined = `${api}/tree/${sha}?recursive=true`
  for (let page = 0; address !== undefined; page++) {
    if (page === MAX_PAGES) throw notAListing(request.what, `at most ${MAX_PAGES} pages of files`, 'more')
    const { value, headers } = await loadJson(client, address, request, retry)
    if (!Array.isArray(value)) throw notAListing(request.what, 'a list of files', value)
    for (const entry of value) {
      const file = parseEntry(entry, request.what)
      if (file) files.push(file)
    }
    address = nextPage(headers.get('link'), address)
  }
  return { id, commit: sha, licence: licenceOf(cardData, tags), files }
}

/** Where a person reads about a repository and accepts its licence. */
export function pageOf({ endpoint }: HubSettings, id: string): string {
  return `${endpoint}/${id}`
}

export function fileAddress({ endpoint }: HubSettings, id: string, commit: string, path: string): string {
  return `${endpoint}/${id}/resolve/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Files whose names we would not write are left out: nothing that a model needs has such a name. */
function parseEntry(entry: unknown, what: string): RepositoryFile | undefined {
  const { type, path, size, oid, lfs } = asObject(entry)
  if (type !== 'file' || typeof path !== 'string' || !isSafePath(path)) return undefined
  if (!Number.isSafeInteger(size) || (size as number) < 0) throw notAListing(what, `a size of ${path}`, size)
  const lfsOid = asObject(lfs)['oid']
  return {
    path,
    byteLength: size as number,
    sha256: isHash(lfsOid, 64) ? lfsOid : undefined,
    gitSha1: isHash(lfsOid, 64) || !isHash(oid, 40) ? undefined : oid,
  }
}

function isHash(value: unknown, length: number): value is string {
  return typeof value === 'string' && value.length === length && /^[0-9a-f]+$/.test(value)
}

function licenceOf(cardData: unknown, tags: unknown): string | undefined {
  const { license, license_name } = asObject(cardData)
  if (license === 'other' && typeof license_name === 'string') return license_name
  if (typeof license === 'string') return license
  const tag = Array.isArray(tags)
    ? tags.find((tag) => typeof tag === 'string' && tag.startsWith('license:'))
    : undefined
  return typeof tag === 'string' ? tag.slice('license:'.length) : undefined
}

/** `Link: <https://…?cursor=…>; rel="next"`: only the query is taken, so that the next page is of the same server. */
function nextPage(link: string | null, address: string): string | undefined {
  const target = /<([^>]+)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1]
  const found = target === undefined ? undefined : parseUrl(target, address)
  if (found === undefined) return undefined
  const next = new URL(address)
  next.search = found.search
  return next.href
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function notAListing(what: string, expected: string, found: unknown): EngineError {
  return new EngineError('hub/bad-listing', {
    message: `${what}: expected ${expected} in the answer of the hub, found ${JSON.stringify(found)?.slice(0, 80)}.`,
    hint: 'The endpoint (HF_ENDPOINT) may be no hub; try without it.',
  })
}
