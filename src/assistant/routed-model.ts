/**
 * One conversation whose answers come from the device or from a remote endpoint. Nothing leaves the device unless the
 * user chose `remote`, or agreed to it under `auto`; every answer says who made it.
 */
import type {
  AnsweredBy,
  ChatEvent,
  ChatOptions,
  ChatTurn,
  GenerationOptions,
  UserMessage,
} from '../engine/types.ts'
import { isAbortError } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { AnsweringChat, AnsweringModel } from './answering-model.ts'
import type { RemoteModel } from './remote/remote-model.ts'

/** `local` never sends anything; `remote` always does; `auto` decides for each message, with consent. */
export type RouteChoice = 'local' | 'remote' | 'auto'

/** Why a route was taken. */
export type RouteReason =
  | 'chosen'
  | 'preferred'
  | 'no-local-model'
  | 'no-local-pictures'
  | 'local-failed'
  | 'no-consent'
  | 'remote-failed'

export interface ConsentRequest {
  readonly host: string
  readonly model: string
  /** Pictures that would be sent, those of earlier turns included. */
  readonly pictures: number
  readonly reason: RouteReason
}

export interface LocalRoute extends AnsweringModel {
  readonly info: { readonly name: string; readonly takesImages: boolean }
}

export interface RouteOptions {
  readonly choice: RouteChoice
  readonly local?: LocalRoute
  readonly remote?: RemoteModel
  /**
   * `auto` only: asked before the first message of a conversation that would leave the device; the answer holds for
   * the conversation. Without it nothing is sent.
   */
  readonly consent?: (request: ConsentRequest) => boolean | Promise<boolean>
  /** `auto` only: who answers when both can. Default `local`. */
  readonly prefer?: 'local' | 'remote'
}

/** Both models are given back with it. @throws EngineError `option/route` where the chosen route has no model. */
export function createRoutedModel(options: RouteOptions): AnsweringModel {
  const { choice, local, remote } = options
  const lacks =
    (choice === 'local' && !local && 'a local model') ||
    (choice === 'remote' && !remote && 'a remote endpoint') ||
    (!local && !remote && 'a local model or a remote endpoint')
  if (lacks) {
    throw new EngineError('option/route', {
      message: `The route "${choice}" needs ${lacks}; found none.`,
      field: 'choice',
    })
  }
  return {
    chat: (chat: ChatOptions = {}) => new RoutedConversation(options, chat),
    async dispose() {
      await Promise.all([local?.dispose(), remote?.dispose()])
    },
  }
}

interface Step {
  readonly route: 'local' | 'remote'
  readonly reason: RouteReason
}

class RoutedConversation implements AnsweringChat {
  readonly #options: RouteOptions
  readonly #chatOptions: ChatOptions
  #turns: readonly ChatTurn[]
  /** The conversation of the route that answered last; it holds all turns so far. */
  #open: { readonly route: 'local' | 'remote'; readonly chat: AnsweringChat } | undefined
  /** Undefined until asked. */
  #consent: boolean | undefined

  constructor(options: RouteOptions, chatOptions: ChatOptions) {
    this.#options = options
    this.#chatOptions = chatOptions
    this.#turns = chatOptions.messages ?? []
  }

  async *send(message: UserMessage, options: GenerationOptions = {}): AsyncIterableIterator<ChatEvent> {
    let step: Step | undefined = await this.#firstStep(message)
    while (step) step = yield* this.#take(step, message, options)
  }

