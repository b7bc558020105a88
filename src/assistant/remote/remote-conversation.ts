/** A conversation with a remote model. Endpoints remember nothing: every question carries all turns before it. */
import type {
  AnsweredBy,
  AnswerFinished,
  ChatEvent,
  ChatOptions,
  ChatTurn,
  Detail,
  FinishReason,
  GenerationOptions,
  ImageReport,
  UserMessage,
} from '../../engine/types.ts'
import { isAbortError } from '../../shared/abort.ts'
import { EngineError } from '../../shared/errors.ts'
import type { AnsweringChat } from '../answering-model.ts'
import type { RemoteUsage } from './answer-stream.ts'
import { type EncodeRemotePicture, jpegDataUrl, LONGEST_SIDE } from './remote-picture.ts'
import { type RemoteEndpoint, requestAnswer } from './request-answer.ts'
import { generationFields, type RequestBody } from './request-body.ts'

export interface ConversationEndpoint extends RemoteEndpoint {
  readonly encodePicture: EncodeRemotePicture
}

type WirePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail: string } }

interface WireMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly WirePart[]
}

export class RemoteConversation implements AnsweringChat {
  readonly #endpoint: ConversationEndpoint
  readonly #onDispose: () => void
  readonly #answeredBy: AnsweredBy
  #messages: readonly WireMessage[]
  /** Earlier turns whose pictures are not encoded yet. */
  #waiting: readonly ChatTurn[]
  /** Aborts the answer that is being made. */
  #running: AbortController | undefined
  #isDisposed = false

  constructor(
    endpoint: ConversationEndpoint,
    { system, messages = [], template = true }: ChatOptions,
    onDispose: () => void,
  ) {
    if (!template) {
      throw new EngineError('remote/unsupported-option', {
        message: 'Remote models hold conversations; they do not continue texts.',
        field: 'template',
      })
    }
    this.#endpoint = endpoint
    this.#onDispose = onDispose
    this.#answeredBy = { route: 'remote', model: endpoint.model, host: endpoint.address.host }
    this.#messages = system ? [{ role: 'system', content: system }] : []
    this.#waiting = messages
  }

  async *send(message: UserMessage, options: GenerationOptions = {}): AsyncIterableIterator<ChatEvent> {
    if (this.#isDisposed) {
      throw new EngineError('generation/disposed', {
        message: 'The conversation was closed.',
        hint: 'Begin a new one with model.chat().',
      })
    }
    if (this.#running) {
      throw new EngineError('generation/busy', {
        message: 'The conversation is still answering.',
        hint: 'Wait for the answer or abort it; use another conversation to ask at the same time.',
      })
    }
    const fields = generationFields(options)
    const running = new AbortController()
    this.#running = running
    const abort = (): void => running.abort()
    options.signal?.addEventListener('abort', abort)
    if (options.signal?.aborted) abort()
    try {
      yield* this.#answer({ detail: 'auto', ...options }, message, fields, running.signal)
    } finally {
      options.signal?.removeEventListener('abort', abort)
      this.#running = undefined
    }
  }

  dispose(): void {
    this.#isDisposed = true
    this.#running?.abort()
    this.#onDispose()
  }

  async *#answer(
    { detail }: { readonly detail: Detail },
    message: UserMessage,
    fields: RequestBody,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const start = performance.now()
    const images: ImageReport[] = []
    let pictured = start
    let first: number | undefined
    let text = ''
    let usage: RemoteUsage | undefined
    const finish = (finishReason: FinishReason): AnswerFinished => {
      const now = performance.now()
      const seconds = (now - (first ?? now)) / 1000
      const completionTokens = usage?.completionTokens ?? 0
      return {
        type: 'answer-finished',
        text,
        tokenIds: [],
        finishReason,
        usage: {
          promptTokens: usage?.promptTokens ?? 0,
          imageTokens: 0,
          cachedTokens: usage?.cachedTokens ?? 0,
          completionTokens,
        },
        timings: {
          imageEncodeMs: pictured - start,
          prefillMs: (first ?? now) - pictured,
          firstTokenMs: (first ?? now) - start,
          tokensPerSecond: completionTokens > 1 && seconds > 0 ? (completionTokens - 1) / seconds : 0,
        },
        images,
        answeredBy: this.#answeredBy,
      }
    }
    let reason: FinishReason = 'aborted'
    let asked: readonly WireMessage[] = this.#messages
    try {
      for (const turn of [...this.#waiting, { role: 'user' as const, detail, ...message }]) {
        const { wire, reports } = await this.#encode(turn, signal)
        for (const report of reports) {
          yield { type: 'image-encoded', image: images.length, report }
          images.push(report)
        }
        asked = [...asked, wire]
      }
      pictured = performance.now()
      const body = {
        model: this.#endpoint.model,
        messages: asked,
        stream: true,
        stream_options: { include_usage: true },
        ...fields,
      }
      for await (const part of requestAnswer(this.#endpoint, body, signal)) {
        if (part.type === 'usage') usage = part.usage
        else if (part.type === 'finish') reason = part.reason
        else {
          first ??= performance.now()
          text += part.text
          yield { type: 'text-delta', text: part.text }
        }
      }
    } catch (error) {
      if (!isAbortError(error)) throw error
      reason = 'aborted'
    } finally {
      // Whoever stopped listening in the middle of an answer has heard its beginning.
      if (text !== '') {
        this.#messages = [...asked, { role: 'assistant', content: text }]
        this.#waiting = []
      }
    }
    yield finish(reason)
  }

  async #encode(
    turn: ChatTurn,
    signal: AbortSignal,
  ): Promise<{ wire: WireMessage; reports: readonly ImageReport[] }> {
    if (turn.role !== 'user') return { wire: { role: turn.role, content: turn.text }, reports: [] }
    const { text, images = [], imageOffsets, detail = 'auto' } = turn
    if (images.length === 0) return { wire: { role: 'user', content: text }, reports: [] }
    const content: WirePart[] = []
    const reports: ImageReport[] = []
    let written = 0
    const writeUntil = (end: number): void => {
      if (end > written) content.push({ type: 'text', text: text.slice(written, end) })
      written = end
    }
    for (const [index, image] of images.entries()) {
      writeUntil(imageOffsets?.[index] ?? 0)
      const { jpeg, report } = await this.#endpoint.encodePicture(image, LONGEST_SIDE[detail], signal)
      content.push({ type: 'image_url', image_url: { url: jpegDataUrl(jpeg), detail } })
      reports.push({ ...report, tiles: 1, detail: detail === 'low' ? 'low' : 'high', cached: false })
    }
    writeUntil(text.length)
    return { wire: { role: 'user', content }, reports }
  }
}
