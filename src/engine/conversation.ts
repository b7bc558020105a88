/** A conversation with a model: messages, pictures, and one answer at a time. */
import type { GenerateOptions } from '../generation/generate.ts'
import type { Prompt, TokenSession } from '../generation/token-session.ts'
import { isAbortError } from '../shared/abort.ts'
import { EngineError } from '../shared/errors.ts'
import type { AnswerForm } from './answer-form.ts'
import { composeTurns, PromptMemo, requireContext } from './build-prompt.ts'
import { checkChatOptions } from './chat-options.ts'
import { checkMessage } from './chat-turn.ts'
import { checkOptions, SIGNAL_RULE } from './check-options.ts'
import { encodeTurns, picturesOf, releasePictures } from './encode-turns.ts'
import { fitContext } from './fit-context.ts'
import { resolveGenerationOptions } from './generation-options.ts'
import { createSession, type LoadedModel } from './loaded-model.ts'
import type { Picture } from './picture.ts'
import type { ConversationState } from './snapshot/save.ts'
import { AnswerClock, findForm, streamAnswer } from './stream-answer.ts'
import {
  describeTurn,
  type EncodedTurn,
  editedTurn,
  lastQuestion,
  questionTurn,
  requireQuestion,
  type Turn,
  textOnlyTurn,
  turnOf,
} from './turn.ts'
import type {
  Chat,
  ChatEvent,
  ChatOptions,
  ConversationTurn,
  GenerationOptions,
  ImageReport,
  SnapshotOptions,
  SnapshotTarget,
  UserMessage,
  WhenFull,
} from './types.ts'

export class Conversation implements Chat {
  /** Undefined once closed, so that a conversation that is still held keeps no memory. */
  #open: OpenConversation | undefined
  readonly #onDispose: (chat: Conversation) => void
  #turns: readonly Turn[]
  #isBusy = false
  #isDisposed = false

