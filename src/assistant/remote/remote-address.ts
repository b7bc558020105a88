/** Where a remote endpoint is, and whether what is sent there can be read on the way. */
import { EngineError } from '../../shared/errors.ts'

/**
 * The address of `path` below an API's base, such as `https://api.example.com/v1`. Throws `option/remote` for what is no
 * http(s) address, holds a password or query, or would send pictures and keys unencrypted over the internet.
 */
export function remoteAddress(base: string, path: string): URL {
  let url: URL
  try {
    url = new URL(base)
  } catch {
    throw invalid(base, 'an address such as https://api.example.com/v1')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalid(base, 'an http(s) address')
  if (url.username || url.password) throw invalid(url.host, 'an address without user name and password')
  if (url.search || url.hash) throw invalid(base, 'an address without "?" and "#"')
  if (url.protocol === 'http:' && !isNearby(url.hostname)) {
    throw invalid(base, 'an https address, since http sends pictures and keys over the internet unencrypted')
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`
  return url
}

/** This machine or the network at hand, by its address or by a name that only exists there. */
function isNearby(host: string): boolean {
  return (
    /^(?:localhost|.+\.localhost|.+\.local|.+\.internal|\[::1\]|\[f[cd][0-9a-f]{2}:.*\]|\[fe80:.*\])$/i.test(
      host,
    ) ||
    /^(?:127|10)(?:\.\d{1,3}){3}$/.test(host) ||
    /^192\.168(?:\.\d{1,3}){2}$/.test(host) ||
    /^172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}$/.test(host)
  )
}

function invalid(found: string, expected: string): EngineError {
  return new EngineError('option/remote', {
    message: `The address of a remote endpoint must be ${expected}; found ${found}.`,
    field: 'url',
  })
}
