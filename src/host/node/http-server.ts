/** Listens on a port and answers with a function from request to response. Who is slow, silent or gone is cut off. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { EngineError } from '../../shared/errors.ts'

/** A person's client keeps a few open; this is far above, and far below what a process may open. */
const MAX_CONNECTIONS = 1024
/** Headers come at once; whoever sends them by the byte wants to hold the connection. */
const HEADERS_MS = 10_000
/** The largest body over the slowest sensible link. */
const REQUEST_MS = 120_000
/** Between requests of one client. */
const KEEP_ALIVE_MS = 5000
/** How often the limits above are looked at. */
const CHECK_MS = 2000
/** Beyond the time a request may take, nothing can be under way. */
const SILENCE_MARGIN_MS = 30_000

export interface ListenOptions {
  /** An address or a name of this machine. */
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Longest time in which a connection may carry nothing: that of a request. */
  readonly requestTimeoutMs: number
}

export interface ListeningServer {
  /** `http://127.0.0.1:8321` */
  readonly url: string
  /** Takes no new connections, and ends those that still stand after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Throws `server/cannot-listen`. */
export async function listen(
  fetch: (request: Request) => Promise<Response>,
  { host, port, requestTimeoutMs }: ListenOptions,
): Promise<ListeningServer> {
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false })
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_MS,
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  server.maxConnections = MAX_CONNECTIONS
  server.setTimeout(requestTimeoutMs + SILENCE_MARGIN_MS)
  await start(server, host, port)
  const { address, family, port: found } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${found}`,
    close: (graceMs) => closeServer(server, graceMs),
  }
}

function start(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === 'EADDRINUSE'
      reject(
        new EngineError('server/cannot-listen', {
          message: `Cannot listen on ${host}, port ${port}: ${isTaken ? 'another program has it' : cause.message}.`,
          hint: isTaken
            ? 'Name another with --port, or end that program.'
            : 'Name another address with --host.',
          cause,
        }),
      )
    })
    server.listen(port, host, resolve)
  })
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(timer)
}
