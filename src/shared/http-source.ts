import { isAbortError } from './abort.ts'
import { createBlobSource } from './blob-source.ts'
import type { ByteSource } from './byte-source.ts'
import { EngineError } from './errors.ts'
import { createMemorySource } from './memory-source.ts'
import { checkReadRange, createClosedError, createTruncatedError } from './read-range.ts'

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** Fetched at least: headers are read in small steps, and small tensors lie side by side. */
const BLOCK_BYTES = 1024 * 1024

/**
 * A file on a server, read in ranges. A server that knows no ranges, or does not let the page see their total, is asked
 * for the whole file once, which becomes a blob.
 *
 * Resolves to undefined where there is no such file: status 404 or 410, or an HTML page, which servers of single-page
 * applications give for every address.
 *
 * @throws EngineError `file/read-failed` for any other answer, and when there is none.
 */
export async function openHttpSource(fetch: Fetch, url: string): Promise<ByteSource | undefined> {
  const response = await request(fetch, url, 0, BLOCK_BYTES)
  if (response.status === 404 || response.status === 410 || isHtml(response)) {
    await response.body?.cancel()
    return undefined
  }
  const range = parseContentRange(response)
  if (response.status === 416 && range?.total === 0) return createMemorySource(url, new Uint8Array())
  if (response.status === 206 && range?.begin === 0) {
    const block = await readBody(response, url)
    if (block.length === Math.min(BLOCK_BYTES, range.total))
      return new HttpSource(fetch, url, range.total, block)
    throw createTruncatedError(url, 0, Math.min(BLOCK_BYTES, range.total), block.length)
  }
  return createBlobSource(
    url,
    await readWhole(response.status === 200 ? response : await request(fetch, url), url),
  )
}

class HttpSource implements ByteSource {
  readonly name: string
  readonly byteLength: number
  readonly #fetch: Fetch
  /** The bytes fetched last, from `#blockOffset`; undefined once closed. */
  #block: Uint8Array | undefined
  #blockOffset = 0

  constructor(fetch: Fetch, url: string, byteLength: number, block: Uint8Array) {
    this.#fetch = fetch
    this.name = url
    this.byteLength = byteLength
    this.#block = block
  }

  async readInto(target: Uint8Array, byteOffset: number): Promise<void> {
    if (!this.#block) throw createClosedError(this.name)
    checkReadRange(this, byteOffset, target.byteLength)
    const held = this.#heldBytes(byteOffset, target.byteLength)
    if (held) return target.set(held)
    const wanted = Math.max(target.byteLength, Math.min(BLOCK_BYTES, this.byteLength - byteOffset))
    const bytes = await this.#fetchRange(byteOffset, wanted)
    target.set(bytes.subarray(0, target.byteLength))
    if (bytes.length <= BLOCK_BYTES && this.#block) {
      this.#block = bytes
      this.#blockOffset = byteOffset
    }
  }

  async close(): Promise<void> {
    this.#block = undefined
  }

  #heldBytes(byteOffset: number, byteLength: number): Uint8Array | undefined {
    const begin = byteOffset - this.#blockOffset
    if (!this.#block || begin < 0 || begin + byteLength > this.#block.length) return undefined
    return this.#block.subarray(begin, begin + byteLength)
  }

  async #fetchRange(byteOffset: number, byteLength: number): Promise<Uint8Array> {
    const response = await request(this.#fetch, this.name, byteOffset, byteLength)
    const range = parseContentRange(response)
    if (
      response.status !== 206 ||
      (range && (range.begin !== byteOffset || range.total !== this.byteLength))
    ) {
      await response.body?.cancel()
      throw createAnswerError(this.name, 'the range that was asked for', response)
    }
    const bytes = await readBody(response, this.name)
    if (bytes.length === byteLength) return bytes
    throw createTruncatedError(this.name, byteOffset, byteLength, byteOffset + bytes.length)
  }
}

/** Without a length, the whole file. */
async function request(fetch: Fetch, url: string, byteOffset = 0, byteLength?: number): Promise<Response> {
  const headers: HeadersInit =
    byteLength === undefined ? {} : { range: `bytes=${byteOffset}-${byteOffset + byteLength - 1}` }
  try {
    return await fetch(url, { headers })
  } catch (cause) {
    // A fetch that explains its failures itself is let speak.
    throw EngineError.isInstance(cause) || isAbortError(cause) ? cause : createReadError(url, cause)
  }
}

async function readBody(response: Response, url: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await response.arrayBuffer())
  } catch (cause) {
    throw createReadError(url, cause)
  }
}

async function readWhole(response: Response, url: string): Promise<Blob> {
  if (!response.ok) {
    await response.body?.cancel()
    throw createAnswerError(url, 'the file', response)
  }
  try {
    return await response.blob()
  } catch (cause) {
    throw createReadError(url, cause)
  }
}

const isHtml = (response: Response): boolean =>
  response.ok && (response.headers.get('content-type') ?? '').startsWith('text/html')

/** Undefined when the header is missing, hidden from the page, or without a total (RFC 9110, section 14.4). */
function parseContentRange(response: Response): { begin: number; total: number } | undefined {
  const match = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '')
  return match ? { begin: Number(match[1] ?? 0), total: Number(match[2]) } : undefined
}

function createReadError(url: string, cause: unknown): EngineError {
  return new EngineError('file/read-failed', {
    message: `${url} could not be fetched: ${cause instanceof Error ? cause.message : String(cause)}.`,
    hint: 'Check the address and the connection; another origin must allow this page (CORS).',
    cause,
  })
}

function createAnswerError(
  url: string,
  expected: string,
  { status, statusText, headers }: Response,
): EngineError {
  const range = headers.get('content-range')
  return new EngineError('file/read-failed', {
    message: `${url}: expected ${expected}, but the server answered ${`${status} ${statusText}`.trim()}${range ? ` (${range})` : ''}.`,
    hint: 'Check that the file may be read without signing in and did not change meanwhile.',
  })
}
