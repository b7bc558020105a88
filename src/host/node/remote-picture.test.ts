import type { lookup as lookupName } from 'node:dns'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createRemotePictureLoader } from './remote-picture.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Every name is this machine, and only `pictures.test` is asked for by that name. */
const local = ((_name: string, options: unknown, callback: (...args: unknown[]) => void) =>
  callback(
    null,
    (options as { all?: boolean }).all ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1',
    4,
  )) as unknown as typeof lookupName

const load = createRemotePictureLoader({ lookup: local, isAllowed: (address) => address === '127.0.0.1' })
const loadPublic = createRemotePictureLoader({ lookup: local })
const never = new AbortController().signal

describe('a picture on another machine', () => {
  it('is fetched, over redirects too', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: '/b' }).end()
      else response.end(Buffer.from([1, 2, 3]))
    })
    expect(await load(new URL(`http://pictures.test:${port}/a`), never)).toEqual(new Uint8Array([1, 2, 3]))
  })

  it.each([
    ['http://127.0.0.1:PORT/', 'the address 127.0.0.1 is not one of the public internet.'],
    ['http://0x7f000001:PORT/', 'the address 127.0.0.1 is not one of the public internet.'],
    ['http://[::1]:PORT/', 'the address ::1 is not one of the public internet.'],
    ['http://[::ffff:127.0.0.1]:PORT/', 'the address ::ffff:7f00:1 is not one of the public internet.'],
    ['http://rebound.test:PORT/', 'the address 127.0.0.1 is not one of the public internet.'],
    ['https://rebound.test:PORT/', 'the address 127.0.0.1 is not one of the public internet.'],
  ])('%s is not asked', async (template, message) => {
    let asked = 0
    const port = await serve((_, response) => {
      asked++
      response.end()
    })
    await expect(loadPublic(new URL(template.replace('PORT', String(port))), never)).rejects.toMatchObject({
      code: 'image/remote',
      message,
    })
    expect(asked).toBe(0)
  })

  it.each([
    [
      'http://169.254.169.254/latest/meta-data',
      'the address 169.254.169.254 is not one of the public internet.',
    ],
    ['file:///etc/passwd', 'the picture at  cannot be had: it is neither http: nor https:.'],
    ['/again', 'cannot be had: it redirects more than 3 times.'],
    ['http://user:word@pictures.test/', 'cannot be had: it holds a password.'],
  ])('is not followed to %s', async (location, message) => {
    const port = await serve((_, response) => response.writeHead(302, { location }).end())
    await expect(load(new URL(`http://pictures.test:${port}/`), never)).rejects.toMatchObject({
      code: 'image/remote',
      message: expect.stringContaining(message),
    })
  })

  it('has a largest size', async () => {
    const port = await serve((_, response) => {
      const block = Buffer.alloc(2 ** 20)
      for (let count = 0; count < 11; count++) response.write(block)
    })
    await expect(load(new URL(`http://pictures.test:${port}/`), never)).rejects.toMatchObject({
      message: expect.stringContaining('it has more than 10485760 bytes'),
    })
  })

  it('may be missing', async () => {
    const port = await serve((_, response) => response.writeHead(404).end('no'))
    await expect(load(new URL(`http://pictures.test:${port}/`), never)).rejects.toMatchObject({
      message: `the picture at pictures.test:${port} cannot be had: its server answered with status 404.`,
      hint: 'Send the picture itself: data:image/jpeg;base64,…',
    })
  })

  it('is given up when asked to', async () => {
    const port = await serve(() => {})
    const controller = new AbortController()
    const loading = load(new URL(`http://pictures.test:${port}/`), controller.signal)
    setTimeout(() => controller.abort(), 20)
    await expect(loading).rejects.toMatchObject({ name: 'AbortError' })
  })
})
