/**
 * Fetches a picture from an address that somebody else named. Such an address can point into the network that this
 * machine stands in, by its name or by a redirect, so the connection goes to an address that was looked at, and each
 * redirect is looked at again.
 */
import { lookup as lookupName } from 'node:dns'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { EngineError } from '../../shared/errors.ts'
import { isPublicAddress } from './public-address.ts'

/** Photos of phones are below 10 MB. */
const MAX_BYTES = 10 * 2 ** 20
/** For all of it; whoever waits for the answer waits for this first. */
const TIME_MS = 10_000
/** Content networks use one or two. */
const MAX_REDIRECTS = 3

export interface RemotePictureOptions {
  /** Default: addresses of the public internet. */
  readonly isAllowed?: (address: string) => boolean
  /** Default: that of the system. */
  readonly lookup?: typeof lookupName
}

export function createRemotePictureLoader({
  isAllowed = isPublicAddress,
  lookup = lookupName,
}: RemotePictureOptions = {}): (url: URL, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>> {
  return async (url, signal) => {
    const limited = new AbortController()
    const timer = setTimeout(() => limited.abort(), TIME_MS)
    const onAbort = (): void => limited.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      let next = url
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
        const answer = await ask(next, checkedLookup(lookup, isAllowed), isAllowed, limited.signal)
        if (answer instanceof Uint8Array) return answer
        next = answer
      }
      throw failure(url, `it redirects more than ${MAX_REDIRECTS} times`)
    } catch (error) {
      signal.throwIfAborted()
      if (EngineError.isInstance(error)) throw error
      const reason = limited.signal.aborted ? `it took more than ${TIME_MS / 1000} seconds` : reasonOf(error)
      throw failure(url, reason, error)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/** The bytes, or where a redirect leads. */
function ask(
  url: URL,
  lookup: LookupFunction,
  isAllowed: (address: string) => boolean,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | URL> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  if (!['http:', 'https:'].includes(url.protocol)) throw failure(url, 'it is neither http: nor https:')
  if (url.username !== '' || url.password !== '') throw failure(url, 'it holds a password')
  const name = url.hostname.replace(/^\[|\]$/g, '')
  // Addresses are not looked up, so the check of names does not see them.
  if (isIP(name) && !isAllowed(name)) throw refusedAddress(name)
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { lookup, signal, headers: { accept: 'image/*' } }, (incoming) => {
      const { statusCode = 0, headers } = incoming
      const refuse = (reason: string): void => {
        outgoing.destroy()
        reject(failure(url, reason))
      }
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
        outgoing.destroy()
        if (!URL.canParse(headers.location, url.href)) return refuse('its redirect leads nowhere')
        return resolve(new URL(headers.location, url.href))
      }
      if (statusCode !== 200) return refuse(`its server answered with status ${statusCode}`)
      const chunks: Buffer[] = []
      let length = 0
      incoming.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > MAX_BYTES) return refuse(`it has more than ${MAX_BYTES} bytes`)
        chunks.push(chunk)
      })
      incoming.on('end', () => resolve(new Uint8Array(Buffer.concat(chunks))))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** All addresses of a name must be allowed; the connection is made to one of those that were looked at. */
function checkedLookup(lookup: typeof lookupName, isAllowed: (address: string) => boolean): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || first === undefined) return callback(error ?? new Error(`${name} has no address`), '', 4)
      const refused = addresses.find(({ address }) => !isAllowed(address))
      if (refused) return callback(refusedAddress(refused.address), '', 4)
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

function refusedAddress(address: string): EngineError {
  return new EngineError('image/remote', {
    message: `the address ${address} is not one of the public internet.`,
    hint: 'Send the picture itself: data:image/jpeg;base64,…',
  })
}

function failure(url: URL, reason: string, cause?: unknown): EngineError {
  return new EngineError('image/remote', {
    message: `the picture at ${url.host} cannot be had: ${reason}.`,
    hint: 'Send the picture itself: data:image/jpeg;base64,…',
    cause,
  })
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 160)
}
