/** `onsight pull`: fetches a model, with speed and time left on a terminal. */
import type { PullEvent, PullOptions } from '../hub/pull.ts'
import { isAbortError } from '../shared/abort.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { type HubMessages, hubMessagesFor } from './hub-messages.ts'
import { formatBytes, formatSeconds } from './quantities.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { TransferMeter } from './transfer-meter.ts'
import { failureOf } from './with-model.ts'

export interface PullCommandOptions extends TerminalOptions {
  readonly revision?: string
  readonly file?: readonly string[]
  readonly json?: boolean
}

export async function runPull(
  reference: string,
  { revision, file, json, ...options }: PullCommandOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const terminal = new Terminal(context, options)
  const messages = hubMessagesFor(context.env)
  const { openModelHub } = await import('../entry/hub.node.ts')
  const progress = new PullProgress(terminal, messages)
  const request: PullOptions = {
    ...(revision !== undefined && { revision }),
    ...(file !== undefined && { files: file }),
    signal: context.interrupts.signal,
    onEvent: (event) => progress.take(event),
  }
  try {
    const hub = await openModelHub({ env: context.env })
    const { model, wasStored } = await hub.pull(reference, request)
    terminal.progress.clear()
    if (json) terminal.json({ ...model, wasStored })
    else terminal.answer(`${model.location}\n`)
    terminal.note(wasStored ? messages.wasStored(model.id) : messages.stored(reference))
    return EXIT.done
  } catch (error) {
    const exitCode = failureOf(context, terminal, error)
    if (isAbortError(error)) terminal.note(messages.stopped)
    return exitCode
  }
}

/** Files are fetched several at a time; people see one line for all. */
class PullProgress {
  readonly #terminal: Terminal
  readonly #messages: HubMessages
  readonly #meter = new TransferMeter()
  readonly #received = new Map<string, number>()
  #id = ''
  #receivedBytes = 0
  #totalBytes = 0

  constructor(terminal: Terminal, messages: HubMessages) {
    this.#terminal = terminal
    this.#messages = messages
  }

  take(event: PullEvent): void {
    switch (event.type) {
      case 'plan-made':
        this.#id = event.id
        this.#totalBytes = event.totalBytes
        this.#terminal.note(this.#describePlan(event))
        for (const { name, keptBytes } of event.files) this.#count(name, keptBytes)
        break
      case 'file-started':
        this.#count(event.file, event.fromByte)
        break
      case 'bytes-received':
        this.#count(event.file, event.receivedBytes)
        this.#show()
        break
      case 'file-restarted':
        this.#count(event.file, 0)
        this.#terminal.note(this.#messages.restarted(event.file, event.reason))
        break
      case 'retry-scheduled':
        this.#terminal.note(this.#messages.retrying(event.reason, (event.delayMs / 1000).toFixed(1)))
        break
      case 'file-verified':
        break
      default:
        event satisfies never
    }
  }

  #describePlan({ id, licence, files, totalBytes, keptBytes }: PullEvent & { type: 'plan-made' }): string {
    const parts = [
      this.#messages.plan(id, files.length, formatBytes(totalBytes)),
      ...(keptBytes > 0 ? [this.#messages.alreadyThere(formatBytes(keptBytes))] : []),
      ...(licence === undefined ? [] : [this.#messages.licence(licence)]),
    ]
    return parts.join('; ')
  }

  #count(file: string, bytes: number): void {
    this.#receivedBytes += bytes - (this.#received.get(file) ?? 0)
    this.#received.set(file, bytes)
  }

  #show(): void {
    const { bytesPerSecond, secondsLeft } = this.#meter.measure(this.#receivedBytes, this.#totalBytes)
    const details = [
      ...(bytesPerSecond === undefined ? [] : [`${formatBytes(bytesPerSecond)}/s`]),
      ...(secondsLeft === undefined ? [] : [this.#messages.left(formatSeconds(secondsLeft))]),
    ]
    this.#terminal.progress.show(
      `${this.#messages.fetching} ${this.#id}`,
      this.#receivedBytes,
      this.#totalBytes,
      details.join(', '),
    )
  }
}
