import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type ListeningServer, listen } from './http-server.ts'

const servers: ListeningServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(0))))

async function start(
  fetch: (request: Request) => Promise<Response>,
  host = '127.0.0.1',
): Promise<ListeningServer> {
  const server = await listen(fetch, { host, port: 0, requestTimeoutMs: 10_000 })
  servers.push(server)
  return server
}

describe('a listening server', () => {
  it('hands requests over, and says where it is', async () => {
    const { url } = await start(async (request) =>
      Response.json({ url: request.url, host: request.headers.get('host'), body: await request.text() }),
    )
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const answer = await fetch(`${url}/x?y`, { method: 'POST', body: 'hello' })
    expect(await answer.json()).toEqual({ url: `${url}/x?y`, host: url.slice(7), body: 'hello' })
  })

  it('leaves the globals of the process alone', async () => {
    const before = globalThis.Request
    await start(async () => new Response('x'))
    expect(globalThis.Request).toBe(before)
  })

  it('tells of clients that leave', async () => {
    let left = (): void => {}
    const hasLeft = new Promise<void>((resolve) => {
      left = resolve
    })
    const { url } = await start(async (request) => {
      request.signal.addEventListener('abort', left)
      await hasLeft
      return new Response('late')
    })
    const controller = new AbortController()
    const asking = fetch(url, { signal: controller.signal })
    setTimeout(() => controller.abort(), 50)
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' })
    await hasLeft
  })

  it('names the port that is taken', async () => {
    const { url } = await start(async () => new Response())
    const port = Number(new URL(url).port)
    await expect(
      listen(async () => new Response(), { host: '127.0.0.1', port, requestTimeoutMs: 1 }),
    ).rejects.toMatchObject({
      code: 'server/cannot-listen',
      message: `Cannot listen on 127.0.0.1, port ${port}: another program has it.`,
    })
  })

  it('closes with what has begun, and without waiting for silent connections', async () => {
    const server = await start(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return new Response('done')
    })
    const { port } = new URL(server.url)
    const silent = connect(Number(port), '127.0.0.1')
    silent.on('error', () => {})
    const asking = fetch(server.url)
    await new Promise((resolve) => setTimeout(resolve, 30))
    const closed = server.close(1000)
    expect(await (await asking).text()).toBe('done')
    await closed
    silent.destroy()
  })
})
