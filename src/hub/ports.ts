/** What the hub needs of the system it runs on. */

/**
 * `fetch` without following redirects: where a request goes next decides whether the token goes with it. Browsers hide
 * where a redirect leads, so there it follows by itself; they take the token off when the origin changes (Fetch standard,
 * "HTTP-redirect fetch").
 */
export type FetchPort = (url: string, init: FetchInit) => Promise<Response>

export interface FetchInit {
  readonly headers: Readonly<Record<string, string>>
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

/** A running hash. */
export interface Hasher {
  update(bytes: Uint8Array): void
  /** Lower-case hexadecimal; the hasher is used up afterwards. */
  digestHex(): string
}

export type HashName = 'sha256' | 'sha1'

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`, or rejects with an `AbortError`. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** At least 0, below 1. */
  random(): number
}

export interface HubPorts {
  readonly fetch: FetchPort
  readonly createHash: (name: HashName) => Hasher
  readonly clock: Clock
  /**
   * True in browsers: servers of other origins show few of their headers to a page, so neither a missing `Content-Range`
   * nor a missing `Content-Encoding` means anything. Files are then asked for by ranges from the first byte on, because
   * only ranges are never compressed.
   */
  readonly hidesHeaders?: boolean
}

/** Where models come from and who asks. */
export interface HubSettings {
  /** Origin of the hub or of a mirror, without a slash at the end. */
  readonly endpoint: string
  /** Sent to the endpoint's origin only, never to where it redirects. */
  readonly token?: string
  /** A connection that delivers nothing for this long is given up and tried again. Default 30,000. */
  readonly idleTimeoutMs?: number
}

export const DEFAULT_ENDPOINT = 'https://huggingface.co'
