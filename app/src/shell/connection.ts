/**
 * There are two documents of the same app. `index.html` cannot ask any other origin for anything; `connected.html` can,
 * for downloads from a hub and for an endpoint of the person's own. What the person has lives in storage of the origin,
 * so it is there in both.
 */

const PRIVATE = 'index.html'
const CONNECTED = 'connected.html'

/** Whether this document may ask other origins. */
export const isConnectedPage = isConnectedAddress(location.pathname)

/** Leaves for the document that may ask other origins. @param hash Where to be there, such as `#/models`. */
export function goConnected(hash: string = location.hash): void {
  location.assign(addressOf(CONNECTED, hash))
}

/** Leaves for the document that asks nobody. @param hash Where to be there, such as `#/ask`. */
export function goPrivate(hash: string = location.hash): void {
  location.assign(addressOf(PRIVATE, hash))
}

/**
 * The address of a worker's script that has the policy of this document. Workers go by the headers of their own script,
 * not by their document's; servers see by this mark which to send.
 */
export function workerAddress(script: string | URL): string {
  const address = new URL(script, import.meta.url)
  if (isConnectedPage) address.searchParams.set('connected', '')
  return address.href
}

export function isConnectedAddress(pathname: string): boolean {
  return pathname.endsWith(`/${CONNECTED}`)
}

function addressOf(document: string, hash: string): string {
  const address = new URL(document, location.href)
  // The folder itself, as the person knows it.
  if (document === PRIVATE) address.pathname = address.pathname.slice(0, -PRIVATE.length)
  address.hash = hash
  return address.href
}
