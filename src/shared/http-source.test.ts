import { describe, expect, it } from 'vitest'
import { readBytes } from './byte-source.ts'
import { type Fetch, openHttpSource } from './http-source.ts'

const URL_OF_FILE = 'https://models.example/model.bin'
const MIB = 1024 * 1024
/** Longer than what is fetched at least. */
const BYTES = Uint8Array.from({ length: 3 * MIB + 5 }, (_, index) => index * 7 + (index >> 8))

interface Server {
  readonly fetch: Fetch
  /** The ranges asked for, in order. */
  readonly ranges: (string | null)[]
}

/** A server that answers ranges as RFC 9110 says. */
function serve(
  bytes: Uint8Array<ArrayBuffer>,
  change: (response: Response, range: string) => Response = (r) => r,
): Server {
  const ranges: (string | null)[] = []
  const fetch: Fetch = async (url, init) => {
    expect(url).toBe(URL_OF_FILE)
    const range = new Headers(init?.headers).get('range')
    ranges.push(range)
    if (range === null) return new Response(bytes)
    const [begin, last] = range.replace('bytes=', '').split('-').map(Number) as [number, number]
    const end = Math.min(last + 1, bytes.length)
    if (begin >= bytes.length) {
      const headers = { 'content-range': `bytes */${bytes.length}` }
      return change(new Response(null, { status: 416, headers }), range)
    }
    const headers = { 'content-range': `bytes ${begin}-${end - 1}/${bytes.length}` }
    return change(new Response(bytes.slice(begin, end), { status: 206, headers }), range)
  }
  return { fetch, ranges }
}

/** Element by element would take seconds. */
function expectSame(actual: Uint8Array, expected: Uint8Array): void {
  expect(Buffer.compare(actual, expected)).toBe(0)
}

async function open(server: Server) {
  return (await openHttpSource(server.fetch, URL_OF_FILE))!
}

describe('a file on a server that answers ranges', () => {
  it('is read in ranges of a megabyte at least', async () => {
    const server = serve(BYTES)
    const source = await open(server)
    expect([source.name, source.byteLength]).toEqual([URL_OF_FILE, BYTES.length])
    expectSame(await readBytes(source, 0, 8), BYTES.subarray(0, 8))
    expectSame(await readBytes(source, 5000, 100), BYTES.subarray(5000, 5100))
    expectSame(await readBytes(source, MIB - 2, 4), BYTES.subarray(MIB - 2, MIB + 2))
    expectSame(await readBytes(source, 2 * MIB - 3, 1), BYTES.subarray(2 * MIB - 3, 2 * MIB - 2))
    expectSame(await readBytes(source, 10, 2 * MIB), BYTES.subarray(10, 2 * MIB + 10))
    expectSame(await readBytes(source, 3 * MIB, 5), BYTES.subarray(3 * MIB))
    expect(server.ranges).toEqual([
      'bytes=0-1048575',
      'bytes=1048574-2097149',
      'bytes=10-2097161',
      'bytes=3145728-3145732',
    ])
  })

  it('fills views of shared memory', async () => {
    const source = await open(serve(BYTES))
    const target = new Uint8Array(new SharedArrayBuffer(10), 2, 6)
    await source.readInto(target, 4)
    expect([...target]).toEqual([...BYTES.subarray(4, 10)])
  })

  it('may be shorter than one range, and empty', async () => {
    const short = await open(serve(BYTES.slice(0, 9)))
    expect([short.byteLength, await readBytes(short, 0, 9)]).toEqual([9, BYTES.subarray(0, 9)])
    expect((await open(serve(new Uint8Array()))).byteLength).toBe(0)
  })

  it('is not read beyond its end, nor after it was closed', async () => {
    const source = await open(serve(BYTES))
    await expect(readBytes(source, BYTES.length - 1, 2)).rejects.toMatchObject({ code: 'file/truncated' })
    await source.close()
    await source.close()
    await expect(readBytes(source, 0, 1)).rejects.toMatchObject({ code: 'file/closed' })
  })
})

describe('a server that knows no ranges is asked for the whole file once', () => {
  it.each([
    ['it answers with everything', () => new Response(BYTES)],
    ['it hides the total from the page', (answer: Response) => new Response(answer.body, { status: 206 })],
    ['it refuses ranges', () => new Response(null, { status: 416 })],
  ])('%s', async (_, change) => {
    const server = serve(BYTES, change)
    const source = await open(server)
    expect(source.byteLength).toBe(BYTES.length)
    expectSame(await readBytes(source, 2 * MIB, 9), BYTES.subarray(2 * MIB, 2 * MIB + 9))
    expect(server.ranges.length).toBeLessThanOrEqual(2)
  })
})

describe('no file', () => {
  it.each([404, 410])('status %d', async (status) => {
    expect(await openHttpSource(async () => new Response('gone', { status }), URL_OF_FILE)).toBeUndefined()
  })

  it('the page that a single-page application gives for every address', async () => {
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    expect(
      await openHttpSource(async () => new Response('<!doctype html>', { headers }), URL_OF_FILE),
    ).toBeUndefined()
  })
})

describe('fails with the address', () => {
  it.each([401, 403, 500])('status %d', async (status) => {
    const answer = async () => new Response('no', { status, statusText: 'No' })
    await expect(openHttpSource(answer, URL_OF_FILE)).rejects.toMatchObject({
      code: 'file/read-failed',
      message: `${URL_OF_FILE}: expected the file, but the server answered ${status} No.`,
    })
  })

  it('no answer', async () => {
    const fetch = async () => Promise.reject(new TypeError('Failed to fetch'))
    await expect(openHttpSource(fetch, URL_OF_FILE)).rejects.toMatchObject({
      code: 'file/read-failed',
      message: `${URL_OF_FILE} could not be fetched: Failed to fetch.`,
    })
  })

  it.each([
    ['another range', { 'content-range': `bytes 7-9/${BYTES.length}` }],
    ['a file that was changed', { 'content-range': 'bytes 2000000-2000009/2000010' }],
  ])('%s', async (_, headers) => {
    const source = await open(
      serve(BYTES, (answer, range) =>
        range === 'bytes=0-1048575' ? answer : new Response('0123456789', { status: 206, headers }),
      ),
    )
    await expect(readBytes(source, 2_000_000, 10)).rejects.toMatchObject({
      code: 'file/read-failed',
      message: `${URL_OF_FILE}: expected the range that was asked for, but the server answered 206 (${headers['content-range']}).`,
    })
  })

  it('an answer that ends early', async () => {
    const cut = (answer: Response, range: string): Response =>
      range === 'bytes=0-1048575' ? answer : new Response('short', { status: 206 })
    const source = await open(serve(BYTES, cut))
    await expect(readBytes(source, 2 * MIB, 2)).rejects.toMatchObject({
      code: 'file/truncated',
      message: `${URL_OF_FILE}: expected 1048576 bytes at byte 2097152, but the file has 2097157 bytes.`,
    })
  })
})
