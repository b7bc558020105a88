/** How long a person waits for the first word: of the first question about a picture, and of the next one. */
import type { DeviceBuffer } from '../backend/backend.ts'
import { PassQueue } from '../generation/pass-queue.ts'
import { type Prompt, TokenSession } from '../generation/token-session.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { type Stopwatch, syntheticToken } from './bench-speeds.ts'

export interface FirstWordMs {
  /** Picture of one frame (for text models 256 tokens of text) and a short question. */
  readonly first: number
  /** A short question after an answer, in the same conversation. */
  readonly followUp: number
  /** The same question where nothing is kept of what came before. */
  readonly followUpWithoutReuse: number
}

const TEXT_BEFORE_QUESTION = 256
const QUESTION_TOKENS = 24
const ANSWER_TOKENS = 16

export async function measureFirstWord(model: LanguageModel, watch: Stopwatch): Promise<FirstWordMs> {
  const conversation = new BenchConversation(model, watch.signal)
  try {
    const first = await watch.best(
      () => conversation.askFirst(),
      async () => conversation.forget(),
    )
    const followUp = await watch.best(
      () => conversation.askAgain(),
      async () => {
        conversation.forget()
        await conversation.askFirst()
        await conversation.answer()
      },
    )
    const followUpWithoutReuse = await watch.best(
      () => conversation.askAgain(),
      async () => conversation.forget(),
    )
    return {
      first: first * 1000,
      followUp: followUp * 1000,
      followUpWithoutReuse: followUpWithoutReuse * 1000,
    }
  } finally {
    conversation.dispose()
  }
}

class BenchConversation {
  readonly #model: LanguageModel
  readonly #signal: AbortSignal | undefined
  readonly #features: DeviceBuffer | undefined
  readonly #pixels: Float32Array
  readonly #contextTokens: number
  #session: TokenSession
  #isEncoded = false

  constructor(model: LanguageModel, signal: AbortSignal | undefined) {
    const { pictures, config, backend } = model
    const room = config.decoder.contextLength - 2 * QUESTION_TOKENS - ANSWER_TOKENS
    this.#model = model
    this.#signal = signal
    this.#contextTokens = pictures?.tokensPerFrame ?? Math.min(TEXT_BEFORE_QUESTION, room)
    this.#features = pictures && backend.alloc(pictures.tokensPerFrame * config.decoder.dim * 4)
    this.#pixels = new Float32Array(3 * (pictures?.vision.imageSize ?? 0) ** 2)
    this.#session = new TokenSession(model, new PassQueue())
  }

  async askFirst(): Promise<void> {
    await this.#ask(this.#contextTokens + QUESTION_TOKENS)
  }

  async answer(): Promise<void> {
    for (let token = 0; token < ANSWER_TOKENS; token++) {
      await this.#session.step(this.#token(this.#session.length), [], this.#signal)
    }
  }

  async askAgain(): Promise<void> {
    await this.#ask(this.#contextTokens + QUESTION_TOKENS + ANSWER_TOKENS + QUESTION_TOKENS)
  }

  forget(): void {
    this.#session.dispose()
    this.#session = new TokenSession(this.#model, new PassQueue())
    this.#isEncoded = false
  }

  dispose(): void {
    this.#session.dispose()
    if (this.#features) this.#model.backend.free(this.#features)
  }

  async #ask(tokens: number): Promise<void> {
    const { pictures, backend } = this.#model
    if (pictures && this.#features && !this.#isEncoded) {
      pictures.run(this.#pixels, this.#features)
      await backend.flush(this.#signal)
      this.#isEncoded = true
    }
    const prompt: Prompt = {
      ids: Array.from({ length: tokens }, (_, position) => this.#token(position)),
      images: this.#features ? [{ at: 0, rows: this.#contextTokens, features: this.#features }] : [],
    }
    for await (const _ of this.#session.prefill(prompt, this.#signal)) {
      // until the logits of the first word are there
    }
  }

  #token(position: number): number {
    return syntheticToken(position, this.#model.config.decoder)
  }
}
