/** Who may ask: the checks that come before any work. */
import { EngineError } from '../shared/errors.ts'

export interface AccessRules {
  /** Names besides the loopback's that a request may be addressed to; `any` when others guard the door. */
  readonly hosts: readonly string[] | 'any'
  /** Origins of web pages that may ask, as browsers write them: `https://app.example`. */
  readonly corsOrigins: readonly string[]
  readonly apiKey: string | undefined
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i

/**
 * A page can point its own name at this machine and so be of the same origin as the server (DNS rebinding); the name
 * that it was asked by gives it away.
 */
export function checkHost(headers: Headers, { hosts }: AccessRules): void {
  if (hosts === 'any') return
  const host = headers.get('host') ?? ''
  const name = host.replace(/:\d+$/, '').toLowerCase()
  if (LOOPBACK.test(name) || hosts.some((allowed) => allowed.toLowerCase() === name)) return
  throw new EngineError('server/host-refused', {
    message: `This server answers as localhost only, but was asked as "${host.slice(0, 100)}".`,
    hint: 'Use http://127.0.0.1 with its port.',
  })
}

/** After the host is known to be ours, an equal origin is ours too. */
export function checkOrigin(headers: Headers, { corsOrigins }: AccessRules): void {
  const origin = headers.get('origin')
  const isOurs = origin !== null && origin.replace(/^https?:\/\//, '') === headers.get('host')
  if (origin !== null && (isOurs || corsOrigins.includes(origin))) return
  if (origin === null && headers.get('sec-fetch-site') !== 'cross-site') return
  throw new EngineError('server/origin-refused', {
    message: `Pages of ${origin === null ? 'other sites' : `"${origin.slice(0, 100)}"`} may not use this server.`,
    hint: 'Start it with --cors ORIGIN to allow one.',
  })
}

/** A page without permission can send text and forms to any address, but no JSON. */
export function checkContentType(headers: Headers): void {
  const type = headers.get('content-type') ?? ''
  if (/^application\/json\s*(?:;|$)/i.test(type)) return
  throw new EngineError('server/content-type', {
    message: `Expected a body of type application/json, found ${type === '' ? 'none' : `"${type.slice(0, 60)}"`}.`,
  })
}

/** `Authorization: Bearer KEY` or `X-Api-Key: KEY`. */
export async function checkKey(headers: Headers, { apiKey }: AccessRules): Promise<void> {
  if (apiKey === undefined) return
  const bearer = /^Bearer +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  const given = bearer ?? headers.get('x-api-key')
  if (given !== null && given !== undefined && (await isSameText(given, apiKey))) return
  throw new EngineError('server/unauthorized', {
    message: given ? 'The API key is not the right one.' : 'This server needs an API key.',
    hint: 'Send it as "Authorization: Bearer KEY".',
  })
}

/** Compares digests to the end, so that the time tells neither how much is right nor how long the key is. */
async function isSameText(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([digest(one), digest(other)])
  let difference = 0
  for (const [index, byte] of a.entries()) difference |= byte ^ (b[index] as number)
  return difference === 0
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}
