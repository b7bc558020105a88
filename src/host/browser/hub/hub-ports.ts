/** The hub's ports and settings in a browser. */
import type { HubPorts, HubSettings } from '../../../hub/ports.ts'
import { createAbortError } from '../../../shared/abort.ts'
import { EngineError } from '../../../shared/errors.ts'
import { parseUrl } from '../../../shared/parse-url.ts'
import { prepareHashes } from './incremental-hash.ts'

export async function createBrowserHubPorts(): Promise<HubPorts> {
  return {
    fetch: (url, { headers, signal }) =>
      globalThis.fetch(url, {
        headers,
        signal,
        // Where a redirect leads is hidden from pages, so the browser has to follow it.
        redirect: 'follow',
        // A model would fill the HTTP cache beside the store.
        cache: 'no-store',
        // Neither cookies nor the page's address are the hub's business.
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
      }),
    createHash: await prepareHashes(),
    clock: { now: () => Date.now(), sleep, random: () => Math.random() },
    hidesHeaders: true,
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(createAbortError())
      return
    }
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(createAbortError())
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

export function checkHubSettings(endpoint: string, token: string | undefined): HubSettings {
  const url = parseUrl(endpoint, globalThis.location?.href)
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol)
  if (!isAddress || url.username !== '' || url.password !== '') {
    throw new EngineError('hub/bad-endpoint', {
      message:
        'The option "endpoint" must be an address such as https://huggingface.co, without user and password.',
      hint: 'Correct it or leave it out.',
    })
  }
  const settings = { endpoint: `${url.origin}${url.pathname}`.replace(/\/+$/, '') }
  if (token === undefined || token === '') return settings
  // A header takes no line breaks; what else is in a token is not ours to judge, nor to print.
  if (/^[\x21-\x7e]+$/.test(token)) return { ...settings, token }
  throw new EngineError('hub/bad-token', {
    message: 'The option "token" must be letters and digits without spaces; other characters were found.',
    hint: 'Copy the token again, whole and without quotation marks.',
  })
}
