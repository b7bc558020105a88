import { describe, expect, it } from 'vitest'
import { policyNameOf, withIsolatingHeaders } from './isolating-headers.ts'

describe('isolating headers', () => {
  it.each([
    ['/app/', 'private'],
    ['/app/index.html', 'private'],
    ['/app/connected.html', 'connected'],
    // As Cloudflare Pages calls it.
    ['/app/connected', 'connected'],
    ['/app/assets/engine-worker-abc.js', 'private'],
    ['/app/assets/engine-worker-abc.js?connected=', 'connected'],
    ['/app/assets/connected-abc.js', 'private'],
  ] as const)('%s has the %s policy', (path, expected) => {
    expect(policyNameOf(new URL(path, 'https://host.example'))).toBe(expected)
  })

  it('adds to what the host sent', async () => {
    const sent = new Response('text', { status: 203, headers: { 'content-type': 'text/css' } })
    const response = withIsolatingHeaders(sent, new URL('https://host.example/a.css'))
    expect(response.status).toBe(203)
    expect(response.headers.get('content-type')).toBe('text/css')
    expect(response.headers.get('cross-origin-embedder-policy')).toBe('require-corp')
    expect(response.headers.get('content-security-policy')).toContain("connect-src 'self';")
    expect(await response.text()).toBe('text')
  })
})
