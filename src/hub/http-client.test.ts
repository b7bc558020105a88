import { expect, it } from 'vitest'
import { createNodeHubPorts } from '../host/node/hub-ports.ts'
import { HttpClient } from './http-client.ts'
import type { FetchInit, HubSettings } from './ports.ts'
import { TransientFailure } from './retry.ts'

type Answer = readonly [status: number, headers?: Record<string, string>]

/** A client whose requests are answered from a table, and the requests. */
function createClient(settings: HubSettings, answers: Readonly<Record<string, Answer | Error>>) {
  const asked: string[] = []
  const fetch = async (url: string, { headers }: FetchInit): Promise<Response> => {
    asked.push(`${url} ${headers['authorization'] ?? 'no token'}`)
    const answer = answers[url]
    if (answer instanceof Error) throw answer
    const [status = 404, more] = answer ?? []
    return new Response(null, { status, headers: more ?? {} })
  }
  return { client: new HttpClient({ ...createNodeHubPorts(), fetch }, settings), asked }
}

const REQUEST = { what: 'a.gguf', signal: undefined }

it.each([
  ['https://hub.example', 'Bearer t'],
  ['http://127.0.0.1:8080', 'Bearer t'],
  ['http://localhost:8080', 'Bearer t'],
  ['http://[::1]:8080', 'Bearer t'],
  // In clear text over a network, so not at all.
  ['http://hub.example', 'no token'],
  ['http://127.0.0.1.example', 'no token'],
])('the token goes to %s: %s', async (endpoint, expected) => {
  const { client, asked } = createClient({ endpoint, token: 't' }, { [`${endpoint}/x`]: [200] })
  await client.get(`${endpoint}/x`, REQUEST)
  expect(asked).toEqual([`${endpoint}/x ${expected}`])
})

it('the token comes back with the endpoint, and goes nowhere else', async () => {
  const { client, asked } = createClient(
    { endpoint: 'https://hub.example', token: 't' },
    {
      'https://hub.example/a': [307, { location: '/b' }],
      'https://hub.example/b': [302, { location: 'https://cdn.hub.example/c' }],
      'https://cdn.hub.example/c': [302, { location: 'https://hub.example:8443/d' }],
      'https://hub.example:8443/d': [200],
    },
  )
  await client.get('https://hub.example/a', REQUEST)
  expect(asked).toEqual([
    'https://hub.example/a Bearer t',
    'https://hub.example/b Bearer t',
    'https://cdn.hub.example/c no token',
    'https://hub.example:8443/d no token',
  ])
})

it('https does not end in http', async () => {
  const { client, asked } = createClient(
    { endpoint: 'https://hub.example' },
    { 'https://hub.example/a?sig=1': [302, { location: 'http://hub.example/a' }] },
  )
  await expect(client.get('https://hub.example/a?sig=1', REQUEST)).rejects.toMatchObject({
    code: 'hub/bad-redirect',
    message: 'a.gguf: https://hub.example/a redirects to http://hub.example, which is not as safe.',
  })
  expect(asked).toHaveLength(1)
})

it('content is called as the hub calls it, not as the object store does', async () => {
  const sha256 = 'ab'.repeat(32)
  const { client } = createClient(
    { endpoint: 'https://hub.example' },
    {
      'https://hub.example/a': [307, { location: '/b' }],
      'https://hub.example/b': [302, { location: 'https://store.example/c', 'x-linked-etag': `"${sha256}"` }],
      'https://store.example/c': [200, { etag: '"other"' }],
      'https://hub.example/small': [200, { etag: 'W/"abc"' }],
      'https://hub.example/dated': [200, { 'last-modified': 'Mon, 30 Nov 2026 20:00:00 GMT' }],
    },
  )
  const tagsOf = async (path: string) => {
    const { contentTag, sha256 } = await client.get(`https://hub.example/${path}`, REQUEST)
    return [contentTag, sha256]
  }
  expect(await tagsOf('a')).toEqual([sha256, sha256])
  expect(await tagsOf('small')).toEqual(['abc', undefined])
  expect(await tagsOf('dated')).toEqual(['Mon, 30 Nov 2026 20:00:00 GMT', undefined])
})

it.each([
  [
    new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }),
    true,
    'the connection failed (ECONNRESET).',
  ],
  [
    new TypeError('fetch failed', { cause: { code: 'ENOTFOUND' } }),
    true,
    'the connection failed (ENOTFOUND).',
  ],
  [
    new TypeError('fetch failed', { cause: { code: 'CERT_HAS_EXPIRED' } }),
    false,
    'the connection failed (CERT_HAS_EXPIRED).',
  ],
  [
    new TypeError('fetch failed', { cause: { code: 'SELF_SIGNED_CERT_IN_CHAIN' } }),
    false,
    'the connection failed (SELF_SIGNED_CERT_IN_CHAIN).',
  ],
])('%s is tried again: %s', async (failure, isTransient, message) => {
  const { client } = createClient({ endpoint: 'https://hub.example' }, { 'https://hub.example/a': failure })
  const error = await client.get('https://hub.example/a', REQUEST).catch((error: unknown) => error)
  expect(error instanceof TransientFailure).toBe(isTransient)
  const shown = error instanceof TransientFailure ? error.error : error
  expect(shown).toMatchObject({ code: 'hub/unreachable', message: `https://hub.example/a: ${message}` })
})

it.each([
  [400, 'hub/refused'],
  [402, 'hub/refused'],
  [404, 'hub/not-found'],
  [410, 'hub/not-found'],
  [451, 'hub/refused'],
])('status %d is the end: %s', async (status, code) => {
  const { client } = createClient({ endpoint: 'https://hub.example' }, { 'https://hub.example/a': [status] })
  await expect(client.get('https://hub.example/a', REQUEST)).rejects.toMatchObject({ code })
})
