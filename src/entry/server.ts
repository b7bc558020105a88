/** Onsight's local server: an OpenAI-compatible API over models that are loaded. */
import { type ListeningServer, listen } from '../host/node/http-server.ts'
import { createRemotePictureLoader } from '../host/node/remote-picture.ts'
import { createServerApp } from '../server/app.ts'
import type { ServerAppOptions } from '../server/app-options.ts'
import { EngineError } from '../shared/errors.ts'

export { createServerApp, type ServerApp } from '../server/app.ts'
export type { RequestLogEntry, ServerAppOptions } from '../server/app-options.ts'
export type { AudioServices } from '../server/audio-routes.ts'
export type { RemotePictureLoader } from '../server/pictures.ts'

export interface StartServerOptions extends Omit<ServerAppOptions, 'hosts' | 'loadRemotePicture'> {
  /** An address or name of this machine. Default 127.0.0.1; others than the loopback's need an API key. */
  readonly host?: string
  /** 0 takes a free one. Default 8321. */
  readonly port?: number
  /** Fetch pictures that requests name by http(s) addresses of the public internet. Default false. */
  readonly allowsRemotePictures?: boolean
}

export interface RunningServer {
  /** `http://127.0.0.1:8321` */
  readonly url: string
  /** Finishes what runs, for `graceMs` at most (default 10 seconds). Models stay open. Safe to call twice. */
  stop(graceMs?: number): Promise<void>
}

const DEFAULT_TIMEOUT_MS = 600_000
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/
/** For the last words of answers that were cut. */
const LAST_WORDS_MS = 500

/**
 * Listens with Node's HTTP server. Elsewhere use `createServerApp`, whose `fetch` fits Deno and Bun as it is.
 *
 * @example
 * const server = await startServer({ models: { tiny: await loadModel(bundledModelPath()) } })
 * console.log(server.url)
 *
 * @throws EngineError `option/server`, `server/cannot-listen`.
 */
export async function startServer({
  host = '127.0.0.1',
  port = 8321,
  allowsRemotePictures = false,
  requestTimeoutMs = DEFAULT_TIMEOUT_MS,
  ...options
}: StartServerOptions): Promise<RunningServer> {
  const isLocal = LOOPBACK.test(host)
  if (!isLocal && options.apiKey === undefined) {
    throw new EngineError('option/server', {
      message: `On ${host} other machines can ask this server, which needs an API key; found none.`,
      hint: 'Give one with --api-key or ONSIGHT_API_KEY, or stay on 127.0.0.1.',
    })
  }
  const app = createServerApp({
    ...options,
    requestTimeoutMs,
    ...(!isLocal && { hosts: 'any' as const }),
    ...(allowsRemotePictures && { loadRemotePicture: createRemotePictureLoader() }),
  })
  const server: ListeningServer = await listen(app.fetch, { host, port, requestTimeoutMs })
  let stopping: Promise<void> | undefined
  return {
    url: server.url,
    stop: (graceMs = 10_000) => {
      stopping ??= Promise.all([app.stop(graceMs), server.close(graceMs + LAST_WORDS_MS)]).then(() => {})
      return stopping
    },
  }
}
