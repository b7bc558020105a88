/** A plain host for the built app, as GitHub Pages or nginx would be, under a path of a person's choice. */
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
}

export interface AppServerOptions {
  /** Begins and ends with a slash. */
  readonly path: string
  /** Whether the host sends the headers that allow threads. */
  readonly isolated: boolean
}

export interface AppServer {
  readonly origin: string
  /** Where the app is: origin and path. */
  readonly url: string
  close(): Promise<void>
}

export async function startAppServer(
  folder: string,
  { path, isolated }: AppServerOptions,
): Promise<AppServer> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    const inside = decodeURIComponent(pathname).slice(path.length)
    const file = join(folder, inside === '' ? 'index.html' : inside)
    const found = pathname.startsWith(path) ? statSync(file, { throwIfNoEntry: false }) : undefined
    if (!found?.isFile()) {
      response.writeHead(404).end('There is no such file.')
      return
    }
    const etag = `"${found.mtimeMs.toString(36)}-${found.size.toString(36)}"`
    const headers = { etag, ...(isolated && ISOLATION) }
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, headers).end()
      return
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    const start = range ? Number(range[1]) : 0
    const end = range ? Math.min(Number(range[2]), found.size - 1) : found.size - 1
    response.writeHead(range ? 206 : 200, {
      ...headers,
      'cache-control': 'no-cache',
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'content-length': end - start + 1,
      ...(range && { 'content-range': `bytes ${start}-${end}/${found.size}` }),
    })
    if (found.size === 0 || request.method === 'HEAD') response.end()
    else createReadStream(file, { start, end }).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    url: `${origin}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
