/** What the headers of an answer say of its content. */
import { EngineError } from '../shared/errors.ts'
import { showAddress } from './reference.ts'

export function isWebPage(headers: Headers): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '')
}

export function htmlInstead(name: string, address: string): EngineError {
  return new EngineError('hub/html', {
    message: `${name}: expected a model file from ${showAddress(address)}, found a web page.`,
    hint: 'A login page of the network, or the address of a page instead of a file, is the usual reason.',
  })
}

/** `bytes 0-0/1234` → 1234 */
export function totalOf(contentRange: string | null): number | undefined {
  const total = /\/(\d+)$/.exec(contentRange ?? '')?.[1]
  return total === undefined ? undefined : Number(total)
}

/** Of the file; a compressed answer does not tell, nor does one that may hide that it is compressed. */
export function lengthOf(headers: Headers, mayBeCompressed = false): number | undefined {
  if (mayBeCompressed) return undefined
  const length = headers.get('content-length')
  const isPlain = ['identity', null].includes(headers.get('content-encoding'))
  return length !== null && isPlain && /^\d+$/.test(length) ? Number(length) : undefined
}
