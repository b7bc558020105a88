/** `onsight talk`: a conversation by voice about what is in front of somebody. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createChatAnswerer } from '../assistant/voice-loop/chat-answerer.ts'
import { createConversationLoop } from '../assistant/voice-loop/conversation-loop.ts'
import { createEarcon } from '../assistant/voice-loop/earcon.ts'
import type { ConversationLoop, EarconKind, LoopEvent, LoopMode } from '../assistant/voice-loop/loop-types.ts'
import type { Model } from '../engine/types.ts'
import { EngineError } from '../shared/errors.ts'
import type { Microphone, Recognizer } from '../speech/types.ts'
import { loadOptionsOf, type ModelOptions } from './answer-options.ts'
import type { CommandContext, SpeechLibrary } from './context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { openSpeaker } from './open-voice.ts'
import { findPictures, STDIN_NAME } from './pictures.ts'
import { type TalkMessages, talkMessagesFor } from './talk-messages.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'
import { withModel } from './with-model.ts'
import { withRecognizer } from './with-recognizer.ts'

export interface TalkOptions extends ModelOptions, TerminalOptions {
  readonly cameraFolder?: string
  readonly recognizer?: string
  readonly voice?: string
  readonly rate?: number
  readonly mute?: boolean
  readonly language: string
  readonly input?: string
  readonly device?: string
  readonly handsFree?: boolean
  readonly interrupt?: boolean
  readonly system?: string
  readonly maxTokens?: number
  readonly json?: boolean
}

const PICTURE = /\.(?:jpe?g|png|webp|gif|avif|bmp)$/i

export async function runTalk(
  pictureNames: readonly string[],
  options: TalkOptions,
  context: CommandContext,
): Promise<ExitCode> {
  if (pictureNames.includes(STDIN_NAME)) {
    throw new EngineError('option/picture', {
      message: 'talk reads the keyboard or sound from standard input, so "-" cannot be a picture.',
    })
  }
  const terminal = new Terminal(context, options)
  await findPictures(pictureNames, context.stdin)
  const library = await context.loadSpeech()
  // What is missing is said before models are loaded.
  const microphone = await openMicrophone(options, context, library)
  const load = { model: options.model, ...loadOptionsOf(options) }
  return withModel(context, terminal, load, (model) =>
    withRecognizer(context, terminal, { model: options.recognizer }, (recognizer) =>
      new Talk(pictureNames, options, context, terminal).run(model, recognizer, microphone, library),
    ),
  )
}

async function openMicrophone(
  { input, device }: TalkOptions,
  { stdin }: CommandContext,
  library: SpeechLibrary,
): Promise<Microphone> {
  if (input === STDIN_NAME) return library.createPipedMicrophone(stdin)
  if (input !== undefined) return library.createRecording(input)
  return library.findMicrophone(device === undefined ? {} : { device })
}

class Talk {
  readonly #options: TalkOptions
  readonly #context: CommandContext
  readonly #terminal: Terminal
  readonly #messages: TalkMessages
  /** For the next question. */
  #pictures: readonly string[]
  #seen: string | undefined
  #hasOpenLine = false
  #exitCode: ExitCode = EXIT.done

  constructor(
    pictures: readonly string[],
    options: TalkOptions,
    context: CommandContext,
    terminal: Terminal,
  ) {
    this.#pictures = pictures
    this.#options = options
    this.#context = context
    this.#terminal = terminal
    this.#messages = talkMessagesFor(context.env)
  }

  async run(
    model: Model,
    recognizer: Recognizer,
    microphone: Microphone,
    library: SpeechLibrary,
  ): Promise<ExitCode> {
    const { voice, mute, language, rate, system, maxTokens } = this.#options
    const { interrupts } = this.#context
    const speaker = mute ? undefined : await openSpeaker(this.#context, this.#terminal, library, voice)
    const chat = model.chat(system === undefined ? {} : { system })
    const mode = this.#mode(microphone)
    const loop = createConversationLoop({
      microphone,
      gate: await library.createVoiceGate(),
      recognizer,
      answer: createChatAnswerer(chat, {
        images: () => this.#look(),
        ...(maxTokens !== undefined && { generation: { maxTokens } }),
      }),
      mode,
      language,
      earcon: await this.#earcon(library),
      ...(speaker && { speaker }),
      ...(rate !== undefined && { rate }),
    })
    const stop = (): void => void loop.dispose()
    interrupts.signal.addEventListener('abort', stop, { once: true })
    const keyboard = this.#listenToKeys(loop, mode)
    try {
      this.#terminal.note(mode === 'push-to-talk' ? this.#messages.pushToTalk : this.#messages.handsFree)
      for await (const event of loop.run()) this.#report(event)
    } finally {
      keyboard?.close()
      await loop.dispose()
      await speaker?.dispose()
      chat.dispose()
    }
    return interrupts.exitCode ?? this.#exitCode
  }

  #mode({ kind }: Microphone): LoopMode {
    const { interrupt, handsFree } = this.#options
    if (interrupt) return 'full-duplex'
    return handsFree || kind !== 'device' || !this.#context.stdin.isTTY ? 'half-duplex' : 'push-to-talk'
  }

  /** Enter speaks and ends speaking, or stops an answer; typed text is asked. */
  #listenToKeys(loop: ConversationLoop, mode: LoopMode): { close(): void } | undefined {
    const { stdin } = this.#context
    if (this.#options.input === STDIN_NAME) return undefined
    const lines = createInterface({ input: stdin, terminal: false })
    lines.on('line', (line) => {
      if (line.trim() !== '') loop.ask(line.trim())
      else if (mode !== 'push-to-talk') loop.interrupt()
      else if (loop.state === 'listening') loop.release()
      else loop.press()
    })
    return lines
  }

  /** A short sound, else the bell of the terminal. */
  async #earcon(library: SpeechLibrary): Promise<(kind: EarconKind) => void> {
    const player = this.#options.mute ? undefined : await library.createAudioPlayer().catch(() => undefined)
    const { stderr } = this.#context
    const ring = (): void => {
      if (stderr.isTTY) stderr.write('\u0007')
    }
    return (kind) => {
      if (player) player.play(createEarcon(kind)).catch(ring)
      else ring()
    }
  }

  /** Pictures of the next question. */
  async #look(): Promise<readonly string[]> {
    const pictures = [...this.#pictures]
    this.#pictures = []
    const { cameraFolder } = this.#options
    const newest = cameraFolder === undefined ? undefined : await findNewestPicture(cameraFolder)
    if (newest !== undefined && newest !== this.#seen) {
      this.#seen = newest
      pictures.push(newest)
    }
    for (const picture of pictures) this.#terminal.note(this.#messages.looksAt(picture))
    return pictures
  }

  #report(event: LoopEvent): void {
    if (this.#options.json) {
      const { error, ...rest } = { error: undefined, ...event }
      this.#terminal.json(error === undefined ? rest : { ...rest, error: String(error) })
      return
    }
    switch (event.type) {
      case 'state-changed':
        this.#endLine()
        this.#terminal.note(this.#messages.states[event.state])
        break
      case 'question-heard':
        this.#endLine()
        this.#terminal.note(this.#messages.you(event.text))
        break
      case 'speech-ignored':
        if (event.reason === 'no-words') this.#terminal.note(this.#messages.noWords)
        break
      case 'sentence-ready':
        // Whole sentences, as a screen reader takes them.
        if (this.#options.mute) this.#terminal.answer(`${event.text}\n`)
        break
      case 'text-delta':
        if (this.#options.mute) break
        this.#terminal.answer(event.text)
        this.#hasOpenLine = !event.text.endsWith('\n')
        break
      case 'answer-finished':
        this.#endLine()
        break
      case 'failure-occurred':
        this.#endLine()
        this.#terminal.error(event.error)
        this.#exitCode = EXIT.failed
        break
      default:
    }
  }

  #endLine(): void {
    if (this.#hasOpenLine) this.#terminal.answer('\n')
    this.#hasOpenLine = false
  }
}

async function findNewestPicture(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new EngineError('option/picture', {
      message: `--camera-folder ${folder}: expected a folder with pictures, found none.`,
      cause,
    })
  })
  let newest: { readonly path: string; readonly time: number } | undefined
  for (const name of names.filter((file) => PICTURE.test(file))) {
    const path = join(folder, name)
    const time = (await stat(path)).mtimeMs
    if (newest === undefined || time > newest.time) newest = { path, time }
  }
  return newest?.path
}
