/** One life of the engine's worker, from its start to its loss, on the page's side. */
import { type ConversationTurn, EngineError } from 'onsight'
import type { EngineLink } from './engine-link.ts'
import { OpenRequests } from './open-requests.ts'
import type { Handle } from './wire-messages.ts'

export interface SessionClock {
  /** Calls again and again; returns what stops it. */
  every(ms: number, tick: () => void): () => void
}

/** A ping goes out at each tick. */
const PING_MS = 2000
/**
 * So many ticks without an answer mean that the worker hangs. Counted in ticks and not in time, since pages in the
 * background have few of them. The worker's own loop is never busy for longer than a tokenizer takes to read.
 */
const MAX_UNANSWERED = 15

export class EngineSession {
  readonly requests: OpenRequests
  readonly #link: EngineLink
  readonly #turnListeners = new Map<Handle, (turns: readonly ConversationTurn[]) => void>()
  readonly #stopTicking: () => void
  readonly #onLost: (error: EngineError) => void
  #nextHandle: Handle = 1
  #unanswered = 0
  #isOver = false

  constructor(link: EngineLink, clock: SessionClock, onLost: (error: EngineError) => void) {
    this.#link = link
    this.#onLost = onLost
    this.requests = new OpenRequests(link)
    link.onMessage((message) => {
      this.#unanswered = 0
      if (message.type === 'turns') this.#turnListeners.get(message.chat)?.(message.turns)
      else this.requests.receive(message)
    })
    link.onLost((reason) => this.#lose(reason))
    this.#stopTicking = clock.every(PING_MS, () => this.#tick())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  takeHandle(): Handle {
    return this.#nextHandle++
  }

  post(message: Parameters<EngineLink['post']>[0], transfer?: readonly Transferable[]): void {
    if (!this.#isOver) this.#link.post(message, transfer)
  }

  /** Resolves when the memory of what was loaded is given back. */
  async giveBack(handle: Handle): Promise<void> {
    if (this.#isOver) return
    // Where that fails, the worker is gone and the memory with it.
    await this.requests.run('dispose', { handle }).catch(() => {})
  }

  /** What a conversation holds changed without a question. */
  onTurns(chat: Handle, listener: (turns: readonly ConversationTurn[]) => void): void {
    this.#turnListeners.set(chat, listener)
  }

  forget(chat: Handle): void {
    this.#turnListeners.delete(chat)
  }

  /** Ends the worker. What is open is rejected. */
  end(error: EngineError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopTicking()
    this.#link.close()
    this.requests.lose(error)
  }

  #tick(): void {
    if (this.#unanswered >= MAX_UNANSWERED) {
      this.#lose(`it has not answered for ${(this.#unanswered * PING_MS) / 1000} seconds`)
      return
    }
    this.#unanswered++
    this.#link.post({ type: 'ping' })
  }

  #lose(reason: string): void {
    if (this.#isOver) return
    const error = new EngineError('backend/lost', {
      message: `The engine's worker is gone: ${reason}.`,
      hint: 'It starts anew with the next request. If it is lost again and again, choose a smaller model.',
    })
    this.end(error)
    this.#onLost(error)
  }
}

/** What everything that was opened rejects with once `dispose` was called. */
export function disposedError(): EngineError {
  return new EngineError('backend/disposed', {
    message: 'The engine was given back.',
    hint: 'Load the model again.',
  })
}
