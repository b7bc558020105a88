/** `onsight chat`: a conversation, typed at a terminal or one line of standard input a turn. */
import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Chat, ChatEvent, GenerationOptions, Model } from '../engine/types.ts'
import { isAbortError } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import { type AnswerOptions, generationOptionsOf, hasIdleSampling, loadOptionsOf } from './answer-options.ts'
import type { CommandContext } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { HotStart } from './hot-start.ts'
import { findFile, findPictures, STDIN_NAME } from './pictures.ts'
import { checkSnapshotPaths, openChat, type SnapshotPaths } from './saved-chat.ts'
import { loadSchema } from './schema-file.ts'
import { Terminal } from './terminal.ts'
import { runTurn } from './turn.ts'
import { failureOf, withModel } from './with-model.ts'

const PROMPT = '> '
/** Writing a long conversation to a slow disk. */
const SAVE_GRACE_MS = 10_000

export async function runChat(
  pictureNames: readonly string[],
  options: AnswerOptions & SnapshotPaths,
  context: CommandContext,
): Promise<ExitCode> {
  if (pictureNames.includes(STDIN_NAME)) {
    throw new EngineError('option/picture', {
      message: 'chat reads its turns from standard input, so "-" cannot be a picture.',
      hint: 'Name a file, or use: onsight describe - < photo.jpg',
    })
  }
  const terminal = new Terminal(context, options)
  await findPictures(pictureNames, context.stdin)
  await checkSnapshotPaths(options, options)
  const generation = { ...generationOptionsOf(options), ...(await loadSchema(options.schema)) }
  return withModel(context, terminal, { model: options.model, ...loadOptionsOf(options) }, async (model) => {
    if (hasIdleSampling(options, model.defaults)) terminal.note(terminal.messages.samplingIsOff)
    const chat = await openChat(model, options, terminal, context)
    return new Conversation(model, chat, pictureNames, { options, generation }, terminal, context).run()
  })
}

class Conversation {
  readonly #model: Model
  readonly #chat: Chat
  readonly #options: AnswerOptions & SnapshotPaths
  readonly #generation: GenerationOptions
  readonly #terminal: Terminal
  readonly #context: CommandContext
  /** Paths that go with the next message. */
  #pictures: readonly string[]
  #exitCode: ExitCode = EXIT.done
  /** What the file has; until something was said nothing is written. */
  #savedTurns: string
  #isSaved = false
  #hotStart: HotStart | undefined

  constructor(
    model: Model,
    chat: Chat,
    pictures: readonly string[],
    {
      options,
      generation,
    }: { readonly options: AnswerOptions & SnapshotPaths; readonly generation: GenerationOptions },
    terminal: Terminal,
    context: CommandContext,
  ) {
    this.#model = model
    this.#chat = chat
    this.#savedTurns = JSON.stringify(chat.turns)
    this.#pictures = pictures
    this.#options = options
    this.#generation = { ...generation, signal: context.interrupts.signal }
    this.#terminal = terminal
    this.#context = context
  }

