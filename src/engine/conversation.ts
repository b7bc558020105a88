/** A conversation with a model: messages, pictures, and one answer at a time. */
import { type GenerateOptions, generate } from '../generation/generate.ts'
import { type Prompt, TokenSession } from '../generation/token-session.ts'
import { isAbortError } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { ChatMessage } from '../text/chat-template/chat-message.ts'
import { buildChatPrompt, buildPlainPrompt } from './build-prompt.ts'
import { chatMessageOf, checkMessage, checkTurn, textTurn, userTurn } from './chat-turn.ts'
import { checkOptions, FLAG_RULE, type OptionRules, TEXT_RULE } from './check-options.ts'
import { describeScore } from './describe-score.ts'
import { resolveGenerationOptions } from './generation-options.ts'
import type { LoadedModel } from './loaded-model.ts'
import { encodePicture, type Picture, type PictureLook, preparePicture } from './picture.ts'
import type {
  AnswerFinished,
  Chat,
  ChatEvent,
  ChatOptions,
  Detail,
  GenerationOptions,
  ImageInput,
  ImageReport,
  ScoredAnswerToken,
  UserMessage,
} from './types.ts'

export class Conversation implements Chat {
  /** Undefined once closed, so that a conversation that is still held keeps no memory. */
  #open: OpenConversation | undefined
  readonly #onDispose: (chat: Conversation) => void
  #messages: ChatMessage[]
  #pictures: Picture[] = []
  /** Pictures of earlier turns that wait for the first answer. */
  #waiting: readonly GivenPicture[]
  #isAnswering = false
  #isDisposed = false

