/** A model in the worker, and its conversations. */
import type {
  ChatEvent,
  ChatOptions,
  ConversationTurn,
  GenerationOptions,
  LoadModelOptions,
  ModelInfo,
  UserMessage,
} from 'onsight'
import type { EngineChat, EngineModel } from './engine.ts'
import type { EngineSession } from './engine-session.ts'
import { ownedBuffersOf } from './owned-buffers.ts'
import type { ChatRequest, Handle, WirePlace } from './wire-messages.ts'

export async function loadWorkerModel(
  session: EngineSession,
  place: WirePlace,
  { signal, onProgress, onMemoryPlan, ...options }: LoadModelOptions = {},
): Promise<EngineModel> {
  const handle = session.takeHandle()
  const info = await session.requests.run(
    'load-model',
    { handle, place, options },
    {
      signal,
      onEvent: (event) => {
        if ('progress' in event) onProgress?.(event.progress)
        else onMemoryPlan?.(event.memoryPlan)
      },
    },
  )
  return new WorkerModel(session, handle, info)
}

class WorkerModel implements EngineModel {
  readonly #session: EngineSession
  readonly #handle: Handle
  #info: ModelInfo
  #disposing: Promise<void> | undefined

  constructor(session: EngineSession, handle: Handle, info: ModelInfo) {
    this.#session = session
    this.#handle = handle
    this.#info = info
  }

  /** As of the last answer. */
  get info(): ModelInfo {
    return this.#info
  }

  chat(options: ChatOptions = {}): EngineChat {
    return new WorkerChat(this.#session, this.#handle, options, (info) => {
      this.#info = info
    })
  }

  async warmUp({
    signal,
    onProgress: _,
    ...options
  }: Parameters<EngineModel['warmUp']>[0] & { readonly onProgress?: unknown } = {}): Promise<void> {
    await this.#session.requests.run('warm-up', { model: this.#handle, options }, { signal })
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#session.giveBack(this.#handle)
    return this.#disposing
  }
}

class WorkerChat implements EngineChat {
  readonly #session: EngineSession
  readonly #handle: Handle
  readonly #onInfo: (info: ModelInfo) => void
  #turns: readonly ConversationTurn[]

  constructor(
    session: EngineSession,
    model: Handle,
    options: ChatOptions,
    onInfo: (info: ModelInfo) => void,
  ) {
    this.#session = session
    this.#handle = session.takeHandle()
    this.#onInfo = onInfo
    this.#turns = turnsOf(options)
    const pictures = (options.messages ?? []).flatMap((turn) =>
      turn.role === 'user' ? (turn.images ?? []) : [],
    )
    session.onTurns(this.#handle, (turns) => {
      this.#turns = turns
    })
    session.post({ type: 'open-chat', handle: this.#handle, model, options }, ownedBuffersOf(pictures))
  }

  get turns(): readonly ConversationTurn[] {
    return this.#turns
  }

  send(message: UserMessage, options?: GenerationOptions): AsyncIterableIterator<ChatEvent> {
    return this.#ask({ act: 'send', message }, options)
  }

  edit(index: number, message: UserMessage, options?: GenerationOptions): AsyncIterableIterator<ChatEvent> {
    return this.#ask({ act: 'edit', index, message }, options)
  }

  regenerate(options?: GenerationOptions): AsyncIterableIterator<ChatEvent> {
    return this.#ask({ act: 'regenerate' }, options)
  }

  cutAnswer(heard: string): void {
    this.#session.post({ type: 'cut-answer', chat: this.#handle, heard })
  }

  dispose(): void {
    this.#session.forget(this.#handle)
    this.#session.post({ type: 'close', handle: this.#handle })
  }

  async *#ask(
    request: ChatRequest,
    { signal, ...options }: GenerationOptions = {},
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const answer = this.#session.requests.stream(
      'answer',
      () => ({
        ask: { chat: this.#handle, request, options },
        options: {
          signal,
          transfer: request.act === 'regenerate' ? [] : ownedBuffersOf(request.message.images),
        },
      }),
      this.#onInfo,
    )
    for await (const { event, turns } of answer) {
      if (turns) this.#turns = turns
      if (event) yield event
    }
  }
}

/** As the engine will see them; the worker tells when that changes. */
function turnsOf({ system, messages = [] }: ChatOptions): readonly ConversationTurn[] {
  return [
    ...(system ? [{ role: 'system', text: system, imageCount: 0 } as const] : []),
    ...messages.map((turn) => ({
      role: turn.role,
      text: turn.text,
      imageCount: turn.role === 'user' ? (turn.images?.length ?? 0) : 0,
    })),
  ]
}