  /** Until the input ends, somebody leaves or interrupts. Piped turns that failed make the exit code. */
  async run(): Promise<ExitCode> {
    const { stdin, interrupts } = this.#context
    const isInteractive = stdin.isTTY === true
    const { save } = this.#options
    if (save !== undefined) interrupts.allowGrace(SAVE_GRACE_MS)
    if (isInteractive) this.#terminal.note(this.#terminal.messages.chatGreeting)
    if (isInteractive && this.#options.ask === undefined) this.#hotStart = this.#warmUp()
    if (this.#options.ask !== undefined) await this.#send(this.#options.ask)
    if (interrupts.exitCode === undefined) await this.#converse(isInteractive)
    if (this.#isSaved && save !== undefined) this.#terminal.note(this.#terminal.messages.saved(save))
    return interrupts.exitCode ?? (isInteractive ? EXIT.done : this.#exitCode)
  }

  #warmUp(): HotStart {
    const { system, resume, detail, imageTokens } = this.#options
    const isNew = resume === undefined
    const options = {
      ...(isNew && system !== undefined && { system }),
      ...(isNew && { images: this.#pictures.map((path) => resolve(path)) }),
      ...(detail !== undefined && { detail }),
      ...(imageTokens !== undefined && { imageTokens }),
    }
    return new HotStart(this.#model, options, this.#terminal, this.#context.interrupts.signal)
  }

  async #converse(isInteractive: boolean): Promise<void> {
    const { stderr, interrupts } = this.#context
    const lines = this.#openLines(isInteractive)
    let isOpen = true
    lines.once('close', () => {
      isOpen = false
    })
    try {
      if (isInteractive) lines.prompt()
      for await (const line of lines) {
        if (interrupts.exitCode !== undefined || line.trim() === '/exit') return
        await this.#take(line.trim())
        if (interrupts.exitCode !== undefined) return
        if (isInteractive && isOpen) lines.prompt()
      }
      // What comes next must not stand behind the last prompt.
      if (isInteractive) stderr.write('\n')
    } finally {
      lines.close()
    }
  }

  #openLines(isInteractive: boolean): Interface {
    const { stdin, stderr, interrupts } = this.#context
    const lines = createInterface({
      input: stdin,
      ...(isInteractive && { output: stderr, prompt: PROMPT }),
      terminal: isInteractive && stderr.isTTY === true,
    })
    // A terminal that readline reads key by key sends no signal for Ctrl-C.
    lines.on('SIGINT', () => interrupts.raise('SIGINT'))
    interrupts.signal.addEventListener('abort', () => lines.close(), { once: true })
    return lines
  }

  async #take(line: string): Promise<void> {
    if (line === '') return
    const command = /^\/([a-z]+)(?:\s+(.*))?$/.exec(line)
    if (command === null) return this.#send(line)
    try {
      await this.#obey(command[1] ?? '', command[2] ?? '')
    } catch (error) {
      this.#exitCode = failureOf(this.#context, this.#terminal, error)
    }
  }

  async #obey(name: string, argument: string): Promise<void> {
    if (name === 'again' || name === 'edit') return this.#reask(name === 'edit' ? argument : undefined)
    if (name !== 'image') {
      throw new EngineError('option/chat-command', {
        message: `Unknown command "/${name}"; expected /image PATH, /again, /edit TEXT or /exit.`,
        hint: 'To send a message that begins with a slash, put a word before it.',
      })
    }
    if (argument === '') {
      throw new EngineError('option/chat-command', {
        message: '/image: expected the path of a picture, found nothing.',
      })
    }
    const path = await findFile(argument)
    this.#pictures = [...this.#pictures, path]
    this.#terminal.note(this.#terminal.messages.pictureAdded(path))
  }

  /** Another answer to the last message, or to another text in its place. */
  async #reask(text?: string): Promise<void> {
    const last = this.#chat.turns.findLastIndex(({ role }) => role === 'user')
    if (text === '') {
      throw new EngineError('option/chat-command', {
        message: '/edit: expected the text to ask instead, found nothing.',
      })
    }
    const generation = this.#generation
    await this.#run(
      text === undefined || last < 0
        ? this.#chat.regenerate(generation)
        : this.#chat.edit(last, { text }, generation),
      [],
    )
  }

  async #send(text: string): Promise<void> {
    const images = this.#pictures.map((path) => resolve(path)) // as a saved conversation finds them from anywhere
    if (await this.#run(this.#chat.send({ text, images }, this.#generation), this.#pictures))
      this.#pictures = []
  }

  /** After each answer, so that a crash loses one at most. An answer that was interrupted counts as far as it came. */
  async #save(): Promise<void> {
    const { save } = this.#options
    const turns = JSON.stringify(this.#chat.turns)
    if (save === undefined || turns === this.#savedTurns) return
    try {
      await this.#chat.save(save)
      this.#savedTurns = turns
      this.#isSaved = true
    } catch (error) {
      this.#exitCode = failureOf(this.#context, this.#terminal, error)
    }
  }

  /** Errors end a turn, not the conversation. Returns whether there was none. */
  async #run(events: AsyncIterable<ChatEvent>, pictureNames: readonly string[]): Promise<boolean> {
    try {
      await this.#hotStart?.finish()
      this.#hotStart = undefined
      await runTurn(events, {
        terminal: this.#terminal,
        isJson: this.#options.json ?? false,
        loadMs: this.#model.info.loadMs,
        pictureNames,
      })
      await this.#save()
      return true
    } catch (error) {
      this.#exitCode = failureOf(this.#context, this.#terminal, error)
      if (isAbortError(error)) return false
      if (this.#options.json) this.#terminal.json({ error: describeError(error) })
      // A picture that cannot be read would break every message after this one.
      if (EngineError.isInstance(error) && /^(image|file)\//.test(error.code)) this.#pictures = []
      return false
    }
  }
}

function describeError(error: unknown): { code: string; message: string } {
  if (EngineError.isInstance(error)) return { code: error.code, message: error.message }
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) }
}