  /** @param restored Goes before the turns of `options`. */
  constructor(
    loaded: LoadedModel,
    options: ChatOptions,
    onDispose: (chat: Conversation) => void,
    restored?: ConversationState,
  ) {
    const whenFull = checkChatOptions(options)
    this.#open = {
      loaded,
      session: restored?.session ?? createSession(loaded),
      memo: new PromptMemo(),
      isPlain: options.template === false,
      whenFull,
    }
    this.#onDispose = onDispose
    const { system, messages = [] } = options
    this.#turns = [
      ...(restored?.turns ?? []),
      ...(system ? [textOnlyTurn('system', system)] : []),
      ...messages.map(turnOf),
    ]
  }

  get turns(): readonly ConversationTurn[] {
    return this.#turns.map(describeTurn)
  }

  send(message: UserMessage, options: GenerationOptions = {}): AsyncGenerator<ChatEvent, void, undefined> {
    return this.#ask(options, () => {
      checkMessage(message)
      return [...this.#turns, questionTurn(message, options)]
    })
  }

  edit(
    index: number,
    message: UserMessage,
    options: GenerationOptions = {},
  ): AsyncGenerator<ChatEvent, void, undefined> {
    return this.#ask(options, () => {
      const turn = requireQuestion(this.#turns, index)
      checkMessage(message, turn.pictures.length)
      return [...this.#turns.slice(0, index), editedTurn(turn, message, options)]
    })
  }

  regenerate(options: GenerationOptions = {}): AsyncGenerator<ChatEvent, void, undefined> {
    return this.#ask(options, () => this.#turns.slice(0, lastQuestion(this.#turns) + 1))
  }

  cutAnswer(heard: string): void {
    const { loaded } = this.#requireOpen()
    if (this.#isBusy) throw busyError()
    if (this.#turns.at(-1)?.message.role !== 'assistant') {
      throw new EngineError('option/no-answer', {
        message: 'There is no answer to be cut: the last turn is not one.',
        hint: 'Ask something first.',
      })
    }
    const kept =
      heard === ''
        ? this.#turns.slice(0, -2)
        : [...this.#turns.slice(0, -1), textOnlyTurn('assistant', heard)]
    const pictures = new Set(picturesOf(kept))
    releasePictures(
      loaded,
      picturesOf(this.#turns).filter((picture) => !pictures.has(picture)),
    )
    this.#turns = kept
  }

  /** @param list The turns that are answered, the question last. */
  async *#ask(
    options: GenerationOptions,
    list: () => readonly Turn[],
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const open = this.#requireOpen()
    const resolved = resolveGenerationOptions(options, open.loaded.text.defaults)
    const turns = list()
    this.#begin()
    try {
      const form = await findForm(open.loaded, options)
      yield* this.#answer(open, turns, resolved, form)
    } finally {
      this.#end()
    }
  }

  save(to?: undefined, options?: SnapshotOptions): Promise<Blob>
  save(to: SnapshotTarget, options?: SnapshotOptions): Promise<undefined>
  async save(to?: SnapshotTarget, options: SnapshotOptions = {}): Promise<Blob | undefined> {
    checkOptions(options, { signal: SIGNAL_RULE }, 'for saving a conversation')
    const { loaded, session, isPlain, whenFull } = this.#requireOpen()
    this.#begin()
    try {
      const { saveConversation } = await import('./snapshot/save.ts')
      const state = { turns: this.#turns, session, options: { template: !isPlain, whenFull } }
      return await saveConversation(loaded, state, to, options.signal)
    } finally {
      this.#end()
    }
  }

  #requireOpen(): OpenConversation {
    if (this.#open && !this.#isDisposed) return this.#open
    throw new EngineError('generation/disposed', {
      message: 'The conversation was closed.',
      hint: 'Begin a new one with model.chat().',
    })
  }

  #begin(): void {
    if (this.#isBusy) throw busyError()
    this.#isBusy = true
  }

  #end(): void {
    this.#isBusy = false
    if (this.#isDisposed) this.#release()
  }

  /** While an answer runs or a save, its memory is given back when that ends. */
  dispose(): void {
    if (this.#isDisposed) return
    this.#isDisposed = true
    if (!this.#isBusy) this.#release()
    this.#onDispose(this)
  }

  #release(): void {
    if (!this.#open) return
    const { loaded, session } = this.#open
    this.#open = undefined
    session.dispose()
    releasePictures(loaded, picturesOf(this.#turns))
    this.#turns = []
  }

  async *#answer(
    open: OpenConversation,
    asked: readonly Turn[],
    resolved: GenerateOptions,
    form: AnswerForm | undefined,
  ): AsyncGenerator<ChatEvent, void, undefined> {
    const { loaded, session } = open
    const { signal } = resolved
    const clock = new AnswerClock()
    const fresh: Picture[] = []
    const pending: ChatEvent[] = []
    let turns: readonly EncodedTurn[] = []
    let heard = ''
    let isKept = false
    const compose = (some: readonly EncodedTurn[]): Prompt => composeTurns(open, some, open.memo)
    const fitTurns = async (answer: readonly number[]): Promise<Prompt> => {
      const maxTokens = resolved.maxTokens - answer.length
      const fitted = await fitContext({ ...open, turns, compose, answer, maxTokens, signal })
      const { prompt, trimmed } = fitted
      if (trimmed && prompt.ids.length <= loaded.contextLength) {
        turns = fitted.turns
        pending.push(trimmed)
      }
      return prompt
    }
    const keep = (answer: string): void => {
      isKept = true
      const kept = [...turns, textOnlyTurn('assistant', answer)]
      const pictures = new Set(picturesOf(kept))
      const gone = [...picturesOf(this.#turns), ...fresh].filter((picture) => !pictures.has(picture))
      this.#turns = kept
      releasePictures(loaded, gone)
    }
    try {
      let prompt: Prompt
      try {
        turns = yield* encodeTurns(loaded, session.line, asked, signal, fresh)
        clock.picturesDone()
        prompt = requireContext(loaded, await fitTurns([]))
      } catch (error) {
        if (!isAbortError(error)) throw error
        const usage = { promptTokens: 0, imageTokens: 0, cachedTokens: 0 }
        yield clock.finish('', [], 'aborted', usage, reportsOf(fresh))
        return
      }
      const { tokenizer, stopTokens } = loaded.text
      const events = streamAnswer({
        session,
        tokenizer,
        prompt,
        stopTokens,
        contextLength: loaded.contextLength,
        isContinuation: open.isPlain,
        makeRoom: async (answer) => {
          const shorter = await fitTurns(answer)
          return shorter.ids.length <= loaded.contextLength ? shorter : undefined
        },
        options: resolved,
        form,
        clock,
        images: reportsOf(fresh),
        pending,
      })
      for await (const event of events) {
        if (event.type === 'text-delta') heard += event.text
        if (event.type === 'answer-finished' && event.tokenIds.length > 0) keep(event.text)
        yield event
      }
    } finally {
      // Whoever stopped listening in the middle of an answer has heard its beginning.
      if (!isKept && heard !== '') keep(heard)
      if (!isKept) releasePictures(loaded, fresh)
    }
  }
}

interface OpenConversation {
  readonly loaded: LoadedModel
  readonly session: TokenSession
  readonly memo: PromptMemo
  /** Texts are continued as they are. */
  readonly isPlain: boolean
  readonly whenFull: WhenFull
}

function busyError(): EngineError {
  return new EngineError('generation/busy', {
    message: 'The conversation is still answering, or being saved.',
    hint: 'Wait for the end or abort it; use another conversation to ask at the same time.',
  })
}

function reportsOf(pictures: readonly Picture[]): ImageReport[] {
  return pictures.map(({ report }) => report)
}
