/** `onsight serve`: the local server, until it is interrupted. */
import type { Model } from '../engine/types.ts'
import { type RequestLogEntry, startServer } from '../entry/server.ts'
import { loadOptionsOf, type ModelOptions } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { type ServeMessages, serveMessagesFor } from './serve-messages.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { TINY, withModel } from './with-model.ts'

export interface ServeOptions extends ModelOptions, TerminalOptions {
  readonly name?: string
  readonly port: number
  readonly host: string
  readonly apiKey?: string
  readonly cors?: readonly string[]
  readonly queue: number
  readonly keep: number
  readonly maxBody: number
  readonly timeout: number
  readonly allowRemoteImages?: boolean
  readonly json?: boolean
}

/** For answers that run when the server is told to stop. */
const GRACE_MS = 10_000

export function runServe(options: ServeOptions, context: CommandContext): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const request = { model: options.model, ...loadOptionsOf(options) }
  return withModel(context, terminal, request, async (model) => {
    const messages = serveMessagesFor(context.env)
    if (terminal.showsProgress) terminal.note(messages.warmingUp)
    await model.warmUp({ signal: context.interrupts.signal })
    return serve(model, options, context, terminal, messages)
  })
}

async function serve(
  model: Model,
  options: ServeOptions,
  { env, interrupts }: CommandContext,
  terminal: Terminal,
  messages: ServeMessages,
): Promise<ExitCode> {
  const name = options.name ?? nameOf(options.model)
  const apiKey = options.apiKey ?? (env['ONSIGHT_API_KEY'] || undefined)
  const server = await startServer({
    models: { [name]: model },
    host: options.host,
    port: options.port,
    corsOrigins: options.cors ?? [],
    queueLength: options.queue,
    keptConversations: options.keep,
    maxBodyBytes: Math.max(1, Math.round(options.maxBody * 2 ** 20)),
    requestTimeoutMs: options.timeout * 1000,
    allowsRemotePictures: options.allowRemoteImages ?? false,
    ...(apiKey !== undefined && { apiKey }),
    log: (entry) => (options.json ? terminal.json(jsonOf(entry)) : logTo(terminal, messages, entry)),
  })
  interrupts.allowGrace(GRACE_MS)
  if (options.json) {
    terminal.json({ event: 'listening', url: server.url, model: name, needsKey: apiKey !== undefined })
  } else {
    terminal.answer(`${messages.listening(name, server.url)}\n`)
    if (options.allowRemoteImages) terminal.note(messages.remotePictures)
    terminal.note(messages.example)
    terminal.note(exampleOf(server.url, apiKey !== undefined))
  }
  await untilInterrupted(interrupts.signal)
  terminal.note(messages.stopping)
  await server.stop(GRACE_MS)
  return interrupts.exitCode ?? EXIT.done
}

/** The last part of a path or of an id on the hub, without what says how it is stored. */
function nameOf(reference: string = TINY): string {
  const last = reference.split(/[\\/]/).filter(Boolean).at(-1) ?? reference
  return last.replace(/\.gguf$/i, '').replace(/@.*$/, '')
}

function exampleOf(url: string, needsKey: boolean): string {
  const key = needsKey ? ` -H 'Authorization: Bearer KEY'` : ''
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] })
  return `curl ${url}/v1/chat/completions -H 'Content-Type: application/json'${key} -d '${body}'`
}

function jsonOf({ cause, ...entry }: RequestLogEntry): object {
  return { event: 'request', ...entry, ...(cause !== undefined && { cause: String(cause) }) }
}

function logTo(terminal: Terminal, messages: ServeMessages, entry: RequestLogEntry): void {
  const { route, status, durationMs, promptTokens, cachedTokens = 0, completionTokens = 0 } = entry
  const tokens =
    promptTokens === undefined ? '' : messages.tokens(promptTokens, cachedTokens, completionTokens)
  terminal.note(messages.request(route, status, (durationMs / 1000).toFixed(2), tokens))
  if (entry.cause !== undefined) terminal.error(entry.cause)
  else if (entry.error !== undefined) terminal.note(`  ${entry.error}`)
}

function untilInterrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
