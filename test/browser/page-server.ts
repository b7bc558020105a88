/** Serves folders to pages under several rules at once: the first part of the path chooses the headers. */
import { createReadStream, type Stats, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
}

/** Headers of everything under `/<rule>/`. */
const RULES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  plain: {},
  isolated: ISOLATED,
  strict: {
    ...ISOLATED,
    'content-security-policy':
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' data:",
  },
  /** Workers may not run at all. */
  workerless: { 'content-security-policy': "worker-src 'none'" },
  /** As `python3 -m http.server` answers. */
  rangeless: {},
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
}

export interface PageServer {
  readonly origin: string
  close(): Promise<void>
}

/** @param folders Absolute paths by the second part of the address. */
export async function startPageServer(folders: Readonly<Record<string, string>>): Promise<PageServer> {
  const server = createServer((request, response) => answer(folders, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(
  folders: Readonly<Record<string, string>>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname } = new URL(request.url ?? '/', 'http://host')
  const [, rule = '', folder = '', ...rest] = decodeURIComponent(normalize(pathname)).split('/')
  const headers = RULES[rule]
  const path = folders[folder] === undefined ? undefined : join(folders[folder], ...rest)
  const file = path === undefined ? undefined : findFile(path)
  if (!headers || path === undefined || !file) {
    response.writeHead(404).end('There is no such file.')
    return
  }
  response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream')
  response.setHeader('cache-control', 'no-store')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  const range = rule === 'rangeless' ? null : /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  if (!range) {
    response.setHeader('content-length', file.size)
    createReadStream(path).pipe(response)
    return
  }
  const start = Number(range[1])
  const end = Math.min(Number(range[2]), file.size - 1)
  response.writeHead(206, {
    'content-range': `bytes ${start}-${end}/${file.size}`,
    'content-length': end - start + 1,
  })
  createReadStream(path, { start, end }).pipe(response)
}

/** Undefined for folders, for what is missing, and for what lies inside a file. */
function findFile(path: string): Stats | undefined {
  try {
    const found = statSync(path)
    return found.isFile() ? found : undefined
  } catch {
    return undefined
  }
}
