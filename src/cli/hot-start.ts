/** Warms a model up while somebody types the first question. */
import type { Model, WarmUpOptions } from '../engine/types.ts'
import type { Terminal } from './terminal.ts'

export class HotStart {
  readonly #terminal: Terminal
  readonly #controller = new AbortController()
  readonly #running: Promise<void>
  #isAwaited = false
  #isReady = (): void => {}

  /** @param signal Ends it, and with it the waiting. */
  constructor(
    model: Model,
    options: Omit<WarmUpOptions, 'onProgress'>,
    terminal: Terminal,
    signal: AbortSignal,
  ) {
    this.#terminal = terminal
    signal.addEventListener('abort', () => this.#controller.abort(), { once: true })
    const ready = new Promise<void>((resolve) => {
      this.#isReady = resolve
    })
    const ended = model
      .warmUp({ ...options, signal: this.#controller.signal, onProgress: (event) => this.#follow(event) })
      .catch(() => {}) // What is wrong with a picture, the question will tell.
    this.#running = Promise.race([ready, ended])
  }

  /**
   * Waits, with progress, for what the question needs anyway: its pictures and what comes before its words. The rest is
   * given up.
   */
  async finish(): Promise<void> {
    this.#isAwaited = true
    await this.#running
    this.#controller.abort()
    this.#terminal.progress.clear()
  }

  #follow(event: Parameters<NonNullable<WarmUpOptions['onProgress']>>[0]): void {
    const { messages, progress } = this.#terminal
    if (event.type === 'prompt-progressed' && event.tokens === event.totalTokens) this.#isReady()
    if (!this.#isAwaited) return
    if (event.type === 'image-progressed')
      progress.show(messages.readingPicture(event.image + 1), event.frame, event.frames)
    if (event.type === 'prompt-progressed')
      progress.show(messages.readingPrompt, event.tokens, event.totalTokens)
  }
}
