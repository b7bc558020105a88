/** The worker's side: what is loaded here, and the answers to requests. Knows no browser; the worker's script does. */
import { type Chat, EngineError, type LoadModelOptions, type Model } from 'onsight'
import type { AudioClip, ListeningSession, Recognizer, Voice } from 'onsight/speech'
import { wholeBuffer } from './owned-buffers.ts'
import { SoundFromPage } from './sound-from-page.ts'
import { fromWireError, toWireError } from './wire-error.ts'
import type {
  Ask,
  ChatRequest,
  EventOf,
  FromWorker,
  Handle,
  RequestMessage,
  RequestName,
  ResultOf,
  ToWorker,
  WirePlace,
} from './wire-messages.ts'
import type { HubHandlers } from './worker-hub.ts'

/** What the worker's script knows how to get. */
export interface WorkerParts {
  loadModel(place: WirePlace, options: LoadModelOptions): Promise<Model>
  loadRecognizer(place: WirePlace, signal: AbortSignal): Promise<Recognizer>
  loadVoice(place: WirePlace, signal: AbortSignal): Promise<Voice>
  readonly hubHandlers: HubHandlers
  holdLock(name: string, onHeld: () => void): void
}

export interface Context<Name extends RequestName> {
  readonly signal: AbortSignal
  emit(event: EventOf<Name>, transfer?: readonly Transferable[]): void
  /** Sound that the page sends piece by piece. */
  receiveSound(): AsyncIterable<AudioClip>
}

type Handlers = {
  readonly [Name in RequestName]: (ask: Ask<Name>, context: Context<Name>) => Promise<ResultOf<Name>>
}

/** A conversation; messages that nobody waits for leave their fault here, for the next question. */
interface OpenedChat {
  readonly model: Handle
  readonly chat: Chat | undefined
  fault: unknown
}

/** The same for speech that is being heard. */
interface OpenedSession {
  readonly recognizer: Handle
  readonly session: ListeningSession | undefined
  fault: unknown
}

interface RunningRequest {
  readonly abort: AbortController
  readonly sound: SoundFromPage
}

