/** The options of the server's app, checked at the door. */
import type { Model } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import type { AudioServices } from './audio-routes.ts'
import type { RemotePictureLoader } from './pictures.ts'

/** One line of the log: a request that has ended. No words of questions or answers. */
export interface RequestLogEntry {
  readonly time: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly model?: string
  readonly promptTokens?: number
  readonly cachedTokens?: number
  readonly completionTokens?: number
  /** Code and message of what the client was refused for. */
  readonly error?: string
  /** What nobody foresaw; the client was told nothing of it. */
  readonly cause?: unknown
}

export interface ServerAppOptions {
  /** By the names that clients ask for; the first answers requests that name none. */
  readonly models: Readonly<Record<string, Model>>
  /** Clients must send it. Default: none is needed. */
  readonly apiKey?: string
  /** Origins of web pages that may ask, such as `https://app.example`. Default none. */
  readonly corsOrigins?: readonly string[]
  /** Names besides the loopback's that requests may be addressed to. Default none; `any` needs an API key. */
  readonly hosts?: readonly string[] | 'any'
  /** Requests that may wait while one is answered; more are refused with 429. Default 32. */
  readonly queueLength?: number
  /** Largest request. Default 25 MiB. */
  readonly maxBodyBytes?: number
  /** Longest time for a request, waiting included. Default 10 minutes. */
  readonly requestTimeoutMs?: number
  /** Conversations a model keeps, so that a next question costs only itself. Default 4; each holds memory. */
  readonly keptConversations?: number
  /** Hears and speaks for clients. Default: neither. */
  readonly audio?: AudioServices
  /** Fetches pictures from addresses. Default: they are refused. */
  readonly loadRemotePicture?: RemotePictureLoader
  readonly log?: (entry: RequestLogEntry) => void
}

export type CheckedOptions = Required<
  Omit<ServerAppOptions, 'apiKey' | 'audio' | 'loadRemotePicture' | 'log'>
> &
  Pick<ServerAppOptions, 'apiKey' | 'audio' | 'loadRemotePicture' | 'log'>

const COUNTS = {
  queueLength: { least: 0, otherwise: 32 },
  maxBodyBytes: { least: 1, otherwise: 25 * 2 ** 20 },
  requestTimeoutMs: { least: 1, otherwise: 600_000 },
  keptConversations: { least: 0, otherwise: 4 },
} as const

const NAMES = [
  'models',
  'apiKey',
  'corsOrigins',
  'hosts',
  'audio',
  'loadRemotePicture',
  'log',
  ...Object.keys(COUNTS),
]

/** Throws `option/…`. */
export function checkAppOptions(options: ServerAppOptions): CheckedOptions {
  const { models, apiKey, corsOrigins = [], hosts = [], audio, loadRemotePicture, log } = options
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name))
      throw invalid(`There is no option "${name}" for the server; options are ${NAMES.join(', ')}.`)
  }
  if (Object.keys(models).length === 0) throw invalid('A server needs at least one model; found none.')
  if (apiKey !== undefined && apiKey.trim() === '') throw invalid('The API key must not be empty.')
  if (hosts === 'any' && apiKey === undefined)
    throw invalid('A server that other machines can ask needs an API key; found none.')
  for (const origin of corsOrigins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw invalid(`An origin must be like https://app.example, with nothing after it; found "${origin}".`)
  }
  const count = (name: keyof typeof COUNTS): number => {
    const { least, otherwise } = COUNTS[name]
    const value = options[name] ?? otherwise
    if (Number.isSafeInteger(value) && value >= least) return value
    throw invalid(`The option "${name}" must be a whole number of at least ${least}; found ${value}.`)
  }
  return {
    models,
    corsOrigins,
    hosts,
    queueLength: count('queueLength'),
    maxBodyBytes: count('maxBodyBytes'),
    requestTimeoutMs: count('requestTimeoutMs'),
    keptConversations: count('keptConversations'),
    ...(apiKey !== undefined && { apiKey }),
    ...(audio && { audio }),
    ...(loadRemotePicture && { loadRemotePicture }),
    ...(log && { log }),
  }
}

function invalid(message: string): EngineError {
  return new EngineError('option/server', { message })
}
