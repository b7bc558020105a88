/** Where words go: answers to standard output, everything else to standard error. */
import { inspect } from 'node:util'
import { EngineError } from '../shared/errors.ts'
import type { CommandContext, OutputStream } from './context.ts'
import { type Messages, messagesFor } from './messages.ts'
import { printableLine, printableText } from './printable.ts'
import { ProgressLine, type ProgressMode } from './progress-line.ts'

export interface TerminalOptions {
  readonly quiet?: boolean
  readonly plain?: boolean
  readonly debug?: boolean
  /** False after --no-color. */
  readonly color?: boolean
}

const STYLES = { dim: ['\u001b[2m', '\u001b[22m'], red: ['\u001b[31m', '\u001b[39m'] } as const

export class Terminal {
  readonly messages: Messages
  readonly progress: ProgressLine
  readonly #stdout: OutputStream
  readonly #stderr: OutputStream
  readonly #quiet: boolean
  readonly #debug: boolean
  readonly #hasColor: boolean

  constructor({ stdout, stderr, env }: CommandContext, options: TerminalOptions = {}) {
    this.messages = messagesFor(env)
    this.#stdout = stdout
    this.#stderr = stderr
    this.#quiet = options.quiet ?? false
    this.#debug = options.debug ?? false
    this.#hasColor = (options.color ?? true) && hasColor(stderr, env)
    this.progress = new ProgressLine(stderr, progressMode(stderr, env, options))
  }

  /** Whether progress and the reports that go with it are shown. */
  get showsProgress(): boolean {
    return this.#stderr.isTTY === true && !this.#quiet
  }

  /** Part of an answer. Pipes and files get it as it is, terminals without control characters. */
  answer(text: string): void {
    this.#stdout.write(this.#stdout.isTTY ? printableText(text) : text)
  }

  json(value: unknown): void {
    this.#stdout.write(`${JSON.stringify(value)}\n`)
  }

  /** Something worth knowing; --quiet hides it. */
  note(text: string): void {
    if (this.#quiet) return
    this.progress.clear()
    this.#stderr.write(`${this.#style('dim', printableLine(text))}\n`)
  }

  /** Lines of a report that was asked for, such as a table; shown even with --quiet. */
  report(lines: readonly string[]): void {
    this.progress.clear()
    this.#stderr.write(`${lines.map(printableLine).join('\n')}\n`)
  }

  error(error: unknown): void {
    this.progress.clear()
    const isExpected = EngineError.isInstance(error)
    const message = error instanceof Error || isExpected ? error.message : String(error)
    this.complain(
      isExpected ? message : `unexpected error: ${message}`,
      isExpected ? error.hint : 'This should not happen; run again with --debug and report what it prints.',
    )
    if (this.#debug) this.#stderr.write(`${inspect(error)}\n`)
  }

  /** In the form in which all errors are printed. */
  complain(message: string, hint?: string): void {
    this.#stderr.write(`${this.#style('red', 'onsight:')} ${printableLine(message)}\n`)
    if (hint !== undefined) this.#stderr.write(`${this.#style('dim', `  → ${printableLine(hint)}`)}\n`)
  }

  #style(name: keyof typeof STYLES, text: string): string {
    const [on, off] = STYLES[name]
    return this.#hasColor ? `${on}${text}${off}` : text
  }
}

/** In the order of weight: NO_COLOR, FORCE_COLOR, then whether a terminal can show colours. */
function hasColor(stream: OutputStream, env: CommandContext['env']): boolean {
  if (env['NO_COLOR']) return false
  const force = env['FORCE_COLOR']
  if (force !== undefined) return force !== '0' && force !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

function progressMode(
  stream: OutputStream,
  env: CommandContext['env'],
  options: TerminalOptions,
): ProgressMode {
  if (options.quiet || !stream.isTTY) return 'off'
  return options.plain || env['TERM'] === 'dumb' ? 'lines' : 'redraw'
}
