/** The headers that plain static hosts cannot send, set on everything that comes from the own origin. */
import { contentSecurityPolicy } from '../../build/content-security-policy.ts'

/** With these the page is cross-origin isolated, so that it may share memory between threads. */
const ISOLATION: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Does the same where the app is embedded in another page; Chromium only.
  'Document-Isolation-Policy': 'isolate-and-require-corp',
}

/** @param address That the page or worker asked for: it says which policy the answer gets. */
export function withIsolatingHeaders(response: Response, address: URL): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(ISOLATION)) headers.set(name, value)
  headers.set('Content-Security-Policy', contentSecurityPolicy(policyNameOf(address)))
  headers.set('X-Content-Type-Options', 'nosniff')
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}

/** The connected document, and workers that it starts (`workerAddress` of shell/connection.ts). */
export function policyNameOf({ pathname, searchParams }: URL): 'private' | 'connected' {
  return /\/connected(?:\.html)?$/.test(pathname) || searchParams.has('connected') ? 'connected' : 'private'
}