  constructor(loaded: LoadedModel, options: ChatOptions, onDispose: (chat: Conversation) => void) {
    checkOptions(options, CHAT_RULES, 'for a conversation')
    this.#open = {
      loaded,
      session: new TokenSession(loaded.model, loaded.queue),
      isPlain: options.template === false,
    }
    this.#onDispose = onDispose
    const { system, messages = [] } = options
    for (const turn of messages) checkTurn(turn)
    this.#messages = [...(system ? [textTurn('system', system)] : []), ...messages.map(chatMessageOf)]
    this.#waiting = messages.flatMap((turn) => (turn.role === 'user' ? picturesOf(turn, turn.detail) : []))
  }

  async *send(message: UserMessage, options: GenerationOptions = {}): AsyncIterableIterator<ChatEvent> {
    const open = this.#open
    if (!open || this.#isDisposed) throw disposedError()
    const resolved = resolveGenerationOptions(options, open.loaded.text.defaults)
    checkMessage(message)
    if (this.#isAnswering) {
      throw new EngineError('generation/busy', {
        message: 'The conversation is still answering.',
        hint: 'Wait for the answer or abort it; use another conversation to ask at the same time.',
      })
    }
    this.#isAnswering = true
    try {
      yield* this.#answer(open, message, resolved, options)
    } finally {
      this.#isAnswering = false
      if (this.#isDisposed) this.#release()
    }
  }

  /** While an answer runs, its memory is given back when it ends. */
  dispose(): void {
    if (this.#isDisposed) return
    this.#isDisposed = true
    if (!this.#isAnswering) this.#release()
    this.#onDispose(this)
  }

  #release(): void {
    if (!this.#open) return
    const { loaded, session } = this.#open
    this.#open = undefined
    session.dispose()
    for (const { features } of this.#pictures.splice(0)) loaded.backend.free(features)
  }

  async *#answer(
    open: OpenConversation,
    message: UserMessage,
    resolved: GenerateOptions,
    options: GenerationOptions,
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const { loaded } = open
    const clock = new AnswerClock()
    const fresh: Picture[] = []
    let heard = ''
    let keep: ((answer: string) => void) | undefined
    let isKept = false
    try {
      try {
        const given = [...this.#waiting, ...picturesOf(message, options.detail, options.imageTokens)]
        yield* encodePictures(loaded, given, options.signal, fresh)
      } catch (error) {
        if (!isAbortError(error)) throw error
        yield clock.finish(
          '',
          [],
          'aborted',
          { promptTokens: 0, imageTokens: 0 },
          fresh.map(({ report }) => report),
        )
        return
      }
      clock.picturesDone()
      const messages = [...this.#messages, userTurn(message)]
      const pictures = [...this.#pictures, ...fresh]
      const build = open.isPlain ? buildPlainPrompt : buildChatPrompt
      const prompt = build(loaded, messages, pictures)
      keep = (answer) => {
        isKept = true
        this.#messages = [...messages, textTurn('assistant', answer)]
        this.#pictures = pictures
        this.#waiting = []
      }
      for await (const event of streamAnswer(open, prompt, resolved, clock, fresh)) {
        if (event.type === 'text-delta') heard += event.text
        if (event.type === 'answer-finished' && event.tokenIds.length > 0) keep(event.text)
        yield event
      }
    } finally {
      // Whoever stopped listening in the middle of an answer has heard its beginning.
      if (!isKept && heard !== '') keep?.(heard)
      if (!isKept) for (const { features } of fresh) loaded.backend.free(features)
    }
  }
}

interface OpenConversation {
  readonly loaded: LoadedModel
  readonly session: TokenSession
  /** Texts are continued as they are. */
  readonly isPlain: boolean
}

interface GivenPicture extends PictureLook {
  readonly input: ImageInput
}

function picturesOf(
  { images = [] }: UserMessage,
  detail: Detail = 'auto',
  imageTokens?: number,
): GivenPicture[] {
  return images.map((input) => ({ input, detail, imageTokens }))
}

async function* encodePictures(
  loaded: LoadedModel,
  given: readonly GivenPicture[],
  signal: AbortSignal | undefined,
  encoded: Picture[],
): AsyncGenerator<ChatEvent, void, undefined> {
  // All pictures are read before the first is encoded, so that a broken one is found at once.
  const prepared = []
  for (const { input, ...look } of given) prepared.push(await preparePicture(loaded, input, look, signal))
  for (const [image, picture] of prepared.entries()) {
    encoded.push(yield* encodePicture(loaded, picture, signal, { image }))
    yield { type: 'image-encoded', image, report: picture.report }
  }
}

async function* streamAnswer(
  { loaded, session, isPlain }: OpenConversation,
  prompt: Prompt,
  options: GenerateOptions,
  clock: AnswerClock,
  pictures: readonly Picture[],
): AsyncGenerator<ChatEvent, void, undefined> {
  const { text, contextLength } = loaded
  const usage = {
    promptTokens: prompt.ids.length,
    imageTokens: prompt.images.reduce((sum, { rows }) => sum + rows, 0),
  }
  const ids: number[] = []
  const scored: ScoredAnswerToken[] = []
  let answer = ''
  const events = generate({
    session,
    tokenizer: text.tokenizer,
    prompt,
    stopTokens: text.stopTokens,
    contextLength,
    isContinuation: isPlain,
    options,
  })
  for await (const event of events) {
    if (event.type === 'prompt-progressed') {
      yield event
      continue
    }
    if (event.type === 'token') {
      if (ids.length === 0) clock.firstToken()
      ids.push(event.id)
      if (event.score) {
        const token = describeScore(text.tokenizer, event.score)
        scored.push(token)
        yield { type: 'token-scored', token }
      }
    }
    answer += event.text
    if (event.text) yield { type: 'text-delta', text: event.text }
    if (event.type === 'ended') {
      const reports = pictures.map(({ report }) => report)
      const finished = clock.finish(answer, ids, event.reason, usage, reports)
      yield options.logprobs === undefined ? finished : { ...finished, logprobs: scored }
    }
  }
}

/** Times the parts of an answer. */
class AnswerClock {
  readonly #start = performance.now()
  #pictures = this.#start
  #first: number | undefined

  picturesDone(): void {
    this.#pictures = performance.now()
  }

  firstToken(): void {
    this.#first = performance.now()
  }

  finish(
    text: string,
    tokenIds: readonly number[],
    finishReason: AnswerFinished['finishReason'],
    usage: { promptTokens: number; imageTokens: number },
    images: readonly ImageReport[],
  ): AnswerFinished {
    const now = performance.now()
    const first = this.#first ?? now
    const seconds = (now - first) / 1000
    return {
      type: 'answer-finished',
      text,
      tokenIds,
      finishReason,
      usage: { ...usage, completionTokens: tokenIds.length },
      timings: {
        imageEncodeMs: this.#pictures - this.#start,
        prefillMs: first - this.#pictures,
        firstTokenMs: first - this.#start,
        tokensPerSecond: tokenIds.length > 1 && seconds > 0 ? (tokenIds.length - 1) / seconds : 0,
      },
      images,
    }
  }
}

const CHAT_RULES = {
  system: TEXT_RULE,
  messages: { accepts: Array.isArray, says: 'a list of turns' },
  template: FLAG_RULE,
} satisfies OptionRules

function disposedError(): EngineError {
  return new EngineError('generation/disposed', {
    message: 'The conversation was closed.',
    hint: 'Begin a new one with model.chat().',
  })
}
