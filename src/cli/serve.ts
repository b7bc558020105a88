/** `onsight serve`: the local server, until it is interrupted. */
import type { Model } from '../engine/types.ts'
import { type AudioServices, type RequestLogEntry, startServer } from '../entry/server.ts'
import { createAudioDecoder } from '../host/node/audio-decoder.ts'
import { loadOptionsOf, type ModelOptions } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { openVoice } from './open-voice.ts'
import { type ServeMessages, serveMessagesFor } from './serve-messages.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { TINY, withModel } from './with-model.ts'
import { withRecognizer } from './with-recognizer.ts'

export interface ServeOptions extends ModelOptions, TerminalOptions {
  readonly name?: string
  readonly recognizer?: string
  readonly voice?: string
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
    return withAudio(options, context, terminal, (audio) =>
      serve(model, audio, options, context, terminal, messages),
    )
  })
}

/** Loads what hears and speaks, where it was asked for. */
async function withAudio(
  { recognizer, voice: voiceName }: ServeOptions,
  context: CommandContext,
  terminal: Terminal,
  use: (audio: AudioServices | undefined) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (recognizer === undefined && voiceName === undefined) return use(undefined)
  const decoder = createAudioDecoder()
  const withVoice = async (hearing: Pick<AudioServices, 'recognizer'>): Promise<ExitCode> => {
    if (voiceName === undefined) return use({ decoder, ...hearing })
    const voice = await openVoice(context, terminal, await context.loadSpeech(), voiceName)
    try {
      return await use({ decoder, voice, ...hearing })
    } finally {
      await voice.dispose()
    }
  }
  if (recognizer === undefined) return withVoice({})
  return withRecognizer(context, terminal, { model: recognizer }, (loaded) =>
    withVoice({ recognizer: loaded }),
  )
}

async function serve(
  model: Model,
  audio: AudioServices | undefined,
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
    ...(audio && { audio }),
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