export class WorkerEngine {
  readonly #parts: WorkerParts
  readonly #post: (message: FromWorker, transfer?: readonly Transferable[]) => void
  readonly #running = new Map<number, RunningRequest>()
  readonly #models = new Map<Handle, Model>()
  readonly #recognizers = new Map<Handle, Recognizer>()
  readonly #voices = new Map<Handle, Voice>()
  readonly #chats = new Map<Handle, OpenedChat>()
  readonly #sessions = new Map<Handle, OpenedSession>()
  readonly #modelHandlers: Omit<Handlers, keyof HubHandlers> = {
    'load-model': async ({ handle, place, options }, { signal, emit }) => {
      const model = await this.#parts.loadModel(place, {
        ...options,
        signal,
        onProgress: (progress) => emit({ progress }),
        onMemoryPlan: (memoryPlan) => emit({ memoryPlan }),
      })
      this.#models.set(handle, model)
      return model.info
    },
    'load-recognizer': async ({ handle, place }, { signal }) => {
      const recognizer = await this.#parts.loadRecognizer(place, signal)
      this.#recognizers.set(handle, recognizer)
      return recognizer.info
    },
    'load-voice': async ({ handle, place }, { signal }) => {
      const voice = await this.#parts.loadVoice(place, signal)
      this.#voices.set(handle, voice)
      return voice.info
    },
    'warm-up': async ({ model, options }, { signal }) => {
      await find(this.#models, model, 'model').warmUp({ ...options, signal })
      return undefined
    },
    answer: async ({ chat: handle, request, options }, { signal, emit }) => {
      const opened = find(this.#chats, handle, 'conversation')
      const { chat, model, fault } = opened
      opened.fault = chat ? undefined : fault
      if (fault !== undefined || !chat) throw fault
      let { turns } = chat
      for await (const event of ask(chat, request, { ...options, signal })) {
        const isChanged = turns !== chat.turns
        turns = chat.turns
        emit(isChanged ? { event, turns } : { event })
      }
      if (turns !== chat.turns) emit({ turns: chat.turns })
      return find(this.#models, model, 'model').info
    },
    transcribe: async ({ recognizer, audio, options }, { signal, emit, receiveSound }) => {
      const sound = audio ?? receiveSound()
      for await (const event of find(this.#recognizers, recognizer, 'recogniser').transcribe(sound, {
        ...options,
        signal,
      }))
        emit(event)
      return undefined
    },
    'listen-partial': async ({ session }, { signal }) => this.#session(session).partial(signal),
    'listen-finish': async ({ session, options }, { signal }) =>
      this.#session(session).finish({ ...options, signal }),
    synthesize: async ({ voice, text, options }, { signal, emit }) => {
      for await (const piece of find(this.#voices, voice, 'voice').synthesize(text, { ...options, signal }))
        emit(piece, wholeBuffer(piece.samples))
      return undefined
    },
    dispose: async ({ handle }) => {
      for (const [chat, { model }] of this.#chats) if (model === handle) this.#close(chat)
      for (const [session, { recognizer }] of this.#sessions) if (recognizer === handle) this.#close(session)
      for (const kind of [this.#models, this.#recognizers, this.#voices]) {
        const loaded = kind.get(handle)
        kind.delete(handle)
        await loaded?.dispose()
      }
      return undefined
    },
  }
  readonly #handlers: Handlers

  constructor(parts: WorkerParts, post: (message: FromWorker, transfer?: readonly Transferable[]) => void) {
    this.#parts = parts
    this.#post = post
    this.#handlers = { ...this.#modelHandlers, ...parts.hubHandlers }
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'request':
        void this.#answer(message)
        break
      case 'cancel':
        this.#running.get(message.id)?.abort.abort()
        break
      case 'open-chat':
        this.#openChat(message)
        break
      case 'cut-answer':
        this.#cutAnswer(message.chat, message.heard)
        break
      case 'open-session':
        this.#openSession(message)
        break
      case 'push-samples':
        this.#pushSamples(message.session, message.samples)
        break
      case 'close':
        this.#close(message.handle)
        break
      case 'audio':
        this.#running
          .get(message.id)
          ?.sound.receive(message.clip, message.error && fromWireError(message.error))
        break
      case 'ping':
        this.#post({ type: 'pong' })
        break
      case 'hold-lock':
        this.#parts.holdLock(message.name, () => this.#post({ type: 'lock-held', name: message.name }))
        break
    }
  }

  async #answer({ id, name, ask }: RequestMessage): Promise<void> {
    const abort = new AbortController()
    const sound = new SoundFromPage(() => this.#post({ type: 'audio-wanted', id }))
    this.#running.set(id, { abort, sound })
    abort.signal.addEventListener('abort', () => sound.end())
    const handler = this.#handlers[name] as (ask: unknown, context: Context<RequestName>) => Promise<unknown>
    try {
      const result = await handler(ask, {
        signal: abort.signal,
        emit: (event, transfer) => this.#post({ type: 'event', id, event }, transfer),
        receiveSound: () => sound.pieces(),
      })
      this.#post({ type: 'result', id, result })
    } catch (error) {
      this.#post({ type: 'failure', id, error: toWireError(error) })
    } finally {
      this.#running.delete(id)
    }
  }

  #openChat({ handle, model, options }: Extract<ToWorker, { type: 'open-chat' }>): void {
    try {
      const chat = find(this.#models, model, 'model').chat(options)
      this.#chats.set(handle, { model, chat, fault: undefined })
    } catch (fault) {
      this.#chats.set(handle, { model, chat: undefined, fault })
    }
  }

  #openSession({ handle, recognizer, options }: Extract<ToWorker, { type: 'open-session' }>): void {
    try {
      const session = find(this.#recognizers, recognizer, 'recogniser').listen(options)
      this.#sessions.set(handle, { recognizer, session, fault: undefined })
    } catch (fault) {
      this.#sessions.set(handle, { recognizer, session: undefined, fault })
    }
  }

  #pushSamples(handle: Handle, samples: Float32Array): void {
    const opened = this.#sessions.get(handle)
    try {
      opened?.session?.push(samples)
    } catch (fault) {
      if (opened) opened.fault = fault
    }
  }

  #session(handle: Handle): ListeningSession {
    const { session, fault } = find(this.#sessions, handle, 'listening session')
    if (session === undefined || fault !== undefined) throw fault
    return session
  }

  #cutAnswer(handle: Handle, heard: string): void {
    const opened = this.#chats.get(handle)
    if (!opened?.chat) return
    try {
      opened.chat.cutAnswer(heard)
      this.#post({ type: 'turns', chat: handle, turns: opened.chat.turns })
    } catch (fault) {
      opened.fault = fault
    }
  }

  #close(handle: Handle): void {
    this.#chats.get(handle)?.chat?.dispose()
    this.#chats.delete(handle)
    this.#sessions.get(handle)?.session?.dispose()
    this.#sessions.delete(handle)
  }
}

function ask(
  chat: Chat,
  request: ChatRequest,
  options: Parameters<Chat['send']>[1],
): ReturnType<Chat['send']> {
  switch (request.act) {
    case 'send':
      return chat.send(request.message, options)
    case 'edit':
      return chat.edit(request.index, request.message, options)
    case 'regenerate':
      return chat.regenerate(options)
  }
}

function find<Value>(values: ReadonlyMap<Handle, Value>, handle: Handle, what: string): Value {
  const value = values.get(handle)
  if (value !== undefined) return value
  throw new EngineError('backend/disposed', {
    message: `The ${what} was given back, or has never been opened.`,
    hint: 'Open it again.',
  })
}