  /** Answers on a route; returns the next one to try where this one failed before its first word. */
  async *#take(
    step: Step,
    message: UserMessage,
    options: GenerationOptions,
  ): AsyncGenerator<ChatEvent, Step | undefined, undefined> {
    const answeredBy = this.#describe(step.route)
    yield { type: 'route-chosen', answeredBy, reason: step.reason }
    let hasBegun = false
    let answer = ''
    try {
      for await (const event of this.#chatOn(step.route).send(message, options)) {
        hasBegun ||= event.type === 'text-delta' || event.type === 'answer-finished'
        if (event.type === 'text-delta') answer += event.text
        yield event.type === 'answer-finished' ? { ...event, answeredBy } : event
      }
      return undefined
    } catch (error) {
      // What was heard cannot be taken back by an answer of somebody else.
      const next = hasBegun || isAbortError(error) ? undefined : await this.#nextStep(step, message, error)
      if (!next) throw error
      this.#close()
      return next
    } finally {
      if (answer !== '') {
        this.#turns = [
          ...this.#turns,
          { role: 'user', ...message, ...(options.detail && { detail: options.detail }) },
          { role: 'assistant', text: answer },
        ]
      }
    }
  }

  dispose(): void {
    this.#close()
  }

  #close(): void {
    this.#open?.chat.dispose()
    this.#open = undefined
  }

  #chatOn(route: 'local' | 'remote'): AnsweringChat {
    if (this.#open?.route === route) return this.#open.chat
    this.#close()
    const model = this.#options[route] as AnsweringModel
    const chat = model.chat({ ...this.#chatOptions, messages: this.#turns })
    this.#open = { route, chat }
    return chat
  }

  #describe(route: 'local' | 'remote'): AnsweredBy {
    const { local, remote } = this.#options
    return route === 'remote'
      ? { route, model: remote?.model ?? '', host: remote?.host ?? '' }
      : { route, model: local?.info.name ?? '' }
  }

  async #firstStep(message: UserMessage): Promise<Step> {
    const { choice, local, remote, prefer = 'local' } = this.#options
    if (choice !== 'auto') return { route: choice, reason: 'chosen' }
    const needsEyes = this.#countPictures(message) > 0
    const reason: RouteReason | undefined = !local
      ? 'no-local-model'
      : needsEyes && !local.info.takesImages
        ? 'no-local-pictures'
        : prefer === 'remote'
          ? 'preferred'
          : undefined
    if (reason === undefined || !remote) return { route: 'local', reason: 'preferred' }
    if (await this.#mayAsk(message, reason)) return { route: 'remote', reason }
    if (local) return { route: 'local', reason: 'no-consent' }
    throw new EngineError('remote/no-consent', {
      message: `Only ${remote.model} at ${remote.host} could answer, and sending the message there was not agreed to.`,
      hint: 'Agree to it, or load a model on this device.',
    })
  }

  /** The other route, once, if it may be taken. */
  async #nextStep(failed: Step, message: UserMessage, error: unknown): Promise<Step | undefined> {
    const { choice, local, remote } = this.#options
    if (choice !== 'auto' || failed.reason === 'local-failed' || failed.reason === 'remote-failed')
      return undefined
    if (failed.route === 'remote') {
      const canSee = local?.info.takesImages || this.#countPictures(message) === 0
      return local && canSee && isRemoteFailure(error)
        ? { route: 'local', reason: 'remote-failed' }
        : undefined
    }
    if (!remote || !isLocalFailure(error)) return undefined
    return (await this.#mayAsk(message, 'local-failed'))
      ? { route: 'remote', reason: 'local-failed' }
      : undefined
  }

  async #mayAsk(message: UserMessage, reason: RouteReason): Promise<boolean> {
    const { consent, remote } = this.#options
    if (!consent || !remote) return false
    const { host, model } = remote
    this.#consent ??= await consent({ host, model, pictures: this.#countPictures(message), reason })
    return this.#consent
  }

  #countPictures({ images = [] }: UserMessage): number {
    return this.#turns.reduce(
      (sum, turn) => sum + (turn.role === 'user' ? (turn.images?.length ?? 0) : 0),
      images.length,
    )
  }
}

function isRemoteFailure(error: unknown): boolean {
  return EngineError.isInstance(error) && error.code.startsWith('remote/')
}

/** A broken picture or a wrong option would fail elsewhere too. */
function isLocalFailure(error: unknown): boolean {
  return EngineError.isInstance(error) && /^(?:backend|generation|model)\//.test(error.code)
}
